"""The columns of a square matrix with the largest product on the diagonal, for a factorisation."""

import numpy as np

from sparsematch._base.arrays import Array, FloatArray, FloatPair, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.weighted_proof import warn_of_cut_factors


def product_diagonal(
    graph: BipartiteCSR, magnitude: FloatArray
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Return the row matched to each column, or -1, and the factors of rows and columns.

    The matrix is given by columns, magnitudes are positive and finite. Time: that of `least_cost`.
    """
    n, none = graph.n_cols, np.empty(0)
    row_of, col_of = np.empty(n, graph.dtype), np.empty(n, graph.dtype)
    duals, scales = (np.empty(n), np.empty(n)), (np.empty(n), np.empty(n))
    in_range = np.ones(1, bool)
    numbers, start = (np.empty(1), in_range), (np.empty(0, graph.dtype), none)
    pattern, mates, values = csr(graph), (row_of, col_of), (magnitude, np.empty(0, np.int64))
    stored = scales[1], scales[0]  # columns are the stored rows
    arrays, flags = (values, mates, duals, stored, numbers, start), (True, False, False)
    _core.product_batch(pattern, *arrays, flags, 1)
    if not in_range[0]:
        warn_of_cut_factors()
    return row_of, *scales


def scale_columns(
    graph: BipartiteCSR, values: Array, row_of: IndexArray, scales: FloatPair
) -> tuple[IndexArray, Array, Array]:
    """Return rows and values, entry by entry as given, and the sums of the rows.

    Row ``row_of[j]`` becomes row j. The matrix is given by columns. Time: O(n + nnz).
    """
    place = np.empty_like(row_of)
    place[row_of] = np.arange(row_of.size)
    rows, row_scale = place.take(graph.indices), scales[0].take(graph.indices)
    col_scale = np.repeat(scales[1], np.diff(graph.indptr))
    with np.errstate(all="ignore"):
        scaled = values * row_scale
        scaled *= col_scale
        size = np.abs(scaled)
        # at most 1 in magnitude, though two of the three may be beyond the range of doubles
        if not (size.min(initial=1) > 0 and size.max(initial=1) <= 2):
            other = values * col_scale * row_scale
            kept, fit = ((size > 0) & (size <= 2) for size in (size, np.abs(other)))
            scaled = np.where(kept, scaled, values * (row_scale * col_scale))
            np.copyto(scaled, other, where=fit & ~kept)
    sums = np.empty(row_of.size, values.dtype)
    sums.real = np.bincount(rows, scaled.real, row_of.size)
    if sums.dtype.kind == "c":
        sums.imag = np.bincount(rows, scaled.imag, row_of.size)
    return rows, scaled, sums
