"""Minimum-degree start over GPUs: rows with short lists first, to the columns of fewest rows.

Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), in rounds of proposals. The
kernels are those of `over_ranks/min_degree.cu` of the back-end for a GPU. Every GPU counts what its
rows have in each column, and one reduction adds that up.
"""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.mpi.core.exchange import finishing
from sparsematch._engines.mpi.core.steps import Account, step_info
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching.entries import list_entries
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching

SUMMARY = "Rows of fewest entries first propose to the columns of fewest entries, in rounds."

#: A round for the rows of at most so many entries, a thread each; then one for all, longer lists by
#: a warp each.
UPTO = (1, 2, 3, 4, 6, 8, 12)

#: Columns of at most so many entries, and of a quarter of the mean, are matched first, those of
#: fewest before the others: once their few rows have other mates, only a search that reads most of
#: the matrix gets them back.
RARE = 6

#: Rows up to so many entries are offered to rare columns before longer ones, which have a rare
#: column each among many.
SHORT = 64

#: The part of the entries for which there is room in the list of those of rare columns. Those that
#: find none are left to the rounds of the rows.
LISTED = 16


class Occupied(NamedTuple):
    """What the start leaves to the search: how many columns can be matched at most.

    Those that have entries, but not those of one entry in a row that has another such column.
    """

    cols: int


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Make the matching maximal. Collective.

    Reads: the matrix. Writes: both mates. Workspace: three indices and a bit for each own row, four
    bytes and two bits for each column, two indices for one of 16 own entries, letters. Time:
    O(nnz / ranks), expected, in a few rounds.
    """
    with finishing(A.comm):
        begin, xp = perf_counter(), namespace(A.indptr)
        exchange, account = Exchange(A.comm, xp), Account()
        kernels = compile.load("matching/over_ranks/min_degree", A.dtype)
        degree = xp.zeros(A.n_cols, np.int32)
        kernels.launch("count", A.local_nnz, A.indices, np.int64(A.local_nnz), degree)
        exchange.add_up(degree)
        proposals = Proposals(A, matching, exchange, kernels, run)
        rare = _RareColumns(A, proposals, degree)
        excess = int(exchange.sum(rare.excess)[0])
        run.kept = Occupied(int(xp.count_nonzero(degree)) - excess)

        def propose(state: Any, turn: int, rows: Any) -> None:
            if turn <= rare.rounds:
                rare.propose(state, turn)
                return
            turn -= rare.rounds
            upto = np.int64(UPTO[min(turn, len(UPTO)) - 1])
            kernels.launch("propose", int(rows[2]), state, degree, *rows, upto)
            if turn > len(UPTO):
                kernels.launch("propose_long", 32 * int(rows[2]), state, degree, *rows, upto)

        proposals.make(account, propose, sweeps=rare.rounds + len(UPTO) + 1)
        own = int(xp.count_nonzero(matching.row_mate >= 0))
        run.steps.append(step_info(exchange, "min_degree", begin, own, account))


class _RareColumns:
    """The columns of fewest entries, as far as own rows have them.

    Attributes
    ----------
    rounds : int
        The rounds with them: two for each number of entries, the first with short rows only.
    excess : int
        Columns of one entry that cannot be matched, as that row has others.
    """

    def __init__(self, A: DistributedCSR, proposals: Proposals, degree: Any) -> None:
        xp = namespace(A.indptr)
        self.kernels, self.upto = proposals.kernels, min(RARE, A.nnz // (4 * max(A.n_cols, 1)))
        self.rounds, self.excess = 2 * self.upto, 0
        if not self.upto:
            return
        rare, self.asked = bit_set(xp, A.n_cols), bit_set(xp, len(A.own_rows))
        given = np.int64(A.n_cols), degree, np.int32(self.upto), rare
        self.kernels.launch("find_rare", rare.size, *given)
        self._room, excess = A.local_nnz // LISTED + 1, xp.zeros(1, np.int64)
        self._list = degree, list_entries(self.kernels, A, rare, self._room)
        arguments = proposals.state(0), *self._list, excess, self.asked
        self.kernels.launch("count_excess", self._room, *arguments)
        self.excess = int(excess[0])

    def propose(self, state: Any, turn: int) -> None:
        """Launch a round."""
        self.asked.fill(0)
        size = np.int64(SHORT if turn & 1 else np.iinfo(np.int64).max)
        limits = np.int32((turn + 1) // 2), size, self.asked
        self.kernels.launch("propose_rare", self._room, state, *self._list, *limits)
