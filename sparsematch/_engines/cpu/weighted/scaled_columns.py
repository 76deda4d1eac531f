"""The columns of a square matrix with the largest product on the diagonal, for a factorisation."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, FloatArray, FloatPair, IndexArray
from sparsematch._engines.cpu.weighted.product_batch import write_products
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.transversal_batch import TransversalBatch


def product_diagonal(
    graph: BipartiteCSR, magnitude: FloatArray
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Return the row matched to each column, or -1, and the factors of rows and columns.

    The matrix is given by columns, magnitudes are positive and finite. Time: that of `least_cost`.
    """
    batch = TransversalBatch.empty(graph, 1, scaling=True)
    write_products(graph, magnitude[np.newaxis], None, batch, 0, None, False, 1)
    best: Any = batch[0]
    return best.matching.col_mate, best.row_scale, best.col_scale


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
