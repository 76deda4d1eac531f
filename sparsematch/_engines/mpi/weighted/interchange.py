"""Alternating cycles of four that make a matching heavier, over ranks, in rounds.

Azad, Buluc, Li, Wang, Langguth, A distributed-memory algorithm for computing a heavy-weight perfect
matching on bipartite graphs (SIAM J. Sci. Comput. 42, 2020). Two pairs, (i, j) and (t, k), may
exchange their columns if (i, k) and (t, j) are entries; the gain is the decrease of the cost. In a
round every row finds its best partner, and two rows that are each other's best partner exchange.
Ranks have blocks of rows, where the paper has a grid of processes.

Invariant: the pairs stay a matching of the same size, and every round decreases its cost.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import UNMATCHED, FloatArray
from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._types.over_ranks.matching import DistributedMatching

_Array = NDArray[Any]

#: Most rounds; passes over the entries. Fixed, so that time is bounded.
ROUNDS = 40
#: Least gain of an exchange; natural logarithm of the factor that the product gains.
LEAST = 1e-9


class Interchange:
    """The pairs of the own rows and columns, with their costs: 0 where there is none."""

    def __init__(self, costs: ScaledCosts, matching: DistributedMatching) -> None:
        """Look up the costs of the pairs. Collective."""
        self.costs, self.exchange, self.A = costs, costs.exchange, costs.A
        self.row_mate, self.col_mate = matching.row_mate, matching.col_mate
        self.row_cost = np.zeros(self.row_mate.size)
        self.col_cost = np.zeros(self.col_mate.size)
        rows = np.flatnonzero(self.row_mate >= 0)
        self.row_cost[rows] = costs.cost[costs.find(rows, self.row_mate[rows])]
        self._update_columns(rows)

    def run(self) -> int:
        """Exchange columns until no exchange gains, at most `ROUNDS` times; return the rounds.

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
            self._update_columns(mutual)
        return ROUNDS

    def _best_partners(self) -> "_Partners":
        """Return the best partner of each own row. Collective."""
        costs, A, best = self.costs, self.A, _Partners(self.row_mate.size, self.A.dtype)
        (largest,) = self.exchange.allreduce(float(self.row_cost.max(initial=0)), op="MAX")
        for begin, end in costs.side.slices():
            rows = costs.rows_of(begin, end)
            # the gain is at most the costs of the two pairs less that of one new entry
            saved = self.row_cost[rows] - costs.cost[begin:end]
            chosen = np.flatnonzero((saved + largest > LEAST) & (self.row_mate[rows] >= 0))
            rows, saved, cols = rows[chosen], saved[chosen], A.indices[begin:end][chosen]
            there = self.exchange.lookup(A.col_starts, cols, self.col_cost)
            may_gain = np.flatnonzero(saved + there > LEAST)
            rows, saved, cols = rows[may_gain], saved[may_gain], cols[may_gain]
            partner = self.exchange.lookup(A.col_starts, cols, self.col_mate)
            number = (rows + A.first_row).astype(A.dtype)
            offered = np.flatnonzero((partner >= 0) & (partner != number))
            rows = rows[offered]
            arrived = self.exchange.alltoallv(
                A.row_starts, partner[offered], number[offered], self.row_mate[rows], saved[offered]
            )
            self._evaluate(best, *arrived)
        return best

    def _evaluate(
        self, best: "_Partners", own: _Array, other: _Array, col: _Array, saved: FloatArray
    ) -> None:
        """Compute the gains of exchanges of own rows with others, and keep the best."""
        rows = own - self.A.first_row
        places = self.costs.find(rows, col)
        found = np.flatnonzero(places >= 0)
        rows, cost = rows[found], self.costs.cost[places[found]]
        gain = saved[found] + (self.row_cost[rows] - cost)
        heavier = np.flatnonzero(gain > LEAST)
        kept = found[heavier]
        best.offer(
            rows[heavier], self.A.first_row, other[kept], gain[heavier], col[kept], cost[heavier]
        )

    def _mutual(self, best: "_Partners") -> _Array:
        """Return the own rows that are the best partners of theirs. Collective."""
        rows = np.flatnonzero(best.partner >= 0)
        back = self.exchange.lookup(self.A.row_starts, best.partner[rows], best.partner)
        return rows[back == rows + self.A.first_row]

    def _update_columns(self, rows: _Array) -> None:
        """Send the mates and costs of own rows to the owners of the columns. Collective."""
        number = (rows + self.A.first_row).astype(self.A.dtype)
        cols, mates, cost = self.exchange.alltoallv(
            self.A.col_starts, self.row_mate[rows], number, self.row_cost[rows]
        )
        self.col_mate[cols - self.A.first_col] = mates
        self.col_cost[cols - self.A.first_col] = cost


class _Partners:
    """The best partner of each own row so far, with its column, cost and gain.

    Both partners compute the same gain, to the last bit, and ties are broken by the two numbers:
    the best exchange of all is mutual, so every round gains.
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
        """Replace the partners of rows where an offer gains more."""
        number = rows + first_row
        order = np.lexsort((np.maximum(number, partner), np.minimum(number, partner), gain, rows))
        is_last = np.diff(rows[order], append=-1) != 0
        k = order[is_last]
        rows, number, partner = rows[k], number[k], partner[k]
        there = self.partner[rows]
        old = np.minimum(number, there), np.maximum(number, there)
        new = np.minimum(number, partner), np.maximum(number, partner)
        later = (new[0] > old[0]) | ((new[0] == old[0]) & (new[1] > old[1]))
        better = (gain[k] > self.gain[rows]) | ((gain[k] == self.gain[rows]) & later)
        rows, k = rows[better], k[better]
        self.partner[rows], self.gain[rows] = partner[better], gain[k]
        self.col[rows], self.cost[rows] = col[k], cost[k]
