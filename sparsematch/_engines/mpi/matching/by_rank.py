"""Initialisation rank by rank: each matches its own rows, with columns that are lent to it.

A rank knows its rows whole, so with the columns that it alone may use it has a matching problem of
its own, which the engines for host memory solve to the end, without an exchange. The owner of a
column lends it to one of the ranks with an entry in it, to itself if it is one; a column that comes
back unmatched is lent to the next one. On a matrix whose numbering keeps neighbours near, the first
turn matches nearly all. Turns end when one has matched few, or every rank has had a column once;
proposals (cheap.py) make the matching maximal.

Invariant: a rank changes mates among the columns that are lent to it only, and those that it has
matched stay lent to it.
"""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.exchange import Exchange, finishing
from sparsematch._engines.mpi.core.host import local_pattern, match_in_host_memory
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.core.steps import Account, step_info
from sparsematch._engines.mpi.matching.cheap import propose
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import UNMATCHED
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching
from sparsematch._types.matching import Matching

SUMMARY = "Each rank matches its rows in full with columns that are lent to it, in turns."

_Array = NDArray[Any]

#: Turns, at most; and one is the last if it matches less than this share of the free rows.
_TURNS, _WORTHWHILE = 8, 0.02


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Make the matching maximal. Collective.

    Reads: the matrix. Writes: both mates. Workspace: two indices per own entry. Time: that of a
    few maximum matchings of the own rows.
    """
    with finishing(A.comm):
        begin = perf_counter()
        exchange, account = Exchange(A.comm), Account()
        side = Side.of_rows(A, exchange, run)
        Turns(side, matching, run, account).take()
        propose(side, matching.row_mate, matching.col_mate, run.seed, account)
        own = int(np.count_nonzero(matching.row_mate >= 0))
        run.steps.append(step_info(exchange, "by_rank", begin, own, account))


class Turns:
    """The turns of one call.

    Rows are majors here; `mate` and `lent` are by touched minor.
    """

    def __init__(
        self, side: Side, matching: DistributedMatching, run: Run, account: Account
    ) -> None:
        self.side, self.matching, self.run, self.account = side, matching, run, account
        self.lent = np.zeros(side.touched.minors.size, bool)

    def take(self) -> None:
        """Take turns until they match few."""
        exchange, row_mate = self.side.exchange, self.matching.row_mate
        (free,) = exchange.sum(int(np.count_nonzero(row_mate < 0)))
        for turn in range(min(_TURNS, exchange.size)):
            self._lend(turn)
            self._match()
            before = free
            (free,) = exchange.sum(int(np.count_nonzero(row_mate < 0)))
            self.account.rounds += 1
            if before - free <= _WORTHWHILE * before:
                return

    def _lend(self, turn: int) -> None:
        """Lend the free own columns, each to the rank whose turn it is."""
        side = self.side
        starts, ranks, places = side.interest
        counts = np.diff(starts)
        free = np.flatnonzero((self.matching.col_mate < 0) & (counts > turn))
        # the owner first, then the others in their order, beginning behind it
        behind = self._place_of_owner(starts, ranks)
        at = starts[free] + (behind[free] + turn) % counts[free]
        by_rank = np.arange(side.exchange.size + 1)
        _, lent = side.exchange.deliver(by_rank, ranks[at], places[at])
        self.lent[:] = False
        self.lent[lent] = True

    def _place_of_owner(self, starts: _Array, ranks: _Array) -> _Array:
        """Return for each own column the place of this rank among those that touch it, or a hash.

        A hash, so that columns which their owner does not touch are lent evenly.
        """
        counts = np.maximum(np.diff(starts), 1)
        place = np.arange(counts.size) % counts
        mine = np.flatnonzero(ranks == self.side.exchange.rank)
        column = np.searchsorted(starts, mine, side="right") - 1
        place[column] = mine - starts[column]
        return place

    def _match(self) -> None:
        """Match the own rows with what is lent, and report to the owners."""
        side, row_mate = self.side, self.matching.row_mate
        minors, local = side.touched
        # matched columns stay with the row that has them, wherever they were lent before
        matched = row_mate >= 0
        mine = np.searchsorted(minors, row_mate[matched])
        self.lent[mine] = True
        keep = self.lent[local]
        kept = local[keep]
        self.account.edges += kept.size
        indptr = np.concatenate([[0], np.cumsum(side.count(keep))])
        del keep
        graph = local_pattern(indptr, kept, (side.n_majors, minors.size))
        start = Matching.start(graph)
        start.row_mate[matched] = mine
        start.col_mate[mine] = np.flatnonzero(matched)
        warm = bool(matched.any())
        match_in_host_memory(graph, start, self.run, warm=warm)
        rows = np.flatnonzero(start.row_mate >= 0)
        row_mate.fill(UNMATCHED)
        row_mate[rows] = minors[start.row_mate[rows]]
        # an engine that pushes may leave other columns unmatched than it was given
        dropped = mine[start.col_mate[mine] < 0]
        numbers = np.full(rows.size + dropped.size, UNMATCHED, side.dtype)
        numbers[: rows.size] = rows + side.first_major
        cols = np.concatenate([row_mate[rows], minors[dropped]])
        keys, values = side.exchange.deliver(side.minor_starts, cols, numbers)
        self.matching.col_mate[keys - side.first_minor] = values
