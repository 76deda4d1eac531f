"""Minimum-degree start over GPUs: rows with short lists first, to the columns of fewest rows.

Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), in rounds of proposals. The
kernels are those of `over_ranks/min_degree.cu` of the back-end for a GPU. Every GPU counts the
entries of its rows in each column, up to a byte, and an allreduce sums these.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.thresholds import RARE
from sparsematch._engines.mpi.core.steps import step
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.nccl.matching.rare_columns import match_rare_columns
from sparsematch._engines.registry import ByProducts, Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Rows of fewest entries first propose to the columns of fewest entries, in rounds."

#: Largest degree of the rows that propose in each round; entries; short lists are scanned by a
#: thread, long ones by a warp; then a round of all rows. Hubs are last: most columns suit them.
SHORT = (1, 2, 4, 8, 16, 32)
LONG = (64, 128, 256, 1024, 4096)


def improve(
    A: DistributedCSR, matching: DistributedMatching, run: Run, before: ByProducts | None = None
) -> ByProducts | None:
    """Make the matching maximal. Collective.

    From the empty matching, the columns of fewest entries come before all others. Reads: the
    matrix. Writes: both mates. Workspace: three indices for each own row, a byte and two bits for
    each column, send buffers, and that of `match_rare_columns`. Time: O(nnz / ranks), expected, in
    a few rounds.
    """
    with step("min_degree", A, matching.row_mate, run, Exchange) as (exchange, account):
        kernels = compile.load("matching/over_ranks/min_degree", A.dtype, RARE=RARE)
        degree = degrees(A, exchange, kernels)
        proposals = Proposals(A, matching, exchange, kernels, run)
        if not run.matched:
            before = ByProducts(most_pairs=match_rare_columns(A, proposals, degree, run))

        above, end = np.int64(SHORT[-1]), np.int64(np.iinfo(np.int64).max)
        long, n_long = _long_rows(A, proposals, above)
        turns = len(SHORT) + len(LONG)

        def propose(state: Any, turn: int, rows: Any) -> None:
            every, listed, n = rows
            upto = np.int64((SHORT + LONG)[turn - 1]) if turn <= turns else end
            kernels.launch("propose", int(n), state, degree, *rows, min(upto, above))
            if upto > above:
                some = (long, n_long) if every else (listed, n)
                kernels.launch("propose_long", 32 * int(some[1]), state, degree, *some, above, upto)

        proposals.make(account, propose, sweeps=turns + 1)
    return before


def degrees(A: DistributedCSR, exchange: Exchange, kernels: Kernels) -> Any:
    """Return the approximate degrees of columns, capped (at 127 on two ranks). Collective."""
    most = max(255 // exchange.size, 1)
    degree = namespace(A.indptr).zeros(-(-A.n_cols // 4) * 4, np.uint8)
    given = A.indices, np.int64(A.local_nnz), np.uint32(most), degree
    kernels.launch("count", -(-A.local_nnz // 4), *given)
    kernels.launch("clamp", A.n_cols, np.int64(A.n_cols), np.uint32(most), degree)
    exchange.allreduce_array(degree, "SUM")
    return degree[: A.n_cols]


def _long_rows(A: DistributedCSR, proposals: Proposals, above: np.int64) -> tuple[Any, np.int64]:
    """Return the own rows with more than `above` entries, and their number."""
    xp = namespace(A.indptr)
    rows, found = xp.empty(A.local_nnz // int(above) + 1, A.dtype), xp.zeros(1, np.int64)
    proposals.kernels.launch("list_long", len(A.own_rows), proposals.state(0), above, rows, found)
    return rows, np.int64(int(found[0]))
