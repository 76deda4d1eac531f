"""A copy of a graph in breadth-first order: neighbours in the graph are near in memory. See locality.hpp."""

from dataclasses import dataclass, replace

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.step import transpose
from sparsematch._engines.registry import Run
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
    major_place : ndarray
        The new number of each major.
    minor_order : ndarray
        The minors in the new order.
    """

    graph: BipartiteCSR
    matching: Matching
    major_place: IndexArray
    minor_order: IndexArray

    def take(self, matching: Matching) -> None:
        """Carry a matching of the original into the copy."""
        given, _ = self.graph.orient(matching.row_mate, matching.col_mate)
        own = self.graph.orient(self.matching.row_mate, self.matching.col_mate)
        _core.carry(self.major_place, self.minor_order, given, *own)

    def give(self, matching: Matching, workers: int) -> "Renumbered":
        """Carry the matching of the copy back to the original, and return what `carry_back` needs.

        `matching` may be the one whose arrays `renumber` was given.
        """
        minor_order = self.minor_order.copy() if self.graph.flipped else self.minor_order[:0].copy()
        found, _ = self.graph.orient(self.matching.row_mate, self.matching.col_mate)
        mates = self.graph.orient(matching.row_mate, matching.col_mate)
        _core.restore(self.major_place, self.minor_order, found, *mates, workers)
        return replace(self, minor_order=minor_order)

    def carry_back(self, labels: BlockLabels) -> BlockLabels:
        """Carry the groups of the copy's rows back to those of the original."""
        if not self.graph.flipped:
            return BlockLabels(labels.row_group[self.major_place], labels.n_square)
        group = np.empty_like(labels.row_group)
        group[self.minor_order] = labels.row_group
        return BlockLabels(group, labels.n_square)


def renumber(graph: BipartiteCSR, room: Matching, run: Run) -> Renumbered:
    """Copy the graph in breadth-first order, with the empty matching. Uses up the transpose.

    Workspace: the transpose and the copy at one time, an index per major, and the arrays of `room`, a matching whose
    values are lost: the order of the minors stays in one of them. Time: O(nnz).
    """
    transposed = transpose(graph, run)
    scratch, minor_order = graph.orient(room.row_mate, room.col_mate)
    major_place = np.empty(graph.n_major, graph.dtype)
    indptr, indices = np.empty_like(graph.indptr), np.empty(graph.nnz, graph.dtype)
    lists = graph.n_minor, graph.indptr, graph.indices, transposed.indptr, transposed.indices
    _core.renumber(*lists, scratch, major_place, minor_order, indptr, indices, run.workers)
    del transposed, lists
    run.transposed = None  # the finishers need its room
    copy = BipartiteCSR(graph.n_rows, graph.n_cols, indptr, indices, graph.backend, graph.flipped)
    return Renumbered(copy, Matching.start(copy), major_place, minor_order)
