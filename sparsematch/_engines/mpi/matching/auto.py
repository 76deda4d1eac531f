"""The default over ranks: alone if there is one, gathered if the matrix is small, else together.

The signs are the number of ranks and the size of the matrix, which all ranks know, so that all
choose the same.
"""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange, finishing
from sparsematch._engines.mpi.core.host import local_pattern, match_in_host_memory
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.matching import by_rank, karp_sipser, ms_bfs
from sparsematch._engines.mpi.matching.gathered import GATHERED, improve_gathered, is_small
from sparsematch._engines.registry import Run
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching
from sparsematch._types.matching import Matching

SUMMARY = "One rank alone, a small matrix on one of them; else a start, then one search over all."

#: Each rank begins alone if so much of what chance does not explain is within its own columns.
NEAR = 0.5


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Make the matching maximum. Collective.

    Reads: the matrix. Writes: both mates. Workspace, time: those of what it runs.
    """
    with finishing(A.comm):
        if A.n_ranks == 1:
            _alone(A, matching, run)
        elif is_small(A):
            _gather(A, matching, run)
        else:
            if not run.warm:
                _start(A, matching, run)
            ms_bfs.improve(A, matching, run)
            _because(run, "what is left takes paths through several ranks")


def _start(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Match rank by rank where the numbering keeps neighbours near, else over all ranks."""
    side = Side.of_rows(A, Exchange(A.comm))
    near = by_rank.share_of_lent(side)
    by_chance = 1 / A.n_ranks
    if near >= by_chance + NEAR * (1 - by_chance):
        by_rank.improve(A, matching, run)
        _because(run, f"{near:.0%} of the entries are in columns with the numbers of the rows")
    else:
        karp_sipser.improve(A, matching, run)
        _because(run, f"{near:.0%} of the entries are in columns with the numbers of the rows")


def _because(run: Run, why: str) -> None:
    run.steps[-1] = run.steps[-1]._replace(reason=why)


def _alone(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Leave it to the engines for host memory: all rows are here."""
    graph = local_pattern(A.indptr, A.indices, A.shape)
    mates = Matching(matching.row_mate, matching.col_mate)
    run.steps.extend(match_in_host_memory(graph, mates, run, warm=run.warm))


def _gather(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Leave it to rank 0; every rank gets the account, with the exchanges in its last step."""
    before = len(run.steps)
    exchange = improve_gathered(A, matching, run)
    (steps, *_) = exchange.small(run.steps[before:])
    (sent, pairs) = exchange.sum(exchange.bytes_sent, int(np.count_nonzero(matching.row_mate >= 0)))
    why = f"at most {GATHERED:,} rows, columns and entries: gathered on rank 0"
    last = steps[-1]._replace(
        rounds=exchange.rounds, bytes_sent=sent, cardinality=pairs, reason=why
    )
    run.steps[before:] = [*steps[:-1], last]
