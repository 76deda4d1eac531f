"""An auction over ranks: rows bid for columns, which leaves a heavy matching, and prices as duals.

Bertsekas, The auction algorithm: a distributed relaxation method for the assignment problem (Annals
of Operations Research 14, 1988), with all free rows bidding at once. A row bids for the column with
the least cost plus price; it offers the price at which that column is as expensive as the second
best one, plus epsilon. The highest bidder gets the column, and its former row is free again.
Epsilon decreases from phase to phase, and prices are kept.

Invariant: the column of a matched row is within epsilon of the least cost plus price in its row.
If all rows are matched, the cost of the matching exceeds the least by at most epsilon a pair. Rows
that compete for too few columns would bid for very long: an exact engine matches the rest.
"""

import numpy as np

from sparsematch._base.arrays import UNMATCHED, Array, FloatArray
from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._types.over_ranks.matching import DistributedMatching

_Bids = tuple[Array, Array, FloatArray]

#: Epsilon of each phase: excess over the least cost; natural logarithm of a magnitude.
EPSILONS = 1.0, 0.2, 0.04
#: Most rounds of a phase; rounds.
ROUNDS = 2000
#: A row stops bidding where cost plus price of its best column exceed _HIGHEST largest costs plus
#: _STEPS epsilons; multiples: more rows than columns compete there.
_HIGHEST, _STEPS = 3, 32


def auction(costs: ScaledCosts, matching: DistributedMatching) -> FloatArray:
    """Match rows with columns; return the prices of the own columns. Collective."""
    # The matching must be empty. Time: a pass over the own entries for each phase, and in each
    # round the entries of the free rows. Workspace: some numbers for each own row and column.
    price = np.zeros(matching.col_mate.size)
    (largest,) = costs.exchange.allreduce(float(costs.cost.max(initial=0)), op="MAX")
    # a column that is free at the end must not keep a price of an earlier phase
    for epsilon in EPSILONS if costs.A.n_rows == costs.A.n_cols else EPSILONS[-1:]:
        matching.row_mate[:] = matching.col_mate[:] = UNMATCHED
        bidding = np.diff(costs.side.indptr) > 0
        limit = _HIGHEST * largest + _STEPS * epsilon
        for _ in range(ROUNDS):
            free = np.flatnonzero((matching.row_mate < 0) & bidding)
            groups = costs.side.slices_of(free)
            if not groups:
                break
            for rows in groups:
                bids = _bids(costs, rows, price, epsilon, limit)
                bidding[rows[~np.isin(rows + costs.A.first_row, bids[1])]] = False
                _sell(costs, matching, price, bids)
    return price


def _bids(
    costs: ScaledCosts, rows: Array, price: FloatArray, epsilon: float, limit: float
) -> _Bids:
    """Return columns, the rows that bid for them, and the prices offered. Collective."""
    A = costs.A
    entries, counts = costs.side.entries_of(rows)
    cols = A.indices[entries]
    total = costs.cost[entries]
    total += costs.exchange.lookup(A.col_starts, cols, price)
    bidders = (rows + A.first_row).astype(A.dtype)
    if not rows.size:
        return cols, bidders, total
    starts = np.cumsum(counts) - counts
    least = np.minimum.reduceat(total, starts)
    # the first least entry of each row
    minima = np.flatnonzero(total == np.repeat(least, counts))
    of_row = np.repeat(np.arange(rows.size), counts)[minima]
    best = minima[np.diff(of_row, prepend=-1) != 0]
    total[best] = np.inf
    second = np.minimum.reduceat(total, starts)
    # the row has no other column: raise the price by epsilon alone
    second = np.where(np.isinf(second), least, second)
    bid = least <= limit
    return cols[best][bid], bidders[bid], (second - costs.cost[entries[best]] + epsilon)[bid]


def _sell(
    costs: ScaledCosts, matching: DistributedMatching, price: FloatArray, bids: _Bids
) -> None:
    """Match each column to its highest bidder, the first row among equals. Collective."""
    A, exchange = costs.A, costs.exchange
    own, rows, offers = exchange.alltoallv(A.col_starts, *bids)
    own = own - A.first_col
    order = np.lexsort((-rows, offers, own))
    k = order[np.diff(own[order], append=-1) != 0]
    own, winners = own[k], rows[k]
    former = matching.col_mate[own]
    price[own], matching.col_mate[own] = offers[k], winners
    former = former[former >= 0]
    rows = np.concatenate([winners, former])
    mates = np.concatenate([own + A.first_col, np.full(former.size, UNMATCHED)]).astype(A.dtype)
    rows, mates = exchange.alltoallv(A.row_starts, rows, mates)
    matching.row_mate[rows - A.first_row] = mates
