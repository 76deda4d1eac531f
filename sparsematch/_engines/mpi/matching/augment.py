"""Augmentation along all paths of a forest at once.

Path-parallel, as Algorithm 4 of Azad, Buluc (IPDPS 2016): each path is followed from its leaf to
its root, by each rank as far as it owns the minors (`over_ranks/augment.hpp` of the back-end for
host memory). Trees are disjoint, so paths are.
"""

from sparsematch._engines.mpi.matching.forest import Forest
from sparsematch._engines.rank_operations import RankOps
from sparsematch._engines.registry import operations


def augment(forest: Forest) -> tuple[int, int]:
    """Augment along the path to each leaf; return the paths from own roots, and own path edges.

    Reads: leaves, parents. Writes: both mates. Collective. Time: O(own vertices of paths).
    """
    exchange = forest.side.exchange
    mates = forest.major_mate, forest.minor_mate
    kernel = operations(RankOps, "numpy").augmentation(
        forest.arrays, mates, forest.starts, exchange.rank
    )
    exchange.run_until_quiescent(kernel)
    return kernel.paths(), 2 * kernel.pairs() - kernel.paths()
