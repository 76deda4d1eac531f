"""Operations of one of several ranks in host memory, between two exchanges: see `operations`."""

from collections.abc import Callable
from typing import Any

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.operations import Operations
from sparsematch._engines.registry import operations


class RankOps(Operations):
    """Operations of one of several ranks in host memory, between two exchanges.

    The first six make kernels, which an exchange steps until no rank is busy; see the back-end for
    ranks. Owners: where the majors, or the minors, of each rank begin, and the own rank.
    """

    package = "matching"

    #: An alternating forest, given lists, mates, trees and parents, the owners of both sides, two
    #: limits, and whether a tree that has found a path stops growing.
    forest_over_ranks: Callable[..., Any]
    #: Augmentation along the paths of a forest, given the same arrays and owners, mates to write.
    augmentation_over_ranks: Callable[..., Any]
    #: The heuristic, given lists, mates and degrees of rows and columns, owners, limit and seed.
    karp_sipser_over_ranks: Callable[..., Any]
    #: Given lists, the owners of both sides, the ends of the lists of the result so far, these,
    #: whether to fill them or to count their lengths, and a limit.
    transposition_over_ranks: Callable[..., Any]
    #: Trimming of a digraph, given lists, counts of predecessors, levels to write, owners, a limit.
    trimming_over_ranks: Callable[..., Any]
    #: Label propagation in a directed graph, given lists, labels, the owners, a limit.
    propagation_over_ranks: Callable[..., Any]
    #: Write the stable order of keys by owner, and how many each owns, given owners, keys, number.
    owner_order: Callable[..., None]
    #: Write the places of elements in the lists of their keys, given these, their number, and the
    #: ends of the lists, moved on.
    places_in_lists: Callable[[IndexArray, int, IndexArray, IndexArray], None]


def on_rank() -> RankOps:
    """Return those of the back-end for host memory, the only one that has them."""
    return operations(RankOps, "numpy")
