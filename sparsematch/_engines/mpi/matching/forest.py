"""Alternating forests over all ranks, grown from many roots at once.

The core of MCM-DIST (Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching in
bipartite graphs, IPDPS 2016, Algorithms 2 and 4), with rows of the matrix in blocks instead of a
grid of processes. Between exchanges the compiled kernel of a rank (`over_ranks/forest.hpp` of the
back-end for host memory) grows trees through its own vertices. Claims on minors of other ranks
(minor, parent, the parent's mate, root) are sent to their owners; a minor joins the tree of the
first claim, by rank and then by order, and its owner sends the mate to the rank that owns it, where
the tree grows on. A minor without mate ends an augmenting path; the owner of the root gets its
number. An exchange carries all these messages, and whether the sender is busy, so the number of
exchanges is about the number of times that a path changes ranks.

Invariant: trees are disjoint, since a minor joins one tree and each mate has one minor.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.rank_operations import on_rank
from sparsematch._types.labels import VertexCover
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Most roots with a path announced to all ranks in one exchange; roots; bounds the send buffers.
_ANNOUNCED = 1 << 15


class Forest:
    """An alternating forest, and the part of this rank in it."""

    # It grows from the unmatched majors of `side`, given the mates of the own vertices, numbered
    # within the whole matrix. If `prune`, a tree that has found a path stops growing.
    def __init__(
        self, side: Side, major_mate: IndexArray, minor_mate: IndexArray, *, prune: bool = True
    ) -> None:
        self.side, self.major_mate, self.minor_mate = side, major_mate, minor_mate
        #: The tree of each own vertex, in this rank's numbering, or -1. Leaf: of an own root, the
        #: unmatched minor that its tree has found.
        self.major_tree, self.leaf = (np.empty(side.n_majors, side.dtype) for _ in range(2))
        #: Parent: the major from which each own minor was reached; before: its mate then.
        self.minor_tree, self.minor_parent, self.minor_before = (
            np.empty(side.n_minors, side.dtype) for _ in range(3)
        )
        limits = side.slice_size, max(1, _ANNOUNCED // side.exchange.size)
        self._kernel = on_rank().forest_over_ranks(self.arrays, *side.owners, *limits, prune)
        self._kernel.plant()
        self.levels = 0  #: Exchanges in which it grew.

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays, as arguments of kernels."""
        mates = self.major_mate, self.minor_mate
        trees = self.major_tree, self.minor_tree
        links = self.minor_parent, self.minor_before
        return (self.side.indptr, self.side.indices), (mates, trees, links), self.leaf

    @property
    def edges(self) -> int:
        """Own entries read."""
        return int(self._kernel.edges())

    def grow(self) -> bool:
        """Grow until no tree can; return whether one has found a path. Collective."""
        exchange = self.side.exchange
        self.levels += exchange.run_until_quiescent(self._kernel) - 1
        return exchange.any(self._kernel.has_found())

    def release(self) -> None:
        """Release the trees that had a path; the others continue to grow. Collective."""
        # Time: O(own vertices), and in `grow` the entries of the majors that stay.
        roots, lookup = self._kernel.roots(), self.side.exchange.lookup
        self._kernel.release(lookup(self.side.major_starts, roots, self.leaf >= 0))

    def augment(self) -> tuple[int, int]:
        """Augment along the paths of Algorithm 4; return paths from own roots, own path edges."""
        # Collective. Each rank follows paths as far as it owns the minors: over_ranks/augment.hpp.
        make, mates = on_rank().augmentation_over_ranks, (self.major_mate, self.minor_mate)
        kernel = make(self.arrays, *mates, *self.side.owners)
        self.side.exchange.run_until_quiescent(kernel)
        return kernel.paths(), 2 * kernel.pairs() - kernel.paths()


def vertex_cover(A: DistributedCSR, given: DistributedMatching) -> VertexCover | None:
    """Return the own part of the cover, or None on all ranks if there is a path. Collective."""
    # Rows not reached by alternating paths from free rows, and columns reached. Time: O(own
    # vertices and entries), and two exchanges a level.
    with abort_on_error(A.comm):
        side = Side.of_rows(A, Exchange(A.comm))
        forest = Forest(side, given.row_mate, given.col_mate, prune=False)
        if forest.grow():
            return None
        rows = np.flatnonzero(forest.major_tree < 0) + A.first_row
        cols = np.flatnonzero(forest.minor_tree >= 0) + A.first_col
        return VertexCover(rows.astype(A.dtype), cols.astype(A.dtype))
