"""Maximal matching by proposals: each free row proposes to one column a round.

Azad, Buluc, Distributed-memory algorithms for maximal cardinality matching using matrix algebra
(IEEE Cluster 2015), simple greedy. The kernels are those of `over_ranks/proposals.cu` of the
back-end for a GPU.
"""

from typing import Any

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.mpi.core.steps import step
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Free rows propose to free columns, in rounds of one proposal a row."

#: Entries of a list scanned by one thread; longer lists are then scanned by a warp.
TRIES = 64


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run, _: object = None) -> None:
    """Make the matching maximal. Collective.

    Reads: the matrix. Writes: both mates. Workspace: three indices for each own row, a bit for each
    column, send buffers. Time: O(nnz / ranks), expected, in a few rounds.
    """
    with step("cheap", A, matching.row_mate, run, Exchange) as (exchange, account):
        kernels = compile.load("matching/over_ranks/proposals", A.dtype, TRIES=TRIES)

        def propose(state: Any, _: int, rows: Any) -> None:
            kernels.launch("propose", int(rows[2]), state, *rows)
            kernels.launch("propose_hard", 32 * int(rows[2]), state)

        Proposals(A, matching, exchange, kernels, run).make(account, propose)
