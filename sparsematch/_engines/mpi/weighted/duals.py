"""Duals of the rows and columns of a matrix over ranks, and the bound that they prove.

Weak duality: if the cost of each entry is at least the sum of the duals of its row and column, a
matching of n pairs costs at least the n smallest duals of rows plus the n smallest of columns. The
duals are chosen so that as many matched entries as possible cost exactly that sum: shortest
distances along alternating paths (Bellman, On a routing problem, Quart. Appl. Math. 16, 1958). If
the matching is optimal and distances have converged, they prove it optimal.
"""

from typing import NamedTuple

import numpy as np

from sparsematch._base.arrays import FloatArray
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._types.over_ranks.matching import DistributedMatching

#: Most rounds of shortening paths; passes over the entries of rows whose distance has decreased. A
#: matching that is not optimal has negative cycles, on which distances decrease for ever.
ROUNDS = 64
#: Least decrease of a distance that is propagated; natural logarithm of a magnitude.
_LEAST = 1e-12
#: Steps of a bisection; 60 bring a double to its last bits.
_BISECTIONS = 60


class Duals(NamedTuple):
    """Duals of the own rows and columns, and the lower bound on the cost that they prove."""

    row_dual: FloatArray
    col_dual: FloatArray
    bound: float


def best_duals(costs: ScaledCosts, matching: DistributedMatching, col_dual: FloatArray) -> Duals:
    """Return the duals with the largest bound of three candidates. Collective."""
    # These are the duals of the scaling alone, the given ones of the columns, and distances that
    # start from these. Time: O(own entries) a round. Workspace: some numbers for each own vertex.
    n_pairs = matching.cardinality
    tried = np.zeros(col_dual.size), col_dual, _distances(costs, matching, col_dual)
    return max((_with_bound(costs, each, n_pairs) for each in tried), key=lambda duals: duals.bound)


def _with_bound(costs: ScaledCosts, col_dual: FloatArray, n_pairs: int) -> Duals:
    """Return the largest duals of rows and then of columns, with those of the scaling."""
    rows = costs.row_duals(col_dual)
    cols = np.maximum(costs.least_of_cols(rows), col_dual) + costs.col_dual
    rows += costs.row_dual
    bound = sum(_least_sum(side, n_pairs, costs.exchange) for side in (rows, cols))
    return Duals(rows, cols, bound)


def _distances(costs: ScaledCosts, matching: DistributedMatching, start: FloatArray) -> FloatArray:
    """Return distances of the own columns along alternating paths, from any column. Collective."""
    # At most the given ones. The length of a step from the column of a pair to another column of
    # its row is the cost of that entry less the cost of the pair.
    A, exchange, side = costs.A, costs.exchange, costs.side
    distance = start.copy()
    matched = np.flatnonzero(matching.row_mate >= 0).astype(A.dtype)
    mates = matching.row_mate[matched]
    row_distance, pair_cost = (np.zeros(matching.row_mate.size) for _ in range(2))
    row_distance[matched] = exchange.lookup(A.col_starts, mates, start)
    pair_cost[matched] = costs.cost[costs.find(matched, mates)]
    (highest,) = exchange.allreduce(float(start.max(initial=-np.inf)), op="MAX")
    for _ in range(ROUNDS):
        before = distance.copy()
        for rows in side.slices_of(matched):
            entries, counts = side.entries_of(rows)
            length = np.repeat(row_distance[rows] - pair_cost[rows], counts)
            length += costs.cost[entries]
            short = np.flatnonzero(length < highest)
            cols, found = exchange.alltoallv(A.col_starts, A.indices[entries[short]], length[short])
            np.minimum.at(distance, cols - A.first_col, found)
        before -= _LEAST
        nearer = np.flatnonzero((distance < before) & (matching.col_mate >= 0))
        if not exchange.any(nearer.size > 0):
            break
        rows, found = exchange.alltoallv(A.row_starts, matching.col_mate[nearer], distance[nearer])
        matched = rows - A.first_row
        row_distance[matched] = found
    return distance


def _least_sum(values: FloatArray, n: int, exchange: Exchange) -> float:
    """Return the sum of the n smallest values of all ranks, or a little less. Collective."""
    # ``n t + sum(min(value - t, 0))`` is a lower bound for every t, and exact for the n-th smallest
    # value, which bisection approximates.
    (count,) = exchange.allreduce(values.size)
    if count == n:
        return float(exchange.allreduce(values.sum())[0])
    (least,) = exchange.allreduce(float(values.min(initial=np.inf)), op="MIN")
    (most,) = exchange.allreduce(float(values.max(initial=-np.inf)), op="MAX")
    for _ in range(_BISECTIONS):
        middle = (least + most) / 2
        (below,) = exchange.allreduce(int(np.count_nonzero(values <= middle)))
        least, most = (least, middle) if below >= n else (middle, most)
    return float(n * most + exchange.allreduce(np.minimum(values - most, 0).sum())[0])
