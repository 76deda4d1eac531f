"""Duals of the rows and columns of a matrix over ranks, and the bound that they prove.

Whatever the matching: if no entry costs less than the duals of its row and column add up to, no
matching of so many pairs costs less than the duals of so many rows and columns do. The duals are
those with which the pairs at hand cost as much as their duals, as far as that can be: shortest
distances over alternating paths (Bellman, On a routing problem, Quart. Appl. Math. 16, 1958). With
an optimal matching these prove it optimal, once distances do not fall any more.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.weighted.interchange import Interchange
from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._types.arrays import FloatArray

_Array = NDArray[Any]

#: Rounds of shortening paths at most, each a pass over the entries of what has become nearer: a
#: matching that is not optimal has cycles on which distances fall for ever.
ROUNDS = 64
#: Distances that fall by less are left.
_LEAST = 1e-12
_BISECTIONS = 60


class Duals(NamedTuple):
    """Duals of the own rows and columns, and the least that so many pairs can cost."""

    row_dual: FloatArray
    col_dual: FloatArray
    bound: float


def best_duals(costs: ScaledCosts, pairs: Interchange, col_dual: FloatArray, n_pairs: int) -> Duals:
    """Return the duals, of those tried, that prove the most. Collective.

    Tried are those of the scaling alone, the given ones of the columns, and distances that begin
    with these. Time: O(own entries) a round. Workspace: some numbers for each own row and column.
    """
    best = _with_bound(costs, np.zeros(col_dual.size), n_pairs)
    for tried in (col_dual, _distances(costs, pairs, col_dual)):
        best = max(best, _with_bound(costs, tried, n_pairs), key=lambda duals: duals.bound)
    return best


def _with_bound(costs: ScaledCosts, col_dual: FloatArray, n_pairs: int) -> Duals:
    """Return the largest duals of rows and then of columns, with those of the scaling."""
    rows = costs.row_duals(col_dual)
    cols = costs.least_of_cols(rows)
    np.maximum(cols, col_dual, out=cols)
    rows += costs.row_dual
    cols += costs.col_dual
    bound = sum(_least_sum(side, n_pairs, costs.exchange) for side in (rows, cols))
    return Duals(rows, cols, bound)


def _distances(costs: ScaledCosts, pairs: Interchange, start: FloatArray) -> FloatArray:
    """Return distances of the own columns over alternating paths, from any column. Collective.

    Not above what they start with. From the column of a pair to another column that its row has an
    entry in, it is as far as that costs more than the pair.
    """
    A, exchange, side = costs.A, costs.exchange, costs.side
    distance = start.copy()
    matched = np.flatnonzero(pairs.row_mate >= 0).astype(A.dtype)
    row_distance = np.zeros(pairs.row_mate.size)
    row_distance[matched] = exchange.ask(
        A.col_starts, pairs.row_mate[matched], lambda cols: start[cols - A.first_col]
    )
    highest = max(exchange.small(float(start.max(initial=-np.inf))))
    for _ in range(ROUNDS):
        before = distance.copy()
        (n_groups,) = exchange.largest(len(groups := side.slices_of(matched)))
        for k in range(n_groups):
            rows = groups[k] if k < len(groups) else matched[:0]
            entries, counts = side.entries_of(rows)
            beyond = np.repeat(row_distance[rows] - pairs.row_cost[rows], counts)
            beyond += costs.cost[entries]
            falls = np.flatnonzero(beyond < highest)
            cols, found = exchange.deliver(A.col_starts, A.indices[entries[falls]], beyond[falls])
            np.minimum.at(distance, cols - A.first_col, found)
        del groups
        before -= _LEAST
        fallen = np.flatnonzero((distance < before) & (pairs.col_mate >= 0))
        if not exchange.any(fallen.size > 0):
            break
        rows, found = exchange.deliver(A.row_starts, pairs.col_mate[fallen], distance[fallen])
        matched = rows - A.first_row
        row_distance[matched] = found
    return distance


def _least_sum(values: FloatArray, n: int, exchange: Exchange) -> float:
    """Return the sum of the n smallest values of all ranks, or a little less. Collective.

    ``n t + sum(min(value - t, 0))`` is at most that for every t, and that for the n-th smallest,
    which is found by bisection.
    """
    (count,) = exchange.sum(values.size)
    if count == n:
        return float(exchange.sum(values.sum())[0])
    least = min(exchange.small(float(values.min(initial=np.inf))))
    most = max(exchange.small(float(values.max(initial=-np.inf))))
    for _ in range(_BISECTIONS):
        middle = (least + most) / 2
        (below,) = exchange.sum(int(np.count_nonzero(values <= middle)))
        least, most = (least, middle) if below >= n else (middle, most)
    under = np.minimum(values - most, 0)
    return float(n * most + exchange.sum(under.sum())[0])
