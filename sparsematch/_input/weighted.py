"""A matrix of any library as a pattern with the magnitudes of its entries."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.compressed import check_values
from sparsematch._input.duplicates import add_up, has_duplicates
from sparsematch._input.matrix import as_compressed
from sparsematch._types.arrays import FloatArray
from sparsematch._types.bipartite import BipartiteCSR, keep_entries
from sparsematch._types.pieces import in_pieces
from sparsematch._types.weighted import WeightedCSR


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
    check_values(data, graph.nnz, name)
    if has_duplicates(graph, threads):
        wide = data.dtype.kind in "biu" or data.dtype.itemsize < 4
        graph, data = add_up(graph, data, np.float64 if wide else data.dtype)
    magnitude, least, largest = _magnitude(data[: graph.nnz], threads)
    if magnitude.size:
        if not np.isfinite(largest):
            _refuse_value(graph, data, magnitude, name)
        if least == 0:
            keep = magnitude != 0
            graph, magnitude = keep_entries(graph, keep), magnitude[keep]
    return WeightedCSR(graph, magnitude)


def _magnitude(data: NDArray[Any], threads: int) -> tuple[FloatArray, float, float]:
    """Return the absolute values, the least, and the largest: NaN if one of them is."""
    magnitude = np.empty(data.size)

    def write(begin: int, end: int) -> tuple[float, float]:
        piece, out = data[begin:end], magnitude[begin:end]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if data.dtype.kind in "biu":
                piece = piece.astype(out.dtype)  # the smallest integer has no counterpart
            if piece.dtype == out.dtype:
                np.abs(piece, out=out)
            else:
                out[:] = np.abs(piece)
        return (out.min(), out.max()) if out.size else (np.inf, 0.0)

    least, largest = zip(*in_pieces(write, data.size, threads), strict=True)
    return magnitude, float(np.min(least)), float(np.max(largest))


def _refuse_value(
    graph: BipartiteCSR, data: NDArray[Any], magnitude: FloatArray, name: str
) -> None:
    p = int(np.flatnonzero(~np.isfinite(magnitude))[0])
    major = int(np.searchsorted(graph.indptr, p, side="right")) - 1
    i, j = graph.orient(major, int(graph.indices[p]))
    why = "is not finite" if not np.isfinite(data[p]) else "is too large for a double"
    raise ValueError(f"{name}[{i}, {j}] is {data[p]}, which {why}; weights must be finite")
