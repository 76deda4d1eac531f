"""Alternating forests over the GPUs of all ranks, level by level.

MCM-DIST (Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching in bipartite
graphs, IPDPS 2016). The kernels are those of `over_ranks/forest.cu` of the back-end for a GPU,
which explains levels and invariants. Every GPU has the mates of all columns, so a level is one
exchange, before which the host reads the counts of messages.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import BoolArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.mpi.core.exchange import abort_on_error
from sparsematch._engines.mpi.core.steps import Account
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import Counts, SendBuffers, capacity_for, owners
from sparsematch._types.labels import VertexCover
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Length above which a list is cut into parts, of this length, for a warp each; entries.
LONG = 512

#: Least depth of a phase after which trees without a path stay; levels: as many regrow them.
DEEP = 12

#: Least ratio of the widest frontier to the present one at which a phase that has found paths ends.
#: The next phase finds the others; a level of few rows takes as long as one of many.
NARROW = 64

#: Threads of a block.
THREADS = 256

#: Numbers of the send buffers in the counters.
_CLAIMS, _FOLLOWERS = 0, 1


class Forest:
    """The part of a forest on one rank: trees from all free rows."""

    # `width` bounds the rows of this rank's frontier; `n_roots` are all ranks' trees, `most` bounds
    # their paths, `found` counts their leaves, maybe several a tree, `paths` those augmented.
    def __init__(
        self, A: DistributedCSR, matching: DistributedMatching, exchange: Exchange, account: Account
    ) -> None:
        xp, dtype, nnz = namespace(A.indptr), A.dtype, A.local_nnz
        self._xp, self.A, self.exchange, self.account = xp, A, exchange, account
        n_rows = len(A.own_rows)
        mean = nnz / max(n_rows, 1)
        self.lanes = 2 if mean < 8 else 8 if mean < 32 else 32  # threads that share a list
        macros = {"LANES": self.lanes, "LONG": LONG, "THREADS": THREADS}
        self.kernels = compile.load("matching/over_ranks/forest", dtype, **macros)
        self.counts = Counts(self.kernels, exchange, xp, buffers=2, cleared=3)
        capacity = capacity_for(A.n_cols, nnz, exchange.size)
        self._claims = SendBuffers(exchange, self.counts.messages(_CLAIMS), 3, capacity, dtype)
        # pairs of indices: a row and its root, or its new mate
        self._queue, self._other = (xp.empty(2 * n_rows, dtype) for _ in range(2))
        self._own_col_mate = matching.col_mate
        self._fields: dict[str, Any] = {
            "row_mate": matching.row_mate,
            "parent": xp.empty(n_rows, dtype),
            "col_mate": exchange.allgatherv(matching.col_mate),
            "seen": bit_set(xp, A.n_cols),
            "reached": bit_set(xp, n_rows),
            "given": bit_set(xp, len(A.own_cols)),
            "parts": xp.empty(2 * (2 * nnz // LONG + 1), np.int64),
            "rows": owners(self.kernels, A, "rows"),
            "cols": owners(self.kernels, A, "cols"),
            "claims": self._claims.struct(self.kernels),
            "progress": self.counts.progress,
        }
        self.width = self.found = self.n_roots = self.most = self.paths = self._tail = 0
        self._deep = False

    def _set(self, **fields: Any) -> None:
        """Change fields of the argument of kernels."""
        self._fields |= fields
        lists = {"queue": self._queue, "changes": self._other}
        self._state = self.kernels.struct("Forest", self.A, **self._fields, **lists)

    def plant(self, free_cols: int | None = None) -> bool:
        """Make the free rows that have entries roots; return whether there are some. Collective."""
        # `free_cols`: an upper bound on the columns that can still be matched, if known.
        xp, dtype, n_rows = self._xp, self.A.dtype, len(self.A.own_rows)
        none = SendBuffers(self.exchange, self.counts.messages(_FOLLOWERS), 2, 0, dtype)
        nothing = dict.fromkeys(("done", "ended", "leaf", "above"))
        self._set(**nothing, followers=none.struct(self.kernels))
        self._launch("plant", n_rows)
        everyone, _ = self.counts.read_all()
        roots = self.counts.field(everyone, "tail")
        self.n_roots, self.width = int(roots.sum()), int(roots[self.exchange.rank])
        self.most = self.n_roots if free_cols is None else min(self.n_roots, free_cols)
        capacity = min(self.n_roots, max(n_rows, len(self.A.own_cols)))
        counts = self.counts.messages(_FOLLOWERS)
        self._followers = SendBuffers(self.exchange, counts, 2, capacity, dtype)
        n, followers = self.n_roots, self._followers.struct(self.kernels)
        leaf, above = xp.full(n, np.iinfo(dtype).max, dtype), xp.empty(n, dtype)
        trees = {"ended": bit_set(xp, n), "done": bit_set(xp, n), "leaf": leaf, "above": above}
        self._set(**trees, followers=followers)
        before = np.int64(roots[: self.exchange.rank].sum())
        self._launch("number_roots", self.width, before)
        self._launch("advance", 1)
        return self.most > 0

    def grow(self) -> bool:
        """Grow until no tree can; return whether one has found a path. Collective."""
        # Once some have, it ends at twice the level of the last one found, or when the frontier is
        # narrow (the next phase finds the others), or as soon as no more paths are possible.
        before, again, level, last, width, widest = self.found, False, 0, 0, 1, 1
        enough = before + self.most - self.paths  # leaves, if each tree has one
        while width and (not last or again or (level <= 2 * last and self.found < enough)):
            if last and not again and width * NARROW < widest:
                break
            level += not again
            # a warp flushes its claims when it ends: more of them would send smaller batches
            lanes = min(self.width * self.lanes, compile.FILLING)
            self._launch("expand", lanes, np.bool_(again))
            self._launch("expand_parts", compile.FILLING)
            everyone, numbers = self.counts.read_all()
            again = bool(self.counts.field(everyone, "again").any())
            grown = self.counts.field(everyone, "tail") - self.counts.field(everyone, "end")
            arrived, sent = self._send_claims(everyone)
            found = int(self.counts.field(everyone, "found").sum())
            if found > self.found or self.counts.field(everyone, "pending").any():
                ended, n_others = self._fields["ended"], np.int32(self.exchange.size - 1)
                others = self.exchange.allgather_others(ended)
                self._launch("agree", ended.size, others, np.int64(ended.size), n_others)
            if not again:
                self.width = int(grown[self.exchange.rank]) + arrived
                self._launch("advance", 1)
            width = max(int(again), int(grown.sum()) + sent)
            widest = max(width, widest)
            if found > self.found:
                self.found, last = found, level
        self._deep = level >= DEEP
        self.account.levels += level
        self.account.edges = int(self.counts.field(numbers, "edges"))
        return self.found > before

    def augment(self) -> None:
        """Augment along one path of every tree that has found some. Collective."""
        # all ranks choose the same of several leaves
        self.exchange.allreduce_array(self._fields["leaf"], "MIN")
        self.counts.progress[6:7].fill(0)  # changes
        self._launch("follow_from_leaves", self.n_roots, np.int64(self.n_roots))
        while True:
            everyone, numbers = self.counts.read_all()
            followers = self.counts.messages_of_all(everyone, _FOLLOWERS)
            if not followers.any():
                break
            arrived, n = self._followers.alltoallv(followers)
            self._launch("follow_arrived", int(n), arrived, n)
        self.account.augmentations = int(self.counts.field(numbers, "paths"))
        self.account.path_edges = int(self.counts.field(numbers, "path_edges"))
        self.paths = int(self.counts.field(everyone, "paths").sum())
        self.found = int(self.counts.field(everyone, "found").sum())
        self._tail = int(self.counts.field(numbers, "tail"))
        # the new mates of columns, to all ranks
        changes = self.counts.field(everyone, "changes")
        mine, n = self._other, np.int64(changes[self.exchange.rank])
        self._launch("set_columns", int(n), mine, n)
        if self.exchange.size > 1:
            arrived = self.exchange.allgather_others(mine[: 2 * n], 2 * changes)
            n = np.int64(arrived.size // 2)
            self._launch("set_columns", int(n), arrived, n)

    def replant(self) -> None:
        """Release the trees that had a path; the others stay, or their roots only. Collective."""
        # The rows that stay are the frontier. Time: O(own rows in trees).
        xp, old = self._xp, self._queue
        self._queue, self._other = self._other, old
        self.counts.progress[3:6].fill(0)  # begin, end, tail
        reached = bit_set(xp, len(self.A.own_rows))
        self._set(reached=reached, given=bit_set(xp, len(self.A.own_cols)))
        self._set(seen=self._retain(old, self._tail, self._deep))
        self._fields["leaf"].fill(np.iinfo(self.A.dtype).max)
        self.width = self._tail
        self._launch("advance", 1)

    def finish(self) -> None:
        """Write the mates of own columns after the last augmentation."""
        own, mates = self.A.own_cols, self._fields["col_mate"]
        if mates is not self._own_col_mate:
            self._own_col_mate[:] = mates[own.start : own.stop]

    def cover(self, rows: BoolArray, cols: BoolArray) -> None:
        """Take rows in trees out of a cover, add their columns; no tree has a path. Collective."""
        n = int(self.counts.field(self.counts.read(), "tail"))
        self.counts.progress[5:6].fill(0)  # tail
        old, self._queue = self._queue, self._other
        self._set()
        kept = self._retain(old, n, True)
        self._launch("cover", max(rows.size, cols.size), kept, rows, cols)

    def _retain(self, old: Any, n: int, graft: bool) -> Any:
        """Return a bit for each column that is matched with a row that stays. Collective."""
        kept = bit_set(self._xp, self.A.n_cols)
        self._launch("retain", n, old, np.int64(n), np.bool_(graft), kept)
        if graft:
            self.exchange.allreduce_array(kept, "SUM")  # a column has one mate
        return kept

    def _send_claims(self, everyone: Any) -> tuple[int, int]:
        """Exchange claims; return the numbers of those that arrived and of all. Collective."""
        claims = self.counts.messages_of_all(everyone, _CLAIMS)
        if not claims.any():
            return 0, 0
        arrived, n = self._claims.alltoallv(claims)
        self._launch("receive", int(n), arrived, n)
        return int(n), int(claims.sum())

    def _launch(self, kernel: str, n: int, *arguments: Any) -> None:
        self.kernels.launch(kernel, n, self._state, *arguments)


def vertex_cover(A: DistributedCSR, given: DistributedMatching) -> VertexCover | None:
    """Return the own part of the cover, or None on all ranks if there is a path. Collective."""
    # Rows not reached by alternating paths from free rows, and columns reached. Time: O(own
    # vertices and entries), and two exchanges a level.
    with abort_on_error(A.comm):
        xp = namespace(A.indptr)
        forest = Forest(A, given, Exchange(A.comm, xp), Account())
        if forest.plant() and forest.grow():
            return None
        rows, cols = given.row_mate >= 0, xp.empty(len(A.own_cols), bool)
        forest.cover(rows, cols)
        places = xp.flatnonzero(rows) + A.first_row, xp.flatnonzero(cols) + A.first_col
        return VertexCover(*(side.astype(A.dtype) for side in places))
