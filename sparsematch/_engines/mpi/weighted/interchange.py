"""Alternating cycles of four that make a matching heavier, over ranks, in rounds.

Azad, Buluc, Li, Wang, Langguth, A distributed-memory algorithm for computing a heavy-weight perfect
matching on bipartite graphs (SIAM J. Sci. Comput. 42, 2020). Two pairs, (i, j) and (t, k), may
exchange their columns if (i, k) and (t, j) are entries; they gain what the sum of costs falls by.
In a round every row learns its best partner, and two rows that are each other's best exchange. Rows
in blocks, where the paper has a grid of processes.

Invariant: the pairs stay a matching of the same size, and their cost falls in every round.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._types.arrays import UNMATCHED, FloatArray
from sparsematch._types.over_ranks.matching import DistributedMatching

_Array = NDArray[Any]

#: Rounds, each a pass over the entries, at most; a fixed number, so that time is bounded.
ROUNDS = 40
#: Gains below this are left: a factor of 1 + 1e-9 in the product.
LEAST = 1e-9


class Interchange:
    """The pairs of the own rows and columns, with their costs.

    Attributes
    ----------
    row_cost, col_cost : ndarray of float64
        The cost of the entry at which each own row, and column, is matched; 0 for the others.
    """

    def __init__(self, costs: ScaledCosts, matching: DistributedMatching) -> None:
        """Look up the costs of the pairs. Collective."""
        self.costs, self.exchange, self.A = costs, costs.exchange, costs.A
        self.row_mate, self.col_mate = matching.row_mate, matching.col_mate
        self.row_cost = np.zeros(self.row_mate.size)
        self.col_cost = np.zeros(self.col_mate.size)
        rows = np.flatnonzero(self.row_mate >= 0)
        self.row_cost[rows] = costs.cost[costs.find(rows, self.row_mate[rows])]
        self._tell_columns(rows)

    def run(self) -> int:
        """Exchange columns until nothing is gained, or rounds are used up; return the rounds.

        Collective. Reads: entries. Writes: mates, costs. Time: O(own entries log(degree)) a round,
        and four exchanges a slice.
        """
        for k in range(ROUNDS):
            best = self._best_partners()
            mutual = self._mutual(best)
            if not self.exchange.any(mutual.size > 0):
                return k
            self.row_mate[mutual] = best.col[mutual]
            self.row_cost[mutual] = best.cost[mutual]
            self._tell_columns(mutual)
        return ROUNDS

    def _best_partners(self) -> "_Partners":
        """Return the best partner of each own row. Collective."""
        costs, A, best = self.costs, self.A, _Partners(self.row_mate.size, self.A.dtype)
        largest = float(max(self.exchange.small(self.row_cost.max(initial=0))))
        for begin, end in costs.side.slices():
            rows = costs.rows_of(begin, end)
            # what a pair gains is less than its two costs less that of one new entry
            room = self.row_cost[rows] - costs.cost[begin:end]
            chosen = np.flatnonzero((room + largest > LEAST) & (self.row_mate[rows] >= 0))
            rows, room, cols = rows[chosen], room[chosen], A.indices[begin:end][chosen]
            there = self._ask_columns(self.col_cost, cols)
            near = np.flatnonzero(room + there > LEAST)
            rows, room, cols = rows[near], room[near], cols[near]
            partner = self._ask_columns(self.col_mate, cols)
            whole = (rows + A.first_row).astype(A.dtype)
            asked = np.flatnonzero((partner >= 0) & (partner != whole))
            rows = rows[asked]
            arrived = self.exchange.deliver(
                A.row_starts, partner[asked], whole[asked], self.row_mate[rows], room[asked]
            )
            self._weigh(best, *arrived)
        return best

    def _weigh(
        self, best: "_Partners", own: _Array, other: _Array, col: _Array, room: FloatArray
    ) -> None:
        """Note what own rows would gain by the column of another one, which takes theirs."""
        rows = own - self.A.first_row
        places = self.costs.find(rows, col)
        found = np.flatnonzero(places >= 0)
        rows, cost = rows[found], self.costs.cost[places[found]]
        gain = room[found] + (self.row_cost[rows] - cost)
        heavier = np.flatnonzero(gain > LEAST)
        best.offer(
            rows[heavier],
            self.A.first_row,
            other[found][heavier],
            gain[heavier],
            col[found][heavier],
            cost[heavier],
        )

    def _mutual(self, best: "_Partners") -> _Array:
        """Return the own rows that are the best partners of theirs. Collective."""
        rows = np.flatnonzero(best.partner >= 0)
        first = self.A.first_row
        back = self.exchange.ask(
            self.A.row_starts, best.partner[rows], lambda keys: best.partner[keys - first]
        )
        return rows[back == rows + first]

    def _ask_columns(self, table: _Array, cols: _Array) -> _Array:
        return self.exchange.ask(
            self.A.col_starts, cols, lambda keys: table[keys - self.A.first_col]
        )

    def _tell_columns(self, rows: _Array) -> None:
        """Tell columns of their new mates. Collective."""
        whole = (rows + self.A.first_row).astype(self.A.dtype)
        cols, mates, cost = self.exchange.deliver(
            self.A.col_starts, self.row_mate[rows], whole, self.row_cost[rows]
        )
        self.col_mate[cols - self.A.first_col] = mates
        self.col_cost[cols - self.A.first_col] = cost


class _Partners:
    """The best partner of each own row so far, and what it would give.

    Gains are the same on both sides, to the last bit, and ties are decided by the two numbers, so
    that the best exchange of all is mutual, and no round is in vain.
    """

    def __init__(self, n: int, dtype: Any) -> None:
        self.partner, self.col = (np.full(n, UNMATCHED, dtype) for _ in range(2))
        self.gain, self.cost = np.zeros(n), np.zeros(n)

    def offer(
        self,
        rows: _Array,
        first_row: int,
        partner: _Array,
        gain: FloatArray,
        col: _Array,
        cost: FloatArray,
    ) -> None:
        """Keep the best of what there is and of what is offered."""
        whole = rows + first_row
        order = np.lexsort((np.maximum(whole, partner), np.minimum(whole, partner), gain, rows))
        is_last = np.diff(rows[order], append=-1) != 0
        k = order[is_last]
        rows, whole, partner = rows[k], whole[k], partner[k]
        there = self.partner[rows]
        old = np.minimum(whole, there), np.maximum(whole, there)
        new = np.minimum(whole, partner), np.maximum(whole, partner)
        later = (new[0] > old[0]) | ((new[0] == old[0]) & (new[1] > old[1]))
        better = (gain[k] > self.gain[rows]) | ((gain[k] == self.gain[rows]) & later)
        at, k = rows[better], k[better]
        self.partner[at], self.gain[at] = partner[better], gain[k]
        self.col[at], self.cost[at] = col[k], cost[k]
