"""Alternating forests over the GPUs of all ranks, level by level.

MCM-DIST (Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching in bipartite
graphs, IPDPS 2016). The kernels are those of `over_ranks/forest.cu` of the back-end for a GPU,
which says what a level is, and the invariants. A level takes two exchanges, and as often the host
reads what the GPU has counted: how much goes to whom.
"""

from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import Counts, Outbox, owners, room_for
from sparsematch._engines.nccl.core.steps import Account
from sparsematch._types.arrays import BoolArray, IndexArray, namespace
from sparsematch._types.distributed import DistributedCSR

#: Entries from which a list is cut into parts of as many, for a warp each.
LONG = 2048

_CLAIMS, _STEPS = 0, 1


def lanes_of(mean: float) -> int:
    """Return how many threads share a list, given the mean length."""
    return 2 if mean < 8 else 8 if mean < 32 else 32


class Forest:
    """The part of a forest that one rank has: trees from all free rows.

    Attributes
    ----------
    account : Account
        Levels, entries, paths.
    width : int
        Rows of the frontier of this rank, at most.
    n_roots, found : int
        Trees, and the paths that were found so far, of all ranks.
    """

    def __init__(
        self, A: DistributedCSR, row_mate: IndexArray, col_mate: IndexArray, exchange: Exchange
    ) -> None:
        xp, dtype, nnz = namespace(A.indptr), A.dtype, A.local_nnz
        self._xp, self.A, self.exchange, self.account = xp, A, exchange, Account()
        n_rows, n_cols = len(A.own_rows), len(A.own_cols)
        lanes = lanes_of(nnz / max(n_rows, 1))
        self.kernels = compile.load("matching/over_ranks/forest", dtype, LANES=lanes, LONG=LONG)
        self.lanes, self.counts = lanes, Counts(self.kernels, exchange, xp, 2)
        room = room_for(A.n_cols - n_cols, nnz, exchange.size)
        self.boxes = (
            Outbox(exchange, self.counts.box(_CLAIMS), 4, room, dtype),
            Outbox(exchange, self.counts.box(_STEPS), 2, n_cols, dtype),
        )
        # letters of two numbers: a row and its root
        self.queue, self.other_queue = (xp.empty(2 * n_rows, dtype) for _ in range(2))
        self.fields: dict[str, Any] = {
            "indptr": A.indptr,
            "indices": A.indices,
            "row_mate": row_mate,
            "col_mate": col_mate,
            "nodes": xp.empty(4 * n_cols, dtype),
            "seen": bit_set(xp, A.n_cols),
            "parts": xp.empty(2 * (2 * nnz // LONG + 1), np.int64),
            "rows": owners(self.kernels, A, "rows"),
            "cols": owners(self.kernels, A, "cols"),
            "claims": self.boxes[_CLAIMS].struct(self.kernels),
            "steps": self.boxes[_STEPS].struct(self.kernels),
            "progress": self.counts.progress,
        }
        self.width = self.found = self.n_roots = self.n_rows_in_trees = 0
        self._set(done=None, leaf=None)

    def _set(self, **fields: Any) -> None:
        """Change fields of what kernels take."""
        self.fields |= fields
        self._state = self.kernels.struct("Forest", **self.fields, queue=self.queue)

    def plant(self) -> bool:
        """Make the free rows that have entries roots; return whether there are some. Collective."""
        xp, dtype = self._xp, self.A.dtype
        self._launch("plant", len(self.A.own_rows))
        everyone, _ = self._read()
        roots = self.counts.field(everyone, "tail")
        self.n_roots, rank = int(roots.sum()), self.exchange.rank
        leaf = xp.full(self.n_roots, np.iinfo(dtype).max, dtype)
        self._set(done=bit_set(xp, self.n_roots), leaf=leaf)
        self.width = int(roots[rank])
        self._launch("number_roots", self.width, np.int64(roots[:rank].sum()))
        self._launch("advance", 1, np.bool_(False))
        return self.n_roots > 0

    def grow(self) -> bool:
        """Grow until no tree can; return whether one has found a path. Collective.

        Reads: lists, mates. Writes: trees, parents, leaves. Time: O(entries of what is reached).
        """
        before = self.found
        while True:
            self.account.levels += 1
            everyone, numbers = self._expand(again=False)
            while self.counts.boxes(everyone, _CLAIMS).any():
                arrived, n = self.boxes[_CLAIMS].send(self.counts.boxes(everyone, _CLAIMS))
                self._launch("receive", int(n), arrived, n)
                if not self.counts.field(everyone, "again").any():
                    everyone, numbers = self._read()
                    break
                self._launch("advance", 1, np.bool_(True))
                everyone, numbers = self._expand(again=True)
            self.found = int(self.counts.field(everyone, "found").sum())
            if not self._advance(everyone, numbers):
                break
        self.account.edges = int(self.counts.field(numbers, "edges"))
        return self.found > before

    def _expand(self, again: bool) -> tuple[Any, list[int]]:
        self._launch("expand", self.width * self.lanes, np.bool_(again))
        self._launch("expand_parts", 1 << 18)
        return self._read()

    def _advance(self, everyone: Any, numbers: list[int]) -> bool:
        """Send rows to their owners; return whether there is a next frontier. Collective."""
        steps = self.counts.boxes(everyone, _STEPS)
        grown = self.counts.field(everyone, "tail") - self.counts.field(everyone, "end")
        self.width = int(grown[self.exchange.rank])
        if steps.any():
            self.width += int(self._deliver("append", everyone))
        self._launch("advance", 1, np.bool_(False))
        return bool(steps.any() or grown.any())

    def _deliver(self, kernel: str, everyone: Any) -> np.int64:
        """Send the boxes of steps, and give a kernel what arrives; return how many. Collective."""
        arrived, n = self.boxes[_STEPS].send(self.counts.boxes(everyone, _STEPS))
        self._launch(kernel, int(n), arrived, n)
        return n

    def augment(self) -> None:
        """Augment along one path of every tree that has found some. Collective.

        Reads: leaves, parents. Writes: both mates. Time: O(own columns), and an exchange for each
        link of the longest path that leads to another rank.
        """
        self.exchange.least(self.fields["leaf"])  # of several leaves the same on all ranks
        self._launch("walk_from_leaves", self.n_roots, np.int64(self.n_roots))
        while self._pass_on("walk_on"):
            pass
        self._launch("settle", len(self.A.own_cols))
        self._pass_on("set_rows")

    def _pass_on(self, kernel: str) -> bool:
        """Deliver what has been posted, if anything was; tell whether. Collective."""
        everyone, numbers = self._read()
        self.account.augmentations = int(self.counts.field(numbers, "paths"))
        self.account.path_edges = int(self.counts.field(numbers, "path_edges"))
        self.n_rows_in_trees = int(self.counts.field(numbers, "tail"))
        if not self.counts.boxes(everyone, _STEPS).any():
            return False
        arrived, n = self.boxes[_STEPS].send(self.counts.boxes(everyone, _STEPS))
        self.counts.box(_STEPS).fill(0)  # before the kernel posts
        self._launch(kernel, int(n), arrived, n)
        return True

    def graft(self) -> None:
        """Release the trees that had a path; the rows of the others are the frontier. Collective.

        Time: O(own columns, and own rows in trees).
        """
        old, n_old = self.queue, self.n_rows_in_trees
        self.queue, self.other_queue = self.other_queue, old
        self.counts.progress[:3].fill(0)
        kept = bit_set(self._xp, self.A.n_cols)
        n = max(len(self.A.own_cols), n_old)
        self._set()
        self._launch("retain", n, old, np.int64(n_old), kept)
        self.exchange.add_up(kept)  # an own bit is set on one rank at most
        self._set(seen=kept)
        self.fields["leaf"].fill(np.iinfo(self.A.dtype).max)
        self.width = n_old
        self._launch("advance", 1, np.bool_(False))

    def cover(self, rows: BoolArray, cols: BoolArray) -> None:
        """Take own rows in trees out of a set, and write which own columns are in one."""
        n = int(self.counts.field(self.counts.read(), "tail"))
        self._launch("uncover_rows", n, rows)
        self._launch("cover_columns", cols.size, cols)

    def _launch(self, kernel: str, n: int, *arguments: Any) -> None:
        self.kernels.launch(kernel, n, self._state, *arguments)

    def _read(self) -> tuple[Any, list[int]]:
        """Return what is counted on all ranks, and on this one. Collective; waits."""
        numbers = self.counts.read()
        return self.exchange.share(numbers), numbers
