"""Rounds of proposals over the GPUs of all ranks: what the starts share.

Azad, Buluc, Distributed-memory algorithms for maximal cardinality matching using matrix algebra
(IEEE Cluster 2015). The kernels are those of `over_ranks/proposals.cuh` of the back-end for a GPU,
which says what a round is. Every GPU knows of all columns whether they were matched when the round
began: a bit each.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.mpi.core.steps import Account
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import Counts, Outbox, owners, room_for
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Launches the kernels of a round, given the state, the number of the round, and what they look at:
#: whether at all own rows, a list of rows, how many.
Propose = Callable[[Any, int, tuple[np.bool_, Any, np.int64]], None]

_ASKS, _GRANTS = 0, 1


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
        self.counts = Counts(self.kernels, exchange, xp, boxes=2, fresh=2)
        room = room_for(self.n_rows, A.local_nnz, exchange.size)
        asks = Outbox(exchange, self.counts.box(_ASKS), 2, room, dtype)
        grants = Outbox(exchange, self.counts.box(_GRANTS), 2, asks.largest_room, dtype)
        self.boxes = asks, grants
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
            "asks": self.boxes[_ASKS].struct(self.kernels),
            "grants": self.boxes[_GRANTS].struct(self.kernels),
            "progress": self.counts.progress,
        }
        if run.warm or run.steps:
            self.kernels.launch("mark", len(A.own_cols), cols, matching.col_mate, self.taken)

    def make(self, account: Account, propose: Propose, sweeps: int = 1) -> None:
        """Propose until no free row has a free column. Collective.

        So many rounds look at all own rows, the others at those that asked in the round before. The
        last sweep lets every free row propose.
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
            if self.counts.boxes(everyone, _ASKS).any():
                self._settle(state, everyone)

    def _settle(self, state: Any, everyone: Any) -> None:
        """Let owners choose, rows know, and all know what is matched. Collective.

        Else a row would propose, one in a round, to all columns that others have taken before.
        """
        arrived, n = self.boxes[_ASKS].send(self.counts.boxes(everyone, _ASKS))
        self.kernels.launch("grant", int(n), state, arrived, n)
        everyone, _ = self._read()
        arrived, n = self.boxes[_GRANTS].send(self.counts.boxes(everyone, _GRANTS))
        self.kernels.launch("accept", int(n), state, arrived, n)
        size, words = self.exchange.size, self.taken.size
        others = self.exchange.swap([self.taken] * size, [words] * size)
        arguments = np.int64(words), others, np.int32(size - 1)
        self.kernels.launch("unite", words, self.taken, *arguments)

    def _read(self) -> tuple[Any, list[int]]:
        numbers = self.counts.read()
        return self.exchange.share(numbers), numbers

    def state(self, turn: int) -> Any:
        """Return what kernels take, with a list of rows to write and a seed of this round."""
        seed = np.uint32((self.seed + 0x9E3779B9 * turn) & 0xFFFFFFFF)
        return self.kernels.struct("Proposals", **self._fields, next=self.lists[0], seed=seed)
