"""Alternating forests over the GPUs of all ranks, level by level.

MCM-DIST (Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching in bipartite
graphs, IPDPS 2016). The kernels are those of `over_ranks/forest.cu` of the back-end for a GPU,
which says what a level is, and the invariants. Every GPU has the mates of all columns, so a level
is one exchange, before which the host reads how much goes to whom.
"""

from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.mpi.core.steps import Account
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import Counts, Outbox, owners, room_for
from sparsematch._types.arrays import BoolArray, IndexArray, namespace
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Entries from which a list is cut into parts of as many, for a warp each.
LONG = 512

#: Levels of a phase from which trees without a path stay: to plant them again takes as many.
DEEP = 12

#: A phase that has found paths ends when the frontier has fallen to this part of the widest: what
#: is left is found by the next, and a level takes as long however few rows it has.
NARROW = 64

#: Threads of a block, and of a launch that scans lists: as many as a GPU has at a time. Each warp
#: sends what it has collected at its end, so more of them would send less at a time.
THREADS, RESIDENT = 256, 1 << 18

_CLAIMS, _WALKERS = 0, 1


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
    n_roots, most : int
        Trees of all ranks, and the paths that they can have at most.
    found, paths : int
        Leaves found so far on all ranks, of which a tree may have several; paths augmented.
    """

    def __init__(
        self, A: DistributedCSR, row_mate: IndexArray, col_mate: IndexArray, exchange: Exchange
    ) -> None:
        xp, dtype, nnz = namespace(A.indptr), A.dtype, A.local_nnz
        self._xp, self.A, self.exchange, self.account = xp, A, exchange, Account()
        n_rows = len(A.own_rows)
        self.lanes = lanes_of(nnz / max(n_rows, 1))
        macros = {"LANES": self.lanes, "LONG": LONG, "THREADS": THREADS}
        self.kernels = compile.load("matching/over_ranks/forest", dtype, **macros)
        self.counts = Counts(self.kernels, exchange, xp, boxes=2, fresh=3)
        room = room_for(A.n_cols, nnz, exchange.size)
        self._claims = Outbox(exchange, self.counts.box(_CLAIMS), 3, room, dtype)
        # pairs of indices: a row and its root, or its new mate
        self._queue, self._other = (xp.empty(2 * n_rows, dtype) for _ in range(2))
        self._own_col_mate = col_mate
        self._fields: dict[str, Any] = {
            "indptr": A.indptr,
            "indices": A.indices,
            "row_mate": row_mate,
            "parent": xp.empty(n_rows, dtype),
            "col_mate": self._of_all_columns(col_mate),
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

    def _of_all_columns(self, col_mate: IndexArray) -> IndexArray:
        """Return the mates of all columns. Collective."""
        if self.exchange.size == 1:
            return col_mate
        own = self.A.own_cols
        whole: IndexArray = self._xp.empty(self.A.n_cols, self.A.dtype)
        whole[own.start : own.stop] = col_mate
        self.exchange.complete(whole, self.A.col_starts)
        return whole

    def _set(self, **fields: Any) -> None:
        """Change fields of what kernels take."""
        self._fields |= fields
        lists = {"queue": self._queue, "changes": self._other}
        self._state = self.kernels.struct("Forest", **self._fields, **lists)

    def plant(self, free_cols: int | None = None) -> bool:
        """Make the free rows that have entries roots; return whether there are some. Collective.

        `free_cols`: columns that might still be matched, if that is known.
        """
        xp, dtype, n_rows = self._xp, self.A.dtype, len(self.A.own_rows)
        none = Outbox(self.exchange, self.counts.box(_WALKERS), 2, 0, dtype)
        walkers = {"walkers": none.struct(self.kernels)}
        nothing = dict.fromkeys(("done", "ended", "leaf", "above"))
        self._set(**nothing, **walkers)
        self._launch("plant", n_rows)
        everyone, _ = self._read()
        roots = self.counts.field(everyone, "tail")
        self.n_roots, self.width = int(roots.sum()), int(roots[self.exchange.rank])
        self.most = self.n_roots if free_cols is None else min(self.n_roots, free_cols)
        room = min(self.n_roots, max(n_rows, len(self.A.own_cols)))
        self._walkers = Outbox(self.exchange, self.counts.box(_WALKERS), 2, room, dtype)
        self._set(
            ended=bit_set(xp, self.n_roots),
            done=bit_set(xp, self.n_roots),
            leaf=xp.full(self.n_roots, np.iinfo(dtype).max, dtype),
            above=xp.empty(self.n_roots, dtype),
            walkers=self._walkers.struct(self.kernels),
        )
        before = np.int64(roots[: self.exchange.rank].sum())
        self._launch("number_roots", self.width, before)
        self._launch("advance", 1)
        return self.most > 0

    def grow(self) -> bool:
        """Grow until no tree can; return whether one has found a path. Collective.

        When some have, it ends with twice the level of the last, when more vertices are in no tree
        in the next phase; or when the frontier has become narrow; or as soon as there can be no
        more paths. Reads: lists, mates. Writes: trees, parents, leaves. Time: O(entries of what is
        reached).
        """
        before, again, level, last, width, widest = self.found, False, 0, 0, 1, 1
        enough = before + self.most - self.paths  # leaves, if each tree has one
        while width and (not last or again or (level <= 2 * last and self.found < enough)):
            if last and not again and width * NARROW < widest:
                break
            level += not again
            lanes = min(self.width * self.lanes, RESIDENT)
            self._launch("expand", lanes, np.bool_(again))
            self._launch("expand_parts", RESIDENT)
            everyone, numbers = self._read()
            again = bool(self.counts.field(everyone, "again").any())
            grown = self.counts.field(everyone, "tail") - self.counts.field(everyone, "end")
            arrived, sent = self._deliver(everyone)
            found = int(self.counts.field(everyone, "found").sum())
            if found > self.found or self.counts.field(everyone, "hopes").any():
                self._agree()
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
        """Augment along one path of every tree that has found some. Collective.

        Reads: leaves, parents. Writes: mates. Time: O(roots, and own rows of paths), and an
        exchange for each link of the longest path that leads to another rank.
        """
        self.exchange.least(self._fields["leaf"])  # of several leaves the same on all ranks
        self.counts.progress[6:7].fill(0)  # changes
        self._launch("walk_from_leaves", self.n_roots, np.int64(self.n_roots))
        while True:
            everyone, numbers = self._read()
            walkers = self.counts.boxes(everyone, _WALKERS)
            if not walkers.any():
                break
            arrived, n = self._walkers.send(walkers)
            self._launch("walk_on", int(n), arrived, n)
        self.account.augmentations = int(self.counts.field(numbers, "paths"))
        self.account.path_edges = int(self.counts.field(numbers, "path_edges"))
        self.paths = int(self.counts.field(everyone, "paths").sum())
        self.found = int(self.counts.field(everyone, "found").sum())
        self._tail = int(self.counts.field(numbers, "tail"))
        self._publish(self.counts.field(everyone, "changes"))

    def _publish(self, changes: Any) -> None:
        """Let all ranks know the new mates of columns. Collective."""
        mine, n = self._other, np.int64(changes[self.exchange.rank])
        self._launch("set_columns", int(n), mine, n)
        if self.exchange.size > 1:
            arrived = self.exchange.swap([mine[: 2 * n]] * self.exchange.size, 2 * changes)
            n = np.int64(arrived.size // 2)
            self._launch("set_columns", int(n), arrived, n)

    def replant(self) -> None:
        """Release the trees that had a path; the others stay, or their roots only. Collective.

        What stays is the frontier. Time: O(own rows in trees).
        """
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
        """Write the mates of own columns, after augmentations."""
        own, mates = self.A.own_cols, self._fields["col_mate"]
        if mates is not self._own_col_mate:
            self._own_col_mate[:] = mates[own.start : own.stop]

    def cover(self, rows: BoolArray, cols: BoolArray) -> None:
        """Take own rows in trees out of a set, and write which own columns they have. Collective.

        No tree may have found a path.
        """
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
            self.exchange.add_up(kept)  # a column has one mate
        return kept

    def _deliver(self, everyone: Any) -> tuple[int, int]:
        """Exchange claims; return how many came, and how many were sent in all. Collective."""
        claims = self.counts.boxes(everyone, _CLAIMS)
        if not claims.any():
            return 0, 0
        arrived, n = self._claims.send(claims)
        self._launch("receive", int(n), arrived, n)
        return int(n), int(claims.sum())

    def _agree(self) -> None:
        """Let all ranks know which trees have a path. Collective."""
        size, ended = self.exchange.size, self._fields["ended"]
        words, others = ended.size, ended
        if size > 1:
            others = self.exchange.swap([ended] * size, [words] * size)
        self._launch("agree", words, others, np.int64(words), np.int32(size - 1))

    def _launch(self, kernel: str, n: int, *arguments: Any) -> None:
        self.kernels.launch(kernel, n, self._state, *arguments)

    def _read(self) -> tuple[Any, list[int]]:
        """Return what is counted on all ranks, and on this one. Collective; waits."""
        numbers = self.counts.read()
        return self.exchange.share(numbers), numbers
