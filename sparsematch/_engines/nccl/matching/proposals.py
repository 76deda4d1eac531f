"""Rounds of proposals over the GPUs of all ranks: the part common to the heuristics.

Azad, Buluc, Distributed-memory algorithms for maximal cardinality matching using matrix algebra
(IEEE Cluster 2015). The kernels are those of `over_ranks/proposals.cu` of the back-end for a GPU,
which explains a round. Every GPU has a bit for each column that was matched when it began.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.cuda.core.thresholds import RARE
from sparsematch._engines.mpi.core.steps import Account
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import Counts, SendBuffers, capacity_for, owners
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Entries of a list up to which one thread scans it; a longer one is scanned by a warp.
SHORT = 32

#: Numbers of the send buffers in the counters.
_PROPOSALS, _GRANTS = 0, 1


class Proposals:
    """The rounds on one rank."""

    #: About how many entries each column has, in bytes: those of fewest are proposed to; None: any.
    degree: Any = None

    def __init__(
        self, A: DistributedCSR, matching: DistributedMatching, exchange: Exchange, run: Run
    ) -> None:
        xp, dtype = namespace(A.indptr), A.dtype
        self.exchange, self.seed, self.n_rows = exchange, run.seed, len(A.own_rows)
        self.kernels = compile.load("matching/over_ranks/proposals", dtype, RARE=RARE)
        self.counts = counts = Counts(self.kernels, exchange, xp, buffers=2, cleared=1)
        capacity = capacity_for(self.n_rows, A.local_nnz, exchange.size)
        proposals = SendBuffers(exchange, counts.messages(_PROPOSALS), 2, capacity, dtype)
        capacity = proposals.largest_capacity
        grants = SendBuffers(exchange, counts.messages(_GRANTS), 2, capacity, dtype)
        self.buffers = proposals, grants
        self.taken = bit_set(xp, A.n_cols)
        self.lists = [xp.empty(self.n_rows, dtype) for _ in range(2)]
        cols = owners(self.kernels, A, "cols")
        self._given = A, matching
        self._fields = {
            "taken": self.taken,
            "rows": owners(self.kernels, A, "rows"),
            "cols": cols,
            "proposals": proposals.struct(self.kernels),
            "grants": grants.struct(self.kernels),
            "progress": counts.progress,
        }
        if run.matched:
            self.kernels.launch("mark", len(A.own_cols), cols, matching.col_mate, self.taken)
        self._long, found = xp.empty(A.local_nnz // SHORT + 1, dtype), xp.zeros(1, np.int64)
        given = self.state(0), np.int64(SHORT), self._long, found
        self.kernels.launch("list_long", self.n_rows, *given)
        self._n_long = np.int64(int(found[0]))

    def make(self, account: Account, classes: tuple[int, ...] = ()) -> None:
        """Propose until no free row has a free column. Collective."""
        # In the first rounds, one for each of the `classes`, own rows of up to that number of
        # entries may propose, then all; in the others those whose last proposals were not granted.
        n, going_on, largest = self.n_rows, np.zeros(0), np.iinfo(np.int64).max
        while account.phases <= len(classes) or going_on.any():
            upto = np.int64([*classes, largest][min(account.phases, len(classes))])
            every = account.phases <= len(classes)
            account.phases += 1
            state = self.state(account.phases)
            self._propose(state, every, self.n_rows if every else n, upto)
            everyone, numbers = self.counts.read_all()
            account.edges = int(self.counts.field(numbers, "edges"))
            going_on = self.counts.field(everyone, "next")
            n = int(going_on[self.exchange.rank])
            self.lists.reverse()
            if self.counts.messages_of_all(everyone, _PROPOSALS).any():
                self._exchange(state, everyone)

    def _propose(self, state: Any, every: bool, n: int, upto: np.int64) -> None:
        """Let own rows of up to `upto` entries propose: every one, or n that are listed."""
        short, listed = np.int64(SHORT), (self.lists[1], np.int64(n))
        self.kernels.launch("propose", n, state, np.bool_(every), *listed, min(upto, short))
        if upto > short:
            some = (self._long, self._n_long) if every else listed
            self.kernels.launch("propose_long", 32 * int(some[1]), state, *some, short, upto)

    def _exchange(self, state: Any, everyone: Any) -> None:
        """Send proposals, then grants, then the sets of matched columns. Collective."""
        # Without these sets a row would propose to each column matched elsewhere, one in a round.
        for number, kernel in ((_PROPOSALS, "grant"), (_GRANTS, "accept")):
            if number == _GRANTS:
                everyone, _ = self.counts.read_all()
            counts = self.counts.messages_of_all(everyone, number)
            arrived, n = self.buffers[number].alltoallv(counts)
            self.kernels.launch(kernel, int(n), state, arrived, n)
        size, words = self.exchange.size, self.taken.size
        others = self.exchange.allgather_others(self.taken)
        arguments = np.int64(words), others, np.int32(size - 1)
        self.kernels.launch("unite", words, self.taken, *arguments)

    def state(self, turn: int) -> Any:
        """Return the argument of kernels, with a list of rows to write and a seed of this round."""
        seed = np.uint32((self.seed + 0x9E3779B9 * turn) & 0xFFFFFFFF)
        rest = {"degree": self.degree, "next": self.lists[0], "seed": seed}
        return self.kernels.struct("Proposals", *self._given, **self._fields, **rest)
