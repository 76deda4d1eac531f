"""A matrix of any library as a pattern with the magnitudes of its entries."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.matrix import as_compressed
from sparsematch._types.arrays import FloatArray
from sparsematch._types.bipartite import BipartiteCSR, keep_entries, with_arrays
from sparsematch._types.pieces import in_pieces
from sparsematch._types.weighted import WeightedCSR

#: Entries that SciPy sorts and adds up in one call: some 50 ms, in which Ctrl-C has to wait.
_ADDED_AT_ONCE = 1 << 19


def as_weighted(A: Any, *, name: str = "A", threads: int = 1) -> WeightedCSR:
    """View a sparse matrix as a bipartite graph with the magnitudes of its entries as weights.

    Entries in the same place are added up, as SciPy does; what is zero then is no entry. The arrays
    are those of `A` where nothing had to be left out. Raises TypeError if `A` is no sparse matrix
    of numbers; ValueError if its index arrays are inconsistent, or the magnitude of an entry is not
    a finite double, naming the first.
    """
    A = as_compressed(A, name)
    graph = as_bipartite(A, name=name, threads=threads)
    data = np.asarray(A.data)
    if data.dtype.kind not in "biufc":
        raise TypeError(f"{name}.data must hold numbers, not {data.dtype}")
    if data.ndim != 1 or data.size < graph.nnz:
        raise ValueError(f"{name}.data has shape {data.shape}, but there are {graph.nnz} entries")
    magnitude, ascending, least, largest = _magnitude(graph, data, threads)
    if not ascending:
        graph, data = _add_up(graph, data)
        return with_values(graph, data, name=name, threads=threads)
    return _weighted(graph, data, magnitude, (least, largest), name)


def with_values(
    graph: BipartiteCSR, data: NDArray[Any], *, name: str = "A", threads: int = 1
) -> WeightedCSR:
    """Return a pattern without repeated entries with the magnitudes of numbers, one for each."""
    magnitude, _, least, largest = _magnitude(graph, data, threads)
    return _weighted(graph, data, magnitude, (least, largest), name)


def _weighted(
    graph: BipartiteCSR,
    data: NDArray[Any],
    magnitude: FloatArray,
    bounds: tuple[float, float],
    name: str,
) -> WeightedCSR:
    """Refuse what is not finite, leave out zeros."""
    least, largest = bounds
    if not largest < np.inf:
        _refuse_value(graph, data, magnitude, name)
    if least == 0:
        keep = magnitude != 0
        graph, magnitude = keep_entries(graph, keep), magnitude[keep]
    return WeightedCSR(graph, magnitude, largest)


def _magnitude(
    graph: BipartiteCSR, data: NDArray[Any], threads: int
) -> tuple[FloatArray, bool, float, float]:
    """Return the absolute values, whether no entry is repeated, the least, and the largest.

    The largest is NaN if one is not finite.
    """
    magnitude = np.empty(graph.nnz)
    values = np.ascontiguousarray(data[: graph.nnz])
    if values.dtype != magnitude.dtype or not values.dtype.isnative:
        _write_magnitudes(values, magnitude, threads)
        values = magnitude
    read = operations(WeightedOps, graph.backend).read_magnitudes
    return magnitude, *read(graph, values, magnitude, threads)


def _write_magnitudes(data: NDArray[Any], magnitude: FloatArray, threads: int) -> None:
    """Write the absolute values of numbers of any type."""

    def write(begin: int, end: int) -> None:
        piece = data[begin:end]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if data.dtype.kind in "biu":
                piece = piece.astype(magnitude.dtype)  # the smallest integer has no counterpart
            magnitude[begin:end] = np.abs(piece)

    in_pieces(write, data.size, threads)


def _add_up(graph: BipartiteCSR, data: NDArray[Any]) -> tuple[BipartiteCSR, NDArray[Any]]:
    """Sort the entries of each row, and add up those in the same place."""
    wide = data.dtype.kind in "biu" or data.dtype.itemsize < 4
    dtype = np.float64 if wide else data.dtype
    cuts = np.arange(_ADDED_AT_ONCE, graph.nnz, _ADDED_AT_ONCE)
    ends = np.unique([*np.searchsorted(graph.indptr[:-1], cuts), graph.n_major])
    indices, sums = graph.indices[: graph.nnz].copy(), data[: graph.nnz].astype(dtype)
    starts = np.zeros(graph.n_major + 1, graph.dtype)
    for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        begin, end = graph.indptr[first], graph.indptr[last]
        arrays = sums[begin:end], indices[begin:end]  # which SciPy overwrites
        indptr = graph.indptr[first : last + 1] - begin
        A = sp.csr_array((*arrays, indptr), shape=(last - first, graph.n_minor))
        A.sum_duplicates()
        starts[first + 1 : last + 1] = starts[first] + A.indptr[1:]
        indices[starts[first] : starts[last]] = A.indices
        sums[starts[first] : starts[last]] = A.data
    return with_arrays(graph, starts, indices[: starts[-1]]), sums[: starts[-1]]


def _refuse_value(
    graph: BipartiteCSR, data: NDArray[Any], magnitude: FloatArray, name: str
) -> None:
    p = int(np.flatnonzero(~np.isfinite(magnitude))[0])
    major = int(np.searchsorted(graph.indptr, p, side="right")) - 1
    i, j = graph.orient(major, int(graph.indices[p]))
    why = "is not finite" if not np.isfinite(data[p]) else "is too large for a double"
    raise ValueError(f"{name}[{i}, {j}] is {data[p]}, which {why}; weights must be finite")
