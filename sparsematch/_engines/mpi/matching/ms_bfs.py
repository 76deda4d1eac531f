"""Maximum matching by phases of a multi-source search over all ranks, with tree grafting.

MCM-DIST (Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching in bipartite
graphs, IPDPS 2016), and the grafting of Azad, Buluc, Pothen, A parallel tree grafting algorithm for
maximum cardinality matching in bipartite graphs (IPDPS 2015, Algorithm 3). A phase grows a forest
(forest.py), augments along a path in every tree that has found one, and releases the vertices of
these trees; trees without a path stay, and grow into released vertices. When no tree
finds a path, none exists.

Names: active X vertices are majors of trees that stay, renewable Y vertices are released minors.
Invariant: each visited minor is in a tree without a path, or in a tree of this phase.
"""

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.sides import Before, Side
from sparsematch._engines.mpi.core.steps import step
from sparsematch._engines.mpi.matching.forest import Forest
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = (
    "Searches from all free rows at once over all ranks, each as far as it can; trees are grafted."
)

#: Least ratio of free rows to columns at which searches start from these; they need the transpose.
TRANSPOSE_GAIN = 4


def count_free(exchange: Exchange, *mates: IndexArray) -> list[int]:
    """Count the unmatched vertices of each kind on all ranks. Collective."""
    return exchange.allreduce(*(int(np.count_nonzero(mate < 0)) for mate in mates))


def from_columns(free_rows: int, free_cols: int) -> bool:
    """Tell whether searches start from the free columns."""
    return 0 < TRANSPOSE_GAIN * free_cols < free_rows


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run, before: Before) -> None:
    """Make the matching maximum. Collective."""
    # Reads: the matrix. Writes: both mates. Workspace: four numbers per own row, three per own
    # column, one for eight own entries, and message buffers. Time: O(phases nnz / ranks), and an
    # exchange for each time that the longest path of a phase changes ranks.
    with step("ms_bfs", A, matching.row_mate, run) as (exchange, account):
        side, mates = Side.of_rows(A, exchange), (matching.row_mate, matching.col_mate)
        free_rows, free_cols = count_free(exchange, *mates)
        if from_columns(free_rows, free_cols):
            side, mates = side.transposed(run, before), mates[::-1]
        if free_rows and free_cols:
            forest, account.phases = Forest(side, *mates), 1
            while forest.grow():
                paths, edges = forest.augment()
                account.augmentations += paths
                account.path_edges += edges
                forest.release()
                account.phases += 1
            account.levels, account.edges = forest.levels, forest.edges
