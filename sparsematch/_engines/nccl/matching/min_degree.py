"""Minimum-degree start over GPUs: rows with short lists first, to the columns of fewest rows.

Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), in rounds of proposals. The
kernels are those of `over_ranks/min_degree.cu` of the back-end for a GPU. Every GPU counts what its
rows have in each column, and one reduction adds that up.
"""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.mpi.core.exchange import finishing
from sparsematch._engines.mpi.core.steps import Account, step_info
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching

SUMMARY = "Rows of fewest entries first propose to the columns of fewest entries, in rounds."

#: A round for the rows of at most so many entries, a thread each; then one for all, longer lists by
#: a warp each.
UPTO = (1, 2, 3, 4, 6, 8, 12)


class Occupied(NamedTuple):
    """What the start leaves to the search: the number of columns that have entries."""

    cols: int


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Make the matching maximal. Collective.

    Reads: the matrix. Writes: both mates. Workspace: three indices for each own row, four bytes and
    a bit for each column, letters. Time: O(nnz / ranks), expected, in a few rounds.
    """
    with finishing(A.comm):
        begin, xp = perf_counter(), namespace(A.indptr)
        exchange, account = Exchange(A.comm, xp), Account()
        kernels = compile.load("matching/over_ranks/min_degree", A.dtype)
        degree = xp.zeros(A.n_cols, np.int32)
        kernels.launch("count", A.local_nnz, A.indices, np.int64(A.local_nnz), degree)
        exchange.add_up(degree)
        run.kept = Occupied(int(xp.count_nonzero(degree)))

        def propose(state: Any, turn: int, rows: Any) -> None:
            upto = np.int64(UPTO[min(turn, len(UPTO)) - 1])
            kernels.launch("propose", int(rows[2]), state, degree, *rows, upto)
            if turn > len(UPTO):
                kernels.launch("propose_long", 32 * int(rows[2]), state, degree, *rows, upto)

        proposals = Proposals(A, matching, exchange, kernels, run)
        proposals.make(account, propose, sweeps=len(UPTO) + 1)
        own = int(xp.count_nonzero(matching.row_mate >= 0))
        run.steps.append(step_info(exchange, "min_degree", begin, own, account))
