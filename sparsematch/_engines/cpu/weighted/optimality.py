"""The proof that a weighted transversal is optimal, by its duals alone."""

import numpy as np

from sparsematch._engines.cpu.weighted.transversals import matched_entries
from sparsematch._types.arrays import FloatArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.weighted import WeightedCSR, WeightedTransversal


def is_optimal(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None
) -> bool:
    """Tell whether the duals prove a maximum matching of the graph optimal.

    Time: O(n_rows + n_cols + nnz).
    """
    if transversal.job == "bottleneck":
        return _is_bottleneck(weighted, transversal)
    return _is_least_cost(weighted, transversal, tolerance)


def _is_bottleneck(weighted: WeightedCSR, transversal: WeightedTransversal) -> bool:
    """Tell whether vertices with duals cover all larger entries, and are fewer than the pairs."""
    u, v, magnitude = transversal.row_dual, transversal.col_dual, weighted.magnitude
    covered = _dual_sums(weighted.graph, u, v) >= 1
    matched = magnitude[matched_entries(weighted.graph, transversal.matching)]
    fewer = u.sum() + v.sum() < transversal.cardinality or transversal.cardinality == 0
    signs = u.min(initial=0) >= 0 and v.min(initial=0) >= 0
    larger = magnitude > transversal.objective
    exact = matched.min(initial=np.inf) == transversal.objective
    return bool(exact and fewer and signs and covered[larger].all())


def _is_least_cost(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None
) -> bool:
    """Tell whether entries cost at least their duals, pairs no more, and free vertices are last."""
    u, v, matching = transversal.row_dual, transversal.col_dual, transversal.matching
    magnitude = weighted.magnitude
    cost = -np.log(magnitude) if transversal.job == "product" else -magnitude
    if tolerance is None:
        tolerance = 2.0**-40 * max(np.abs(side).max(initial=0) for side in (u, v, cost))
    slack = cost - _dual_sums(weighted.graph, u, v)
    tight = slack[matched_entries(weighted.graph, matching)]
    if slack.min(initial=0) < -tolerance or tight.max(initial=0) > tolerance:
        return False
    free_rows, free_cols = matching.row_mate < 0, matching.col_mate < 0
    return all(
        side.max(initial=-np.inf) <= side[free].min(initial=np.inf) + tolerance
        for side, free in ((u, free_rows), (v, free_cols))
    )


def _dual_sums(graph: BipartiteCSR, row_dual: FloatArray, col_dual: FloatArray) -> FloatArray:
    """Return, for each entry, the sum of the duals of its row and column."""
    major, minor = graph.orient(row_dual, col_dual)
    return np.repeat(major, np.diff(graph.indptr)) + minor[graph.indices[: graph.nnz]]
