"""A matrix of any library as a pattern with the magnitudes or the real values of its entries."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, FloatArray, advising, on_gpu
from sparsematch._base.pieces import in_pieces
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.bipartite import read_entries
from sparsematch._input.duplicates import add_up, add_up_on_gpu, has_duplicates, type_of_sums
from sparsematch._input.pattern import mirrored
from sparsematch._types.bipartite import BipartiteCSR, entry_place, keep_entries
from sparsematch._types.weighted import SignedCSR, WeightedCSR

_DOUBLE = np.dtype(np.float64)


def as_weighted(A: Any, threads: int = 1) -> WeightedCSR:
    """View a sparse matrix as a bipartite graph with its entries, whose magnitudes are weights."""
    # Entries in the same place are added up, as SciPy does; what is zero then is no entry. The
    # arrays are those of `A` where nothing had to be left out. What is on a GPU stays there.
    entries = read_entries(A, threads=threads, valued=True)
    graph, data = entries.graph, entries.values
    if graph.backend == "cupy":
        return _on_gpu(graph, data)
    values, ascending, least, largest = _doubles(graph, data, threads)
    if not ascending:
        del values  # perhaps as large as the copies that are made now
        graph, data = add_up(graph, data, type_of_sums(data.dtype))
        return with_values(graph, data, threads=threads)
    return _weighted(graph, data, values, (least, largest))


def with_values(graph: BipartiteCSR, data: Array, *, threads: int = 1) -> WeightedCSR:
    """Return a pattern without repeated entries with numbers, one for each."""
    values, _, least, largest = _doubles(graph, data, threads)
    return _weighted(graph, data, values, (least, largest))


def _weighted(
    graph: BipartiteCSR, data: Array, values: FloatArray, bounds: tuple[float, float]
) -> WeightedCSR:
    """Refuse what is not finite, leave out zeros."""
    least, largest = bounds
    if not largest < np.inf:
        refuse_value(graph, data, values, "A")
    if least == 0:
        keep = values != 0
        graph, values = keep_entries(graph, keep), values[keep]
    return WeightedCSR(graph, values, largest)


@advising
def _on_gpu(graph: BipartiteCSR, data: Any) -> WeightedCSR:
    """View a matrix on a GPU; waits for the device."""
    if has_duplicates(graph):
        graph, data = add_up_on_gpu(graph, data.astype(np.float64) if data.dtype == bool else data)
    magnitude = abs(data).astype(np.float64, copy=False)
    bounds = (float(magnitude.min()), float(magnitude.max())) if magnitude.size else (1.0, 0.0)
    return _weighted(graph, data, magnitude, bounds)


def _doubles(
    graph: BipartiteCSR, data: Array, threads: int, signed: bool = False
) -> tuple[FloatArray, bool, float, float]:
    """Return doubles of these magnitudes, whether no entry is repeated, the least, the largest."""
    # The numbers themselves if doubles, or `signed`. The largest is NaN if one is not finite.
    if signed or data.dtype == _DOUBLE:
        with np.errstate(over="ignore"):
            values = np.ascontiguousarray(data, np.float64)
    else:
        values = np.empty(graph.nnz)

        def write(begin: int, end: int) -> None:
            piece = data[begin:end]
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                if data.dtype.kind in "biu":
                    piece = piece.astype(_DOUBLE)  # the smallest integer has no counterpart
                values[begin:end] = np.abs(piece)

        in_pieces(write, data.size, threads)
    return values, *operations(WeightedOps, graph.backend).read_values(graph, values, threads)


def as_signed(
    A: Any, threads: int = 1, *, name: str = "A", must_be_finite: bool = True
) -> SignedCSR:
    """View a sparse matrix as a bipartite graph with its values, of either sign, as weights."""
    # As `as_weighted`, but zeros are entries, and complex numbers a TypeError.
    entries = read_entries(A, name=name, threads=threads, valued=True, in_host=True)
    graph, data = entries.graph, entries.values
    if data.dtype.kind == "c":
        raise TypeError(f"{name} must hold real numbers, not {data.dtype}")
    weight, ascending, _, largest = _doubles(graph, data, threads, True)
    if not ascending:
        graph, data = add_up(graph, data, type_of_sums(data.dtype))
        weight, _, _, largest = _doubles(graph, data, threads, True)
    if must_be_finite and not largest < np.inf:
        refuse_value(graph, data, weight, name)
    return SignedCSR(graph, weight, largest)


def as_symmetric(A: Any, triangle: str | None, *, threads: int = 1) -> WeightedCSR:
    """View a square matrix, or one triangle and its mirror image, by sorted rows."""
    # CSC is CSR of the transpose, of equal magnitudes. Whether triangles agree is not checked.
    weighted = as_weighted(A, threads=threads)
    graph, n = weighted.graph, weighted.graph.n_rows
    if graph.shape != (n, n):
        raise ValueError(f"A must be square, but its shape is {graph.shape}")
    if graph.backend != "numpy":
        return weighted
    arrays = graph.indptr, graph.indices[: graph.nnz], weighted.magnitude
    S = compressed_matrix("csr", (n, n), *arrays)
    if triangle is not None:
        S = mirrored(S, (triangle == "lower") != graph.flipped).tocsr()
    if not S.has_sorted_indices:
        S = S.sorted_indices()
    indptr, indices = (index.astype(graph.dtype, copy=False) for index in (S.indptr, S.indices))
    return WeightedCSR(BipartiteCSR(n, n, indptr, indices), S.data, float(S.data.max(initial=0)))


def refuse_value(graph: Any, data: Any, magnitude: Any, name: str, why: str = "") -> None:
    """Raise ValueError, naming the first entry whose magnitude is not finite; there must be one."""
    if on_gpu(magnitude):
        arrays = graph.indptr.get(), graph.indices.get()
        graph = BipartiteCSR(graph.n_rows, graph.n_cols, *arrays, "numpy", graph.flipped)
        data, magnitude = data.get(), magnitude.get()
    p = int(np.flatnonzero(~np.isfinite(magnitude))[0])
    i, j = entry_place(graph, p)
    known = "is not finite" if not np.isfinite(data[p]) else "is too large for a double"
    why = why or f"which {known}; weights must be finite"
    raise ValueError(f"{name}[{i}, {j}] is {data[p]}, {why}")
