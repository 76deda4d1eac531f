"""The proof that a weighted transversal is optimal, by its duals alone."""

from collections.abc import Callable

import numpy as np

from sparsematch._engines.cpu.weighted.transversals import matched_entries
from sparsematch._types.arrays import FloatArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.pieces import in_pieces
from sparsematch._types.weighted import WeightedCSR, WeightedTransversal


def is_optimal(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None, workers: int
) -> bool:
    """Tell whether the duals prove a maximum matching of the graph optimal.

    And whether its objective and its factors are those of its pairs and duals. Time: O(n_rows +
    n_cols + nnz).
    """
    if not (_has_its_objective(weighted, transversal) and _has_its_factors(transversal)):
        return False
    if transversal.job == "bottleneck":
        return _is_bottleneck(weighted, transversal)
    return _is_least_cost(weighted, transversal, tolerance, workers)


def _has_its_objective(weighted: WeightedCSR, transversal: WeightedTransversal) -> bool:
    """Tell whether the objective is that of the pairs, up to the rounding of their sum."""
    if transversal.job == "bottleneck":
        return True  # exactly, below
    matched = weighted.magnitude[matched_entries(weighted.graph, transversal.matching)]
    values = np.log(matched) if transversal.job == "product" else matched
    with np.errstate(over="ignore"):
        total, size = float(values.sum()), float(np.abs(values).sum())
    if not np.isfinite(total):
        return transversal.objective == total
    return abs(transversal.objective - total) <= 2.0**-40 * size


def _has_its_factors(transversal: WeightedTransversal) -> bool:
    """Tell whether factors are the exponentials of the duals, or the doubles next to them.

    The rows' are corrected by the rounding of the pairs' duals.
    """
    if transversal.job != "product":
        return True
    sides = (
        (transversal.row_dual, transversal.row_scale),
        (transversal.col_dual, transversal.col_scale),
    )
    limits = np.log(np.finfo(np.float64).tiny), np.log(np.finfo(np.float64).max)
    largest = max(np.abs(dual).max(initial=1.0) for dual, _ in sides)
    for dual, scale in sides:
        if scale is None:
            continue
        with np.errstate(all="ignore"):
            away = np.abs(np.log(scale) - np.clip(dual, *limits))
        if not away.max(initial=0.0) <= 2.0**-36 * largest:
            return False  # NaN too
    return True


def _is_bottleneck(weighted: WeightedCSR, transversal: WeightedTransversal) -> bool:
    """Tell whether vertices with duals cover all larger entries, and are fewer than the pairs."""
    u, v, magnitude = transversal.row_dual, transversal.col_dual, weighted.magnitude
    covered = _dual_sums(weighted.graph, u, v)(0, magnitude.size) >= 1
    matched = magnitude[matched_entries(weighted.graph, transversal.matching)]
    fewer = u.sum() + v.sum() < transversal.cardinality or transversal.cardinality == 0
    signs = u.min(initial=0) >= 0 and v.min(initial=0) >= 0
    larger = magnitude > transversal.objective
    exact = matched.min(initial=np.inf) == transversal.objective
    return bool(exact and fewer and signs and covered[larger].all())


def _is_least_cost(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None, workers: int
) -> bool:
    """Tell whether entries cost at least their duals, pairs no more, and free vertices are last."""
    matching, magnitude, unit = transversal.matching, weighted.magnitude, transversal.dual_unit
    duals = transversal.row_dual, transversal.col_dual
    largest = max(np.abs(side).max(initial=0.0) for side in (*duals, magnitude))
    if not (1 <= unit < np.inf and largest < np.inf):
        return False  # NaN too
    scale = 0.125 if largest > 2.0**1020 else 1.0  # a cost less two duals is finite
    u, v = (side * scale for side in duals)
    slack, sums = np.empty_like(magnitude), _dual_sums(weighted.graph, u, v)

    def write(begin: int, end: int) -> tuple[float, float]:
        piece = slack[begin:end]
        if transversal.job == "product":
            np.log(magnitude[begin:end], out=piece)
            piece *= -scale / unit
        else:
            np.multiply(magnitude[begin:end], -scale / unit, out=piece)
        largest = float(np.abs(piece).max(initial=0))
        np.subtract(piece, sums(begin, end), out=piece)
        return largest, float(piece.min(initial=0))

    costs, least = zip(*in_pieces(write, slack.size, workers), strict=True)
    if tolerance is None:
        tolerance = 2.0**-40 * max(*costs, *(np.abs(side).max(initial=0) for side in (u, v)))
    else:
        tolerance *= scale / unit
    tight = slack[matched_entries(weighted.graph, matching, workers)]
    if min(least) < -tolerance or tight.max(initial=0) > tolerance:
        return False
    free_rows, free_cols = matching.row_mate < 0, matching.col_mate < 0
    return all(
        side.max(initial=-np.inf) <= side[free].min(initial=np.inf) + tolerance
        for side, free in ((u, free_rows), (v, free_cols))
    )


def _dual_sums(
    graph: BipartiteCSR, row_dual: FloatArray, col_dual: FloatArray
) -> Callable[[int, int], FloatArray]:
    """Return a function of a range of entries: the sums of the duals of their rows and columns."""
    stored_rows, stored_cols = graph.orient(row_dual, col_dual)

    def sums(begin: int, end: int) -> FloatArray:
        first = max(int(np.searchsorted(graph.indptr, begin, side="right")) - 1, 0)
        last = int(np.searchsorted(graph.indptr, end, side="left"))
        starts = np.clip(graph.indptr[first : last + 1], begin, end)
        found: FloatArray = np.repeat(stored_rows[first:last], starts[1:] - starts[:-1])
        found += stored_cols[graph.indices[begin:end]]
        return found

    return sums
