"""Maximal matching by proposals: each free row proposes to one column a round.

Azad, Buluc, Distributed-memory algorithms for maximal cardinality matching using matrix algebra
(IEEE Cluster 2015), simple greedy. See proposals.py.
"""

from sparsematch._engines.mpi.core.steps import step
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Free rows propose to free columns, in rounds of one proposal a row."


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run, _: object = None) -> None:
    """Make the matching maximal. Collective."""
    # Reads: the matrix. Writes: both mates. Workspace: two indices for each own row, a bit for each
    # column, send buffers. Time: O(nnz / ranks), expected, in a few rounds.
    with step("cheap", A, matching.row_mate, run) as (exchange, account):
        Proposals(A, matching, exchange, run).make(account)
