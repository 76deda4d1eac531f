"""Minimum-degree start over GPUs: rows with short lists first, to the columns of fewest rows.

Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), in rounds of proposals. The
kernels are those of `over_ranks/min_degree.cu` of the back-end for a GPU. Every GPU counts what its
rows have in each column, up to a byte, and one reduction adds that up.
"""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.mpi.core.exchange import finishing
from sparsematch._engines.mpi.core.steps import Account, step_info
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.nccl.matching.rare_columns import RARE, match_rare_columns
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching

SUMMARY = "Rows of fewest entries first propose to the columns of fewest entries, in rounds."

#: A round for the rows of at most so many entries, a thread each; then one for all, longer lists by
#: a warp each.
UPTO = (1, 2, 3, 4, 6, 8, 12)


class Matchable(NamedTuple):
    """What the start leaves to the search: how many columns any matching has at most."""

    cols: int


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Make the matching maximal. Collective.

    From the empty matching, the columns of fewest entries come before all others. Reads: the
    matrix. Writes: both mates. Workspace: three indices for each own row, a byte and two bits for
    each column, letters, and that of `match_rare_columns`. Time: O(nnz / ranks), expected, in a
    few rounds.
    """
    with finishing(A.comm):
        begin, xp = perf_counter(), namespace(A.indptr)
        exchange, account = Exchange(A.comm, xp), Account()
        kernels = compile.load("matching/over_ranks/min_degree", A.dtype, RARE=RARE)
        degree, rare = _degrees(A, exchange, kernels), None
        if not (run.warm or run.steps):
            rare = match_rare_columns(A, exchange, kernels, degree, run)
        proposals = Proposals(A, matching, exchange, kernels, run)
        if rare is not None:
            kernels.launch("adopt", rare.n, proposals.state(0), rare.pairs, np.int64(rare.n))
            run.kept = Matchable(A.n_cols - rare.cols + rare.n)

        def propose(state: Any, turn: int, rows: Any) -> None:
            upto = np.int64(UPTO[min(turn, len(UPTO)) - 1])
            kernels.launch("propose", int(rows[2]), state, degree, *rows, upto)
            if turn > len(UPTO):
                kernels.launch("propose_long", 32 * int(rows[2]), state, degree, *rows, upto)

        proposals.make(account, propose, sweeps=len(UPTO) + 1)
        own = int(xp.count_nonzero(matching.row_mate >= 0))
        run.steps.append(step_info(exchange, "min_degree", begin, own, account))


def _degrees(A: DistributedCSR, exchange: Exchange, kernels: Kernels) -> Any:
    """Return about how many entries each column has, up to 127 on two ranks. Collective."""
    most = max(255 // exchange.size, 1)
    degree = namespace(A.indptr).zeros(-(-A.n_cols // 4) * 4, np.uint8)
    given = A.indices, np.int64(A.local_nnz), np.uint32(most), degree
    kernels.launch("count", -(-A.local_nnz // 4), *given)
    kernels.launch("clamp", A.n_cols, np.int64(A.n_cols), np.uint32(most), degree)
    exchange.add_up(degree)
    return degree[: A.n_cols]
