"""Matchings of greatest or least weight that may leave rows and columns unmatched, at a cost.

The cost of an unmatched column is taken off its entries (what is common to all columns is added to
rows instead), and every row gets a column of its own, which costs what the row does if unmatched:
then a least-cost assignment of all rows, in a graph with one entry more for each row, is the
answer. (Rows here are what is stored, columns if the matrix is.) Entries that cost no less than
their ends do if unmatched are left out. At maximum cardinality the costs of rows are taken off as
well, and nothing is added. Where columns have capacities, one more column for all rows will do: for
as many as it takes, or at maximum cardinality as have to stay unmatched.
Invariant, for costs c, r and q of unmatched rows and columns: duals u and v keep u_i + v_j at most
c_ij, u_i at most r_i, v_j at most q_j, with equality for pairs and what is unmatched.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import UNMATCHED, FloatArray, FloatPair, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, workers_of
from sparsematch._engines.cpu.weighted.least_cost import are_whole, least_cost, round_duals
from sparsematch._engines.edges import by_entry, pairs_among
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR, keep_entries, with_arrays
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import LeastCost, SignedCSR, Start, WeightedMatching
from sparsematch._types.weighted_proof import largest_of, left_over, objectives, unit_of

#: Costs above it are scaled down, so that the difference of three is finite.
_LARGE = 2.0**1020

_How = tuple[Run, IndexArray | None]  # run, capacities


def maximum_weight(
    signed: SignedCSR,
    unmatched: FloatPair,
    maximize: bool,
    maximum_cardinality: bool,
    run: Run,
    start: Start | None = None,
    capacities: IndexArray | None = None,
) -> WeightedMatching:
    """Return the matching, given what each row and column costs if unmatched.

    `start`, of which duals are those of the weights, is used at maximum cardinality only: elsewhere
    columns outnumber rows. `capacities`: of columns. Time: that of `least_cost`.
    """
    graph, weight = signed.graph, signed.weight
    if capacities is not None and graph.flipped:
        A = sp.csc_array((weight, graph.indices[: graph.nnz], graph.indptr), graph.shape).tocsr()
        graph, weight = with_arrays(graph._replace(flipped=False), A.indptr, A.indices), A.data
    scale = 0.125 if max(signed.largest, *map(largest_of, unmatched)) > _LARGE else 1.0
    sign = -scale if maximize else scale
    cost = weight * sign
    costs = (unmatched[0] * scale, unmatched[1] * scale) if scale < 1 else unmatched
    if maximum_cardinality:
        if start is not None:
            start = Start(start.matching, start.row_dual * sign, start.col_dual * sign)
        found = _at_maximum_cardinality(graph, cost, costs, start, (run, capacities))
    else:
        found = _at_any_cardinality(graph, cost, costs, (run, capacities))
    matching, row_dual, col_dual, unit = found
    if unit == 1 and all(map(are_whole, (cost, *costs))):
        row_dual, col_dual = round_duals(row_dual, col_dual)
    if maximize:
        row_dual, col_dual = 0.0 - row_dual, 0.0 - col_dual  # no negative zeros
    _, left = left_over(unmatched, matching, capacities)
    matched = weight[pairs_among(graph, matching)]
    sums, duals = objectives(matched, left, maximize), (row_dual, col_dual)
    return WeightedMatching(
        matching, *sums, *duals, *unmatched, maximize, maximum_cardinality, unit / scale, capacities
    ).freeze()


def _at_maximum_cardinality(
    graph: BipartiteCSR, cost: FloatArray, unmatched: FloatPair, start: Start | None, how: _How
) -> LeastCost:
    """As many are unmatched in any case, so that only differences of their costs count."""
    rows, cols = (side - side.max(initial=-np.inf) for side in unmatched)
    major, minor = graph.orient(rows, cols)
    if major.any():
        cost = cost - by_entry(graph, major)
    if start is not None:
        start = Start(start.matching, start.row_dual - rows, start.col_dual - cols)
    found = _least_cost(graph, _without(minor, graph, cost), how, start)
    row_dual, col_dual = found.row_dual + rows / found.unit, found.col_dual + cols / found.unit
    return LeastCost(found.matching, row_dual, col_dual, found.unit)


def _at_any_cardinality(
    graph: BipartiteCSR, cost: FloatArray, unmatched: FloatPair, how: _How
) -> LeastCost:
    major_cost, minor_cost = graph.orient(*unmatched)
    # What all columns have in common is added to the rows instead, which spares entries roundings.
    common = minor_cost.max(initial=-np.inf)
    own_cost, reduced = major_cost + common, _without(minor_cost - common, graph, cost)
    keep = reduced < by_entry(graph, own_cost)
    if not keep.any():
        return LeastCost(Matching.start(graph), unmatched[0].copy(), unmatched[1].copy(), 1.0)
    n_own, capacities = graph.n_major, how[1]
    if capacities is not None:
        n_own, capacities = 1, np.append(capacities, graph.n_rows)
    extended, costs = _with_own_columns(keep_entries(graph, keep), reduced[keep], own_cost, n_own)
    found = _least_cost(extended, costs, (how[0], capacities))
    unit = found.unit
    # Free columns have the largest dual, which becomes their cost; own columns have no further use.
    top = found.col_dual.max()
    minor = found.col_dual[: graph.n_minor] - top + minor_cost / unit
    major = found.row_dual + (top - common / unit)
    own = found.matching.row_mate >= graph.n_minor
    major = np.where(own, major_cost / unit, np.minimum(major, major_cost / unit))
    mates = np.where(own, UNMATCHED, found.matching.row_mate), found.matching.col_mate[: minor.size]
    matching = Matching(*graph.orient(*(side.astype(graph.dtype) for side in mates)))
    return LeastCost(matching, *graph.orient(major, minor), unit)


def _least_cost(graph: BipartiteCSR, cost: FloatArray, how: _How, start: Any = None) -> LeastCost:
    """Return what `least_cost` does; columns with room for more rows count as unmatched."""
    run, capacities = how
    if capacities is None:
        return least_cost(graph, cost, run, start=start)
    unit, places = unit_of(graph, cost), np.minimum(capacities, graph.n_rows).astype(graph.dtype)
    mate, u, v = np.empty(graph.n_rows, graph.dtype), np.empty(graph.n_rows), np.empty(places.size)
    arrays = cost / unit, places, mate, u, v
    _core.least_cost_in_capacities(csr(graph), *arrays, workers_of(run, 0))
    if n_left := np.count_nonzero(mate < 0):
        wider, costs = _with_own_columns(graph, cost, np.zeros(graph.n_rows), 1)
        found, u, v, unit = _least_cost(wider, costs, (run, np.append(places, n_left)))
        mate = np.where(found.row_mate < places.size, found.row_mate, UNMATCHED).astype(mate.dtype)
        v = v[:-1]
    col_mate = np.full(places.size + 1, UNMATCHED, mate.dtype)
    col_mate[mate] = np.arange(mate.size)
    return LeastCost(Matching(mate, col_mate[:-1]), u, v, unit).in_units_of_costs()


def _without(minor: FloatArray, graph: BipartiteCSR, cost: FloatArray) -> FloatArray:
    """Take the values of stored columns off the costs of their entries."""
    return cost - minor[graph.indices[: graph.nnz]] if minor.any() else cost


def _with_own_columns(
    graph: BipartiteCSR, cost: FloatArray, own_cost: FloatArray, n_own: int
) -> tuple[BipartiteCSR, FloatArray]:
    """Return the stored rows with one entry more in each, of one column or their own, and costs."""
    n, size, width = graph.n_major, graph.nnz + graph.n_major, graph.n_minor + n_own
    dtype = np.dtype(np.int64) if max(size, width) > np.iinfo(graph.dtype).max else graph.dtype
    indptr = graph.indptr + np.arange(n + 1, dtype=dtype)
    own = indptr[1:] - 1
    given = np.ones(size, bool)
    given[own] = False
    indices, costs = np.empty(size, dtype), np.empty(size)
    indices[given], indices[own] = graph.indices[: graph.nnz], np.arange(graph.n_minor, width)
    costs[given], costs[own] = cost, own_cost
    return BipartiteCSR(n, width, indptr, indices), costs
