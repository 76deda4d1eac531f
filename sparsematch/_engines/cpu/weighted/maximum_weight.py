"""Matchings of greatest or least weight that may leave rows and columns unmatched, at a cost.

The cost of an unmatched column is taken off its entries (what is common to all columns is added to
rows instead), and every row gets a column of its own, which costs what the row does if unmatched:
then a least-cost assignment of all rows, in a graph with one entry more for each row, is the
answer. (Rows here are what is stored, columns if the matrix is.) Entries that cost no less than
their ends do if unmatched are left out. At maximum cardinality the costs of rows are taken off as
well, and nothing is added.
Invariant, for costs c, r and q of unmatched rows and columns: duals u and v keep u_i + v_j at most
c_ij, u_i at most r_i, v_j at most q_j, with equality for pairs and what is unmatched.
"""

import numpy as np

from sparsematch._base.arrays import UNMATCHED, FloatArray
from sparsematch._engines.cpu.weighted.least_cost import are_whole, least_cost, round_duals
from sparsematch._engines.edges import by_entry, pairs_among
from sparsematch._types.bipartite import BipartiteCSR, keep_entries
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import LeastCost, SignedCSR, Start, WeightedMatching
from sparsematch._types.weighted_proof import largest_of, objectives

#: Costs above it are scaled down, so that the difference of three is finite.
_LARGE = 2.0**1020

_Sides = tuple[FloatArray, FloatArray]


def maximum_weight(
    signed: SignedCSR,
    unmatched: _Sides,
    maximize: bool,
    maximum_cardinality: bool,
    workers: int,
    start: Start | None = None,
) -> WeightedMatching:
    """Return the matching, given what each row and column costs if unmatched.

    `start`, of which duals are those of the weights, is used at maximum cardinality only: elsewhere
    columns outnumber rows. Time: that of `least_cost`.
    """
    graph, weight = signed.graph, signed.weight
    scale = 0.125 if max(signed.largest, *map(largest_of, unmatched)) > _LARGE else 1.0
    sign = -scale if maximize else scale
    cost = weight * sign
    costs = (unmatched[0] * scale, unmatched[1] * scale) if scale < 1 else unmatched
    if maximum_cardinality:
        if start is not None:
            start = Start(start.matching, start.row_dual * sign, start.col_dual * sign)
        found = _at_maximum_cardinality(graph, cost, costs, workers, start)
    else:
        found = _at_any_cardinality(graph, cost, costs, workers)
    matching, row_dual, col_dual, unit = found
    if unit == 1 and all(map(are_whole, (cost, *costs))):
        row_dual, col_dual = round_duals(row_dual, col_dual)
    if maximize:
        row_dual, col_dual = 0.0 - row_dual, 0.0 - col_dual  # no negative zeros
    sides = zip(unmatched, (matching.row_mate, matching.col_mate), strict=True)
    left = [side[mate < 0] for side, mate in sides]
    matched = weight[pairs_among(graph, matching)]
    total, objective = objectives(matched, left, maximize)
    return WeightedMatching(
        matching,
        total,
        objective,
        row_dual,
        col_dual,
        *unmatched,
        maximize,
        maximum_cardinality,
        unit / scale,
    ).freeze()


def _at_maximum_cardinality(
    graph: BipartiteCSR, cost: FloatArray, unmatched: _Sides, workers: int, start: Start | None
) -> LeastCost:
    """As many are unmatched in any case, so that only differences of their costs count."""
    rows, cols = (side - side.max(initial=-np.inf) for side in unmatched)
    major, minor = graph.orient(rows, cols)
    if major.any():
        cost = cost - by_entry(graph, major)
    if start is not None:
        start = Start(start.matching, start.row_dual - rows, start.col_dual - cols)
    found = least_cost(graph, _without(minor, graph, cost), workers, start=start)
    row_dual, col_dual = found.row_dual + rows / found.unit, found.col_dual + cols / found.unit
    return LeastCost(found.matching, row_dual, col_dual, found.unit)


def _at_any_cardinality(
    graph: BipartiteCSR, cost: FloatArray, unmatched: _Sides, workers: int
) -> LeastCost:
    major_cost, minor_cost = graph.orient(*unmatched)
    # What all columns have in common is added to the rows instead, which spares entries roundings.
    common = minor_cost.max(initial=-np.inf)
    own_cost, reduced = major_cost + common, _without(minor_cost - common, graph, cost)
    keep = reduced < by_entry(graph, own_cost)
    if not keep.any():
        return LeastCost(Matching.start(graph), unmatched[0].copy(), unmatched[1].copy(), 1.0)
    extended, costs = _with_own_columns(keep_entries(graph, keep), reduced[keep], own_cost)
    found = least_cost(extended, costs, workers)
    unit = found.unit
    # Free columns have the largest dual, which becomes that of their cost; own columns are of no
    # further use.
    top = found.col_dual.max()
    minor = found.col_dual[: graph.n_minor] - top + minor_cost / unit
    major = found.row_dual + (top - common / unit)
    own = found.matching.row_mate >= graph.n_minor
    major = np.where(own, major_cost / unit, np.minimum(major, major_cost / unit))
    mates = np.where(own, UNMATCHED, found.matching.row_mate), found.matching.col_mate[: minor.size]
    matching = Matching(*graph.orient(*(side.astype(graph.dtype) for side in mates)))
    return LeastCost(matching, *graph.orient(major, minor), unit)


def _without(minor: FloatArray, graph: BipartiteCSR, cost: FloatArray) -> FloatArray:
    """Take the values of stored columns off the costs of their entries."""
    return cost - minor[graph.indices[: graph.nnz]] if minor.any() else cost


def _with_own_columns(
    graph: BipartiteCSR, cost: FloatArray, own_cost: FloatArray
) -> tuple[BipartiteCSR, FloatArray]:
    """Return the stored rows as rows of a pattern, with one entry more in each, and the costs."""
    n, size, width = graph.n_major, graph.nnz + graph.n_major, graph.n_major + graph.n_minor
    large = max(size, width) > np.iinfo(graph.dtype).max
    dtype = np.dtype(np.int64) if large else graph.dtype
    indptr = graph.indptr + np.arange(n + 1, dtype=dtype)
    own = indptr[1:] - 1
    given = np.ones(size, bool)
    given[own] = False
    indices, costs = np.empty(size, dtype), np.empty(size)
    indices[given], indices[own] = graph.indices, np.arange(graph.n_minor, width)
    costs[given], costs[own] = cost, own_cost
    return BipartiteCSR(n, width, indptr, indices), costs
