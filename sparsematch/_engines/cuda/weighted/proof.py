"""How far from an optimum a matching on the device can be, as duals prove."""

from sparsematch._base.arrays import FloatArray, namespace
from sparsematch._engines.edges import pairs_among
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.weighted import LeastCost


def gap(graph: BipartiteCSR, cost: FloatArray, found: LeastCost) -> float:
    """Return by how much a matching may cost more than the best, in units of its duals.

    No entry may cost less than its duals. By how much its pairs do, and by how much free vertices
    are below the largest dual of their side. Time: O(n_rows + n_cols + nnz).
    """
    mates = graph.orient(found.matching.row_mate, found.matching.col_mate)
    duals = graph.orient(found.row_dual, found.col_dual)
    pairs = namespace(cost).flatnonzero(mates[0] >= 0)
    matched = cost[pairs_among(graph, found.matching)]
    worse = matched - duals[0][pairs] - duals[1][mates[0][pairs]]
    total = float(worse.sum()) if pairs.size else 0.0
    for dual, mate in zip(duals, mates, strict=True):
        free = dual[mate < 0]
        if free.size:
            total += float((dual.max() - free).sum())
    return max(total, 0.0)
