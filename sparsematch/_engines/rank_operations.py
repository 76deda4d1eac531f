"""Operations of one of several ranks in host memory, between two exchanges: see `operations`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sparsematch._types.arrays import IndexArray


@dataclass(frozen=True, kw_only=True)
class RankOps:
    """Operations of one of several ranks in host memory, between two exchanges.

    The first six make kernels, which an exchange steps until no rank is busy; see `Kernel` of the
    back-end for ranks. Starts: the first major and the first minor of each rank.

    Attributes
    ----------
    forest
        An alternating forest, given lists, mates, trees and parents, the starts, the rank, limits,
        and whether a tree that has found a path stops growing.
    augmentation
        Augmentation along the paths of a forest, given the same arrays, mates to write, and the
        same starts.
    karp_sipser
        The heuristic, given lists, mates and degrees of rows and of columns, the starts, the rank,
        a limit and a seed.
    transposition
        Given lists, the starts, the rank, the ends of the lists of the result so far, these,
        whether to fill them or to count their lengths, and a limit.
    trimming
        Trimming of a directed graph, given lists, counts of predecessors, levels to write, the
        starts, the rank and a limit.
    propagation
        Label propagation in a directed graph, given lists, labels, the starts, the rank, a limit.
    owner_order
        Write the stable order of keys by owner, and how many each rank owns, given starts.
    places_in_lists
        Write the places of elements in the lists of their keys, given the ends of these, moved on.
    """

    forest: Callable[..., Any]
    augmentation: Callable[..., Any]
    karp_sipser: Callable[..., Any]
    transposition: Callable[..., Any]
    trimming: Callable[..., Any]
    propagation: Callable[..., Any]
    owner_order: Callable[[IndexArray, IndexArray, IndexArray, IndexArray], None]
    places_in_lists: Callable[[IndexArray, IndexArray, IndexArray], None]
