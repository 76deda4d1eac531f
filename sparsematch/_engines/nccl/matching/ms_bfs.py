"""Maximum matching by phases of a multi-source search over all GPUs, with tree grafting.

MCM-DIST (Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching in bipartite
graphs, IPDPS 2016), and the grafting of Azad, Buluc, Pothen, A parallel tree grafting algorithm for
maximum cardinality matching in bipartite graphs (IPDPS 2015, Algorithm 3), top down: after a deep
phase the trees without a path stay, and all their rows are expanded again. The matching is maximum
when no tree finds a path, or no row or column is left that could be matched.
"""

from sparsematch._base.arrays import n_set
from sparsematch._engines.mpi.core.steps import step
from sparsematch._engines.nccl.matching.forest import Forest
from sparsematch._engines.registry import ByProducts, Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Searches from all free rows at once over all GPUs, level by level; trees are grafted."


def improve(
    A: DistributedCSR, matching: DistributedMatching, run: Run, before: ByProducts | None = None
) -> None:
    """Make the matching maximum. Collective."""
    # Reads: the matrix. Writes: both mates. Workspace: five indices for each own row; an index and
    # two bits for each column, and two indices for each free row, of all ranks; send and receive
    # buffers: three indices for each vertex of the other ranks, or for an eighth of the entries.
    # Time: O(phases nnz / ranks), and an exchange a level.
    with step("ms_bfs", A, matching.row_mate, run) as (exchange, account):
        forest = Forest(A, matching, exchange, account)
        most = before.most_pairs if before and before.most_pairs is not None else A.n_cols
        matched = n_set(matching.row_mate >= 0)
        # once as many columns are matched as can be, no phase is needed that finds no path
        if forest.plant(most - exchange.allreduce(matched)[0]):
            account.phases = 1
            while forest.grow():
                forest.augment()
                if forest.paths == forest.most:
                    break
                forest.replant()
                account.phases += 1
        forest.finish()
