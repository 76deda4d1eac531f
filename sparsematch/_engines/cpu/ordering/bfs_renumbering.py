"""A copy of a graph in breadth-first order: neighbours in the graph are near in memory.

The search is in bfs_renumbering.hpp.
"""

from dataclasses import dataclass, replace

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._engines.cpu.core.workspace import Workspace
from sparsematch._types.arrays import IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching


@dataclass(frozen=True, slots=True)
class Renumbered:
    """The copy, a matching of it, and how its numbers map to those of the original.

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

    def permute_matching(self, matching: Matching) -> None:
        """Write a matching of the original into that of the copy, which is empty."""
        _, given = self.graph.orient(matching.row_mate, matching.col_mate)
        own = self.graph.orient(self.matching.row_mate, self.matching.col_mate)
        _core.permute_matching(self.major_place, self.minor_order, given, own)

    def unpermute_matching(self, matching: Matching, workers: int) -> "Renumbered":
        """Write the matching of the copy into one of the original; return what `pull_labels` needs.

        `matching` may be the one whose mates `renumber` has used as workspace.
        """
        minor_order = self.minor_order.copy()
        found = self.graph.orient(self.matching.row_mate, self.matching.col_mate)
        mates = self.graph.orient(matching.row_mate, matching.col_mate)
        _core.unpermute_matching(self.major_order, minor_order, found, mates, workers)
        nothing = minor_order[:0].copy()
        kept = (nothing, minor_order) if self.graph.flipped else (self.major_order, nothing)
        return replace(self, major_order=kept[0], major_place=nothing, minor_order=kept[1])

    def pull_labels(self, labels: BlockLabels) -> BlockLabels:
        """Return the groups of the original's rows, given those of the copy's."""
        if labels.n_square == 1 and self.matching.is_perfect:
            return labels  # all rows are in one group
        group = np.empty_like(labels.row_group)
        group[self.minor_order if self.graph.flipped else self.major_order] = labels.row_group
        return BlockLabels(group, labels.n_square)


def renumber(
    graph: BipartiteCSR, workspace: Workspace, transposed: BipartiteCSR, workers: int
) -> Renumbered:
    """Copy the graph in breadth-first order, with the empty matching.

    The indices of the transpose are replaced by those of the copy; the places of the majors and the
    order of the minors stay in the workspace. Workspace beside it: an index per entry and per
    major. Time: O(n_rows + n_cols + nnz).
    """
    major_place, minor_order = graph.orient(*workspace)
    major_order, indptr = np.empty_like(major_place), np.empty_like(graph.indptr)
    back = transposed.indptr, transposed.indices
    _core.renumber(csr(graph), back, major_order, major_place, minor_order, indptr, workers)
    copy = BipartiteCSR(
        graph.n_rows, graph.n_cols, indptr, transposed.indices, graph.backend, graph.flipped
    )
    return Renumbered(copy, Matching.start(copy), major_order, major_place, minor_order)
