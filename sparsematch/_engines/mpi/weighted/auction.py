"""An auction over ranks: rows bid for columns, which leaves a heavy matching, and prices as duals.

Bertsekas, The auction algorithm: a distributed relaxation method for the assignment problem (Annals
of Operations Research 14, 1988), with all free rows bidding at once. A row bids for the column with
the least cost plus price, and offers what makes it as dear as its second best one, and epsilon. A
column goes to the highest bidder, whose predecessor is free again. Epsilon shrinks in phases, which
keep the prices.

Invariant: the column of a matched row is within epsilon of the least cost plus price in its row.
Where all rows are matched, the matching therefore costs at most epsilon for each pair more than the
cheapest one. Few rows that compete for too few columns would bid for very long: rounds are limited,
and what is left is for an exact engine.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._types.arrays import UNMATCHED, FloatArray
from sparsematch._types.over_ranks.matching import DistributedMatching

_Array = NDArray[Any]

#: Factors of e by which a pair may be too small, phase by phase.
EPSILONS = 1.0, 0.2, 0.04
#: Rounds of a phase, at most.
ROUNDS = 2000
#: A row gives up where cost and price of its best column are above so many times the largest cost,
#: and so many epsilons: there are more rows than columns nearby.
_DEAR, _STEPS = 3, 32


def auction(costs: ScaledCosts, matching: DistributedMatching) -> FloatArray:
    """Match rows with columns; return the prices of the own columns. Collective.

    The matching must be empty. Time: a pass over the own entries for each phase, and in each round
    the entries of rows that are free. Workspace: some numbers for each own row and column.
    """
    price = np.zeros(matching.col_mate.size)
    largest = max(costs.exchange.small(float(costs.cost.max(initial=0))))
    # what is free in the end must not have a price of an earlier phase, and some is if not square
    is_square = costs.A.n_rows == costs.A.n_cols
    for epsilon in EPSILONS if is_square else EPSILONS[-1:]:
        matching.row_mate[:] = matching.col_mate[:] = UNMATCHED
        bidding = np.diff(costs.side.indptr) > 0
        limit = _DEAR * largest + _STEPS * epsilon
        for _ in range(ROUNDS):
            free = np.flatnonzero((matching.row_mate < 0) & bidding)
            groups = costs.side.slices_of(free)
            (n,) = costs.exchange.largest(len(groups))
            if n == 0:
                break
            for k in range(n):
                rows = groups[k] if k < len(groups) else free[:0]
                bids = _bids(costs, rows, price, epsilon, limit)
                bidding[rows[~np.isin(rows + costs.A.first_row, bids[1])]] = False
                _sell(costs, matching, price, *bids)
    return price


def _bids(
    costs: ScaledCosts, rows: _Array, price: FloatArray, epsilon: float, limit: float
) -> tuple[_Array, _Array, FloatArray]:
    """Return the columns that rows bid for, these rows, and the prices offered. Collective."""
    A = costs.A
    entries, counts = costs.side.entries_of(rows)
    cols = A.indices[entries]
    total = costs.cost[entries]
    total += costs.exchange.ask(A.col_starts, cols, lambda keys: price[keys - A.first_col])
    whole = (rows + A.first_row).astype(A.dtype)
    if not rows.size:
        return cols, whole, total
    starts = np.cumsum(counts) - counts
    least = np.minimum.reduceat(total, starts)
    # the first entry that is least
    at = np.flatnonzero(total == np.repeat(least, counts))
    of_row = np.repeat(np.arange(rows.size), counts)[at]
    best = at[np.diff(of_row, prepend=-1) != 0]
    total[best] = np.inf
    second = np.minimum.reduceat(total, starts)
    # there is nothing else that it could have: one epsilon more than nothing
    second = np.where(np.isinf(second), least, second)
    offers = second - costs.cost[entries[best]] + epsilon
    bid = least <= limit
    return cols[best][bid], whole[bid], offers[bid]


def _sell(
    costs: ScaledCosts,
    matching: DistributedMatching,
    price: FloatArray,
    cols: _Array,
    rows: _Array,
    offers: FloatArray,
) -> None:
    """Give each column to the highest bid, the first row among equal ones. Collective."""
    A, exchange = costs.A, costs.exchange
    own, rows, offers = exchange.deliver(A.col_starts, cols, rows, offers)
    own = own - A.first_col
    order = np.lexsort((-rows, offers, own))
    k = order[np.diff(own[order], append=-1) != 0]
    own, winners = own[k], rows[k]
    former = matching.col_mate[own]
    price[own], matching.col_mate[own] = offers[k], winners
    former = former[former >= 0]
    told = np.concatenate([winners, former])
    mates = np.concatenate([own + A.first_col, np.full(former.size, UNMATCHED)]).astype(A.dtype)
    told, mates = exchange.deliver(A.row_starts, told, mates)
    matching.row_mate[told - A.first_row] = mates
