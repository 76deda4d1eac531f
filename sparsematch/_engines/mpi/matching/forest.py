"""Alternating forests over all ranks, grown level by level from many roots at once.

The core of MCM-DIST (Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching in
bipartite graphs, IPDPS 2016, Algorithm 2), with rows of the matrix in blocks instead of a grid of
processes. A level: each rank reads the lists of its frontier and sends claims (minor, parent, root)
to the owners of the minors; an owner gives a minor to the first claim, by rank and then by order,
and sends the mate of the minor, with its root, to the owner of the mate, which is in the next
frontier. A minor without mate ends an augmenting path of the root: that is sent to its owner. Where
a rank owns minor and mate, it goes on without an exchange, so that a level may be several.

Invariant: trees are disjoint, since a minor is given once and each mate has one minor. `seen` flags
touched minors of which this rank knows that they are given, so that each is claimed once by a rank.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.sides import Side, distinct, first_of_each
from sparsematch._types.arrays import UNMATCHED, IndexArray

_Array = NDArray[Any]

#: Levels that a rank may grow alone between two exchanges, at most.
_ALONE = 64

#: So many roots that have found a path are announced to all ranks in one level, at most.
_ANNOUNCED = 1 << 15


class Forest:
    """An alternating forest, and the part of this rank in it.

    Attributes
    ----------
    side : Side
        The lists of the majors, from which it grows.
    major_mate, minor_mate : ndarray
        Mates of the own vertices, numbered within the whole matrix.
    major_root, minor_root : ndarray
        The tree of each own vertex, named by its root, or -1.
    minor_parent, minor_before : ndarray
        The major from which each own minor was reached, and the mate that it had then, or -1.
    leaf : ndarray
        For an own root: the unmatched minor that its tree has found, or -1.
    levels, edges : int
        Levels that ended with an exchange, and own entries read.
    """

    def __init__(self, side: Side, major_mate: IndexArray, minor_mate: IndexArray) -> None:
        self.side, self.major_mate, self.minor_mate = side, major_mate, minor_mate
        self.major_root = np.full(side.n_majors, UNMATCHED, side.dtype)
        self.minor_root = np.full(side.n_minors, UNMATCHED, side.dtype)
        self.minor_parent = np.full(side.n_minors, UNMATCHED, side.dtype)
        self.minor_before = np.full(side.n_minors, UNMATCHED, side.dtype)
        self.leaf = np.full(side.n_majors, UNMATCHED, side.dtype)
        minors = side.touched.minors
        self.seen = np.zeros(minors.size, bool)
        self._touched_stamp = np.empty(minors.size, np.int32)
        self._own_stamp = np.empty(side.n_minors, np.int32)
        self._unannounced = np.empty(0, side.dtype)
        self.levels = self.edges = 0

    def plant(self) -> _Array:
        """Make every unmatched own major a root; return them, by place: the first frontier."""
        roots = np.flatnonzero(self.major_mate < 0)
        self.major_root[roots] = roots + self.side.first_major
        return roots

    def grow(self, frontier: _Array, *, prune: bool = True) -> None:
        """Grow level by level until no tree can. Collective.

        Reads: lists, mates. Writes: roots, parents, leaves. Time: O(entries of what is reached).

        Parameters
        ----------
        frontier : ndarray
            The own majors to begin with, by place.
        prune : bool, optional
            Whether a tree that has found a path stops growing.
        """
        nothing = np.empty(0, np.int64)
        while True:
            parts = self.side.slices_of(frontier)
            n, n_announced = self.side.exchange.largest(len(parts), self._unannounced.size)
            if n == 0:
                return
            if prune and n_announced:
                parts = self.side.slices_of(self._prune(frontier))
            self.levels += 1
            reached = [self._level(parts[k] if k < len(parts) else nothing) for k in range(n)]
            frontier = np.concatenate(reached)

    def _level(self, majors: _Array) -> _Array:
        """Grow from some majors of the frontier; return what is in the next one.

        A rank goes on alone as long as it owns what it reaches, up to a limit of levels and of
        entries; then claims and mates that belong to others are sent.
        """
        side, exchange = self.side, self.side.exchange
        nothing: tuple[_Array, ...] = (np.empty(0, side.dtype),) * 4
        claims, messages = [nothing], [nothing[:3]]
        left, limit = [majors], self.edges + side.slice_size
        for _ in range(_ALONE):
            part, *others = side.slices_of(left.pop()) or [majors[:0]]
            left += others
            mine, away = _split(self._claim(part), side.first_minor, side.n_minors)
            claims.append(away)
            mine, away = _split(self._accept(*mine), side.first_major, side.n_majors)
            messages.append(away)
            left.append(self._enter(*mine))
            if not left[-1].size or self.edges >= limit:
                break
        arrived = exchange.deliver(
            side.minor_starts, *map(np.concatenate, zip(*claims, strict=True))
        )
        messages.append(self._accept(*arrived))
        arrived = exchange.deliver(
            side.major_starts, *map(np.concatenate, zip(*messages, strict=True))
        )
        return np.concatenate([*left, self._enter(*arrived)])

    def _claim(self, majors: _Array) -> tuple[_Array, ...]:
        """Return the minors that majors lead to and this rank has not seen: claims.

        Each is a minor, the major that leads there, the mate of that, and its root.
        """
        minors, local = self.side.touched
        entries, counts = self.side.entries_of(majors)
        self.edges += entries.size
        found = local[entries]
        new = np.flatnonzero(~self.seen[found])
        new = new[first_of_each(found[new], self._touched_stamp)]
        found = found[new]
        self.seen[found] = True
        majors = np.repeat(majors, counts)[new]
        parents = (majors + self.side.first_major).astype(self.side.dtype)
        return minors[found], parents, self.major_mate[majors], self.major_root[majors]

    def _accept(
        self, minors: _Array, parents: _Array, before: _Array, roots: _Array
    ) -> tuple[_Array, ...]:
        """Give own minors to the first who claims them; return the messages to majors.

        To the owner of a mate: (mate, root, -1); to the owner of a root: (root, root, its leaf).
        """
        own = minors - self.side.first_minor
        fresh = np.flatnonzero(self.minor_root[own] < 0)
        fresh = fresh[first_of_each(own[fresh], self._own_stamp)]
        own, roots = own[fresh], roots[fresh]
        self.minor_root[own], self.minor_parent[own] = roots, parents[fresh]
        self.minor_before[own] = before[fresh]
        mates = self.minor_mate[own]
        ends = mates < 0
        leaves = np.where(ends, minors[fresh], UNMATCHED).astype(self.side.dtype, copy=False)
        return np.where(ends, roots, mates), roots, leaves

    def _enter(self, majors: _Array, roots: _Array, leaves: _Array) -> _Array:
        """Note the leaves of own roots, and return the own majors that trees have reached."""
        own = majors - self.side.first_major
        grows = leaves < 0
        self._note_leaves(own[~grows], leaves[~grows])
        own = own[grows]
        self.major_root[own] = roots[grows]
        return own

    def forget_announcements(self) -> None:
        """Announce no root of an earlier phase."""
        self._unannounced = self._unannounced[:0]

    def _note_leaves(self, roots: _Array, leaves: _Array) -> None:
        """Keep the first leaf of each own root."""
        without = self.leaf[roots] < 0
        roots, leaves = roots[without], leaves[without]
        self.leaf[roots[::-1]] = leaves[::-1]
        done = distinct(roots) + self.side.first_major
        self._unannounced = np.concatenate([self._unannounced, done.astype(self.side.dtype)])

    def _prune(self, frontier: _Array) -> _Array:
        """Drop majors whose trees have found a path, as far as ranks have announced them."""
        exchange = self.side.exchange
        share = max(1, _ANNOUNCED // exchange.size)
        announced, self._unannounced = self._unannounced[:share], self._unannounced[share:]
        done = exchange.everywhere(announced)
        if not done.size:
            return frontier
        return frontier[~np.isin(self.major_root[frontier], done)]


def _split(
    columns: tuple[_Array, ...], first: int, size: int
) -> tuple[tuple[_Array, ...], tuple[_Array, ...]]:
    """Part elements by whether the first of them, a vertex, is owned."""
    own = (columns[0] >= first) & (columns[0] < first + size)
    return tuple(c[own] for c in columns), tuple(c[~own] for c in columns)
