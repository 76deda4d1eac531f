"""Minimum-degree start over GPUs: rows with short lists first, to the columns of fewest rows.

Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), in rounds of proposals: see
proposals.py. Every GPU counts the entries of its rows in each column, up to a byte, and an
allreduce sums these.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.mpi.core.steps import step
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.nccl.matching.rare_columns import match_rare_columns
from sparsematch._engines.registry import ByProducts, Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Rows of fewest entries first propose to the columns of fewest entries, in rounds."

#: Most entries of rows proposing in each round, then all. Hubs are last: most columns suit them.
CLASSES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096)


def improve(
    A: DistributedCSR, matching: DistributedMatching, run: Run, before: ByProducts | None = None
) -> ByProducts | None:
    """Make the matching maximal. Collective."""
    # From the empty matching, the columns of fewest entries come before all others. Reads: the
    # matrix. Writes: both mates. Workspace: two indices for each own row, a byte and two bits for
    # each column, send buffers, and that of `match_rare_columns`. Time: O(nnz / ranks), expected.
    with step("min_degree", A, matching.row_mate, run) as (exchange, account):
        proposals = Proposals(A, matching, exchange, run)
        proposals.degree = degrees(A, proposals)
        if not run.matched:
            before = ByProducts(most_pairs=match_rare_columns(A, proposals, run))
        proposals.make(account, CLASSES)
    return before


def degrees(A: DistributedCSR, proposals: Proposals) -> Any:
    """Return the approximate degrees of columns, capped (at 127 on two ranks). Collective."""
    exchange, kernels = proposals.exchange, proposals.kernels
    most = np.uint32(max(255 // exchange.size, 1))
    degree = namespace(A.indptr).zeros(-(-A.n_cols // 4) * 4, np.uint8)
    given = A.indices, np.int64(A.local_nnz), most, degree
    kernels.launch("count", -(-A.local_nnz // 4), *given)
    kernels.launch("clamp", A.n_cols, np.int64(A.n_cols), most, degree)
    exchange.allreduce_array(degree, "SUM")
    return degree[: A.n_cols]
