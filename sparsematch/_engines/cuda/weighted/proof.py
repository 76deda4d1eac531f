"""What duals prove, on the device: an optimum, or how far from it a matching can be."""

from typing import Any

from sparsematch._base.arrays import FloatArray, namespace
from sparsematch._engines.edges import places
from sparsematch._engines.operations import host_only
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import LeastCost, WeightedCSR, WeightedTransversal
from sparsematch._types.weighted_proof import is_least_cost, largest_of


def is_optimal(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None, _: int
) -> bool:
    """Tell whether the duals prove a maximum matching of the graph optimal.

    Entries cost at least their duals, pairs no more, and free vertices have the largest. And
    whether its objective and its factors are those of its pairs and duals. Time: O(n_rows + n_cols
    + nnz).
    """
    if transversal.job == "bottleneck":
        host_only()
    graph, magnitude = weighted.graph, weighted.magnitude
    pairs = matched_entries(graph, transversal.matching)

    def slack(factor: float, u: FloatArray, v: FloatArray) -> tuple[float, float, float]:
        logs = transversal.job == "product"
        cost = (namespace(magnitude).log(magnitude) if logs else magnitude) * factor
        (major, minor), (rows, cols) = graph.orient(u, v), places(graph)
        left = cost - minor[cols] - major[rows]
        ends = (float(left.min()), float(left[pairs].max())) if pairs.size else (0.0, 0.0)
        return largest_of(cost), *ends

    return is_least_cost(weighted, transversal, magnitude[pairs], slack, tolerance)


def matched_entries(graph: BipartiteCSR, matching: Matching) -> Any:
    """Return where the pairs are among the entries, by ascending stored row.

    Workspace: 16 bytes for each entry. Time: O(nnz log(n_major)).
    """
    mate = graph.orient(matching.row_mate, matching.col_mate)[0]
    rows, cols = places(graph)
    return namespace(mate).flatnonzero(mate[rows] == cols)


def gap(graph: BipartiteCSR, cost: FloatArray, found: LeastCost) -> float:
    """Return by how much a matching may cost more than the best, in units of its duals.

    No entry may cost less than its duals. By how much its pairs do, and by how much free vertices
    are below the largest dual of their side. Time: O(n_rows + n_cols + nnz).
    """
    mates = graph.orient(found.matching.row_mate, found.matching.col_mate)
    duals = graph.orient(found.row_dual, found.col_dual)
    pairs = namespace(cost).flatnonzero(mates[0] >= 0)
    matched = cost[matched_entries(graph, found.matching)]
    worse = matched - duals[0][pairs] - duals[1][mates[0][pairs]]
    total = float(worse.sum()) if pairs.size else 0.0
    for dual, mate in zip(duals, mates, strict=True):
        free = dual[mate < 0]
        if free.size:
            total += float((dual.max() - free).sum())
    return max(total, 0.0)
