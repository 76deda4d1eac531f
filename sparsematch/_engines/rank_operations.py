"""Operations of one of several ranks in host memory, between two exchanges: see `operations`."""

from collections.abc import Callable
from typing import Any

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.operations import Operations


class RankOps(Operations):
    """Operations of one of several ranks in host memory, between two exchanges.

    The first six make kernels, which an exchange steps until no rank is busy; see the
    back-end for ranks. Starts: the first major and the first minor of each rank.
    """

    package = "matching"

    #: An alternating forest, given lists, mates, trees and parents, the starts, the rank, limits,
    #: and whether a tree that has found a path stops growing.
    forest_over_ranks: Callable[..., Any]
    #: Augmentation along the paths of a forest, given the same arrays, mates to write, and the same
    #: starts.
    augmentation_over_ranks: Callable[..., Any]
    #: The heuristic, given lists, mates and degrees of rows and of columns, the starts, the rank, a
    #: limit and a seed.
    karp_sipser_over_ranks: Callable[..., Any]
    #: Given lists, the starts, the rank, the ends of the lists of the result so far, these, whether
    #: to fill them or to count their lengths, and a limit.
    transposition_over_ranks: Callable[..., Any]
    #: Trimming of a directed graph, given lists, counts of predecessors, levels to write, the
    #: starts, the rank and a limit.
    trimming_over_ranks: Callable[..., Any]
    #: Label propagation in a directed graph, given lists, labels, the starts, the rank, a limit.
    propagation_over_ranks: Callable[..., Any]
    #: Write the stable order of keys by owner, and how many each rank owns, given starts.
    owner_order: Callable[[IndexArray, IndexArray, IndexArray, IndexArray], None]
    #: Write the places of elements in the lists of their keys, given the ends of these, moved on.
    places_in_lists: Callable[[IndexArray, IndexArray, IndexArray], None]
