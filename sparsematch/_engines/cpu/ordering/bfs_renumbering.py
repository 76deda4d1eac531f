"""A copy of a graph in breadth-first order: neighbours in the graph are near in memory.

See locality.hpp.
"""

from dataclasses import dataclass, replace

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._types.arrays import IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching


@dataclass(frozen=True, slots=True)
class Renumbered:
    """The copy, a matching of it, and the way back.

    Attributes
    ----------
    graph : BipartiteCSR
        The original with both sides renumbered.
    matching : Matching
        A matching of it.
    major_order, minor_order : ndarray
        The majors and the minors in the new order.
    major_place : ndarray
        The new number of each major.
    """

    graph: BipartiteCSR
    matching: Matching
    major_order: IndexArray
    major_place: IndexArray
    minor_order: IndexArray

    def take(self, matching: Matching) -> None:
        """Carry a matching of the original into the copy."""
        _, given = self.graph.orient(matching.row_mate, matching.col_mate)
        own = self.graph.orient(self.matching.row_mate, self.matching.col_mate)
        _core.permute_matching(self.major_place, self.minor_order, given, *own)

    def give(self, matching: Matching, workers: int) -> "Renumbered":
        """Carry the matching of the copy back to the original, and return what `carry_back` needs.

        `matching` may be the one whose arrays `renumber` was given.
        """
        minor_order = self.minor_order.copy()
        found = self.graph.orient(self.matching.row_mate, self.matching.col_mate)
        mates = self.graph.orient(matching.row_mate, matching.col_mate)
        _core.unpermute_matching(self.major_order, minor_order, *found, *mates, workers)
        nothing = minor_order[:0].copy()
        kept = (nothing, minor_order) if self.graph.flipped else (self.major_order, nothing)
        return replace(self, major_order=kept[0], major_place=nothing, minor_order=kept[1])

    def carry_back(self, labels: BlockLabels) -> BlockLabels:
        """Carry the groups of the copy's rows back to those of the original."""
        if labels.n_square == 1 and self.matching.is_perfect:
            return labels  # all rows are in one
        group = np.empty_like(labels.row_group)
        group[self.minor_order if self.graph.flipped else self.major_order] = labels.row_group
        return BlockLabels(group, labels.n_square)


def renumber(
    graph: BipartiteCSR, room: Matching, transposed: BipartiteCSR, workers: int
) -> Renumbered:
    """Copy the graph in breadth-first order, with the empty matching. Uses up the transpose, whose indices it replaces.

    Workspace: an index per entry and per major, and the arrays of `room`, a matching whose values
    are lost: the places of the majors and the order of the minors stay in them. Time: O(n_rows +
    n_cols + nnz).
    """
    major_place, minor_order = graph.orient(room.row_mate, room.col_mate)
    major_order, indptr = np.empty(graph.n_major + 1, graph.dtype), np.empty_like(graph.indptr)
    lists = graph.n_minor, graph.indptr, graph.indices, transposed.indptr, transposed.indices
    _core.renumber(*lists, major_order, major_place, minor_order, indptr, workers)
    copy = BipartiteCSR(
        graph.n_rows, graph.n_cols, indptr, transposed.indices, graph.backend, graph.flipped
    )
    return Renumbered(copy, Matching.start(copy), major_order[:-1], major_place, minor_order)
