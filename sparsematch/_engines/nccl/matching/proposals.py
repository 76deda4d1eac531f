"""Rounds of proposals over the GPUs of all ranks: the part common to the heuristics.

Azad, Buluc, Distributed-memory algorithms for maximal cardinality matching using matrix algebra
(IEEE Cluster 2015). The kernels are those of `over_ranks/proposals.cuh` of the back-end for a GPU,
which explains a round. Every GPU has a bit for each column: whether it was matched when the round
began.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.mpi.core.steps import Account
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import Counts, SendBuffers, capacity_for, owners
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Launches the kernels of a round, given the state, the number of the round, and the rows that
#: propose: whether all own rows, a list of rows, their number.
Propose = Callable[[Any, int, tuple[np.bool_, Any, np.int64]], None]

#: Numbers of the send buffers in the counters.
_PROPOSALS, _GRANTS = 0, 1


class Proposals:
    """The rounds on one rank."""

    def __init__(
        self,
        A: DistributedCSR,
        matching: DistributedMatching,
        exchange: Exchange,
        kernels: Kernels,
        run: Run,
    ) -> None:
        xp, dtype = namespace(A.indptr), A.dtype
        self.exchange, self.seed, self.n_rows = exchange, run.seed, len(A.own_rows)
        self.kernels = kernels
        self.counts = counts = Counts(self.kernels, exchange, xp, buffers=2, cleared=2)
        capacity = capacity_for(self.n_rows, A.local_nnz, exchange.size)
        proposals = SendBuffers(exchange, counts.messages(_PROPOSALS), 2, capacity, dtype)
        capacity = proposals.largest_capacity
        grants = SendBuffers(exchange, counts.messages(_GRANTS), 2, capacity, dtype)
        self.buffers = proposals, grants
        self.taken = bit_set(xp, A.n_cols)
        self.lists = [xp.empty(self.n_rows, dtype) for _ in range(3)]
        cols = owners(self.kernels, A, "cols")
        self._fields = {
            "indptr": A.indptr,
            "indices": A.indices,
            "row_mate": matching.row_mate,
            "col_mate": matching.col_mate,
            "taken": self.taken,
            "hard": self.lists[2],
            "rows": owners(self.kernels, A, "rows"),
            "cols": cols,
            "proposals": proposals.struct(self.kernels),
            "grants": grants.struct(self.kernels),
            "progress": counts.progress,
        }
        if run.matched:
            self.kernels.launch("mark", len(A.own_cols), cols, matching.col_mate, self.taken)

    def make(self, account: Account, propose: Propose, sweeps: int = 1) -> None:
        """Propose until no free row has a free column. Collective.

        In the first `sweeps` rounds all own rows may propose, in the others those whose proposals
        of the round before were not granted. In the last sweep every free row must propose.
        """
        n, going_on = self.n_rows, np.zeros(0)
        while account.phases < sweeps or going_on.any():
            account.phases += 1
            every = account.phases <= sweeps
            state = self.state(account.phases)
            rows = np.bool_(every), self.lists[1], np.int64(self.n_rows if every else n)
            propose(state, account.phases, rows)
            everyone, numbers = self._read()
            account.edges = int(self.counts.field(numbers, "edges"))
            going_on = self.counts.field(everyone, "next")
            n = int(going_on[self.exchange.rank])
            self.lists[:2] = self.lists[1::-1]
            if self.counts.messages_of_all(everyone, _PROPOSALS).any():
                self._exchange(state, everyone)

    def _exchange(self, state: Any, everyone: Any) -> None:
        """Send proposals, then grants, then the sets of matched columns. Collective.

        Without these sets a row would propose to each column matched elsewhere, one in a round.
        """
        for number, kernel in ((_PROPOSALS, "grant"), (_GRANTS, "accept")):
            if number == _GRANTS:
                everyone, _ = self._read()
            counts = self.counts.messages_of_all(everyone, number)
            arrived, n = self.buffers[number].alltoallv(counts)
            self.kernels.launch(kernel, int(n), state, arrived, n)
        size, words = self.exchange.size, self.taken.size
        others = self.exchange.allgather_others(self.taken, np.full(size, words))
        arguments = np.int64(words), others, np.int32(size - 1)
        self.kernels.launch("unite", words, self.taken, *arguments)

    def _read(self) -> tuple[Any, list[int]]:
        numbers = self.counts.read()
        return self.exchange.allgather_numbers(numbers), numbers

    def state(self, turn: int) -> Any:
        """Return the argument of kernels, with a list of rows to write and a seed of this round."""
        seed = np.uint32((self.seed + 0x9E3779B9 * turn) & 0xFFFFFFFF)
        return self.kernels.struct("Proposals", **self._fields, next=self.lists[0], seed=seed)
