"""The default over GPUs: alone if there is one, gathered if the matrix is small, else together.

The signs are the number of ranks, the size of the matrix, the memory of rank 0 and how uneven the
lists are, which all ranks agree on, so that all choose the same.
"""

from types import ModuleType

from sparsematch._engines.mpi.core.exchange import finishing
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching import cheap, min_degree, ms_bfs
from sparsematch._engines.nccl.matching.gathered import (
    GATHERED,
    improve_gathered,
    is_small,
    match_on_one_gpu,
)
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching

SUMMARY = "One GPU alone, a small matrix on one; else a start, then `ms_bfs`, over all."

#: Entries up to which the engines for one GPU are used where there is one.
ALONE = 2**31

#: Lists of this mean length or more, and this uneven (the mean square over the square of the mean),
#: are started by least degree. However large the hubs are: with a power law on both sides it leaves
#: a twentieth of the free rows that `cheap` leaves, and a phase over GPUs costs more than on one.
LONG, UNEVEN = 8, 1.5

#: Rows whose lengths are looked at together: the workspace is bounded.
SLICE = 1 << 24


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Make the matching maximum. Collective.

    Reads: the matrix. Writes: both mates. Workspace, time: those of what it runs.
    """
    with finishing(A.comm):
        if A.n_ranks == 1 and A.nnz < ALONE:
            match_on_one_gpu(A, matching, run)
        elif A.n_ranks > 1 and is_small(A):
            _gather(A, matching, run)
        else:
            if not run.warm:
                _start(A).improve(A, matching, run)
            ms_bfs.improve(A, matching, run)
            _because(run, "paths may lead through several GPUs")


def _start(A: DistributedCSR) -> ModuleType:
    """Return the start that suits the lists. Collective."""
    if A.nnz < LONG * A.n_rows:
        return cheap
    xp, squares = namespace(A.indptr), 0.0
    for first in range(0, len(A.own_rows), SLICE):
        sizes = xp.diff(A.indptr[first : first + SLICE + 1]).astype(float)
        squares += float((sizes * sizes).sum())
    together = sum(Exchange(A.comm, xp).small(squares))
    return min_degree if together * A.n_rows > UNEVEN * float(A.nnz) ** 2 else cheap


def _because(run: Run, why: str) -> None:
    run.steps[-1] = run.steps[-1]._replace(reason=why)


def _gather(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Leave it to rank 0; every rank gets the account, with the exchanges in its last step."""
    before = len(run.steps)
    exchange = improve_gathered(A, matching, run)
    (steps, *_) = exchange.small(run.steps[before:])
    own = int(namespace(A.indptr).count_nonzero(matching.row_mate >= 0))
    sent, pairs = exchange.sum(exchange.bytes_sent, own)
    last = steps[-1]._replace(
        rounds=exchange.rounds,
        bytes_sent=sent,
        cardinality=pairs,
        carrier=exchange.carrier,
        reason=f"at most {GATHERED:,} rows, columns and entries, and a third of its free memory: "
        "gathered on the GPU of rank 0",
    )
    run.steps[before:] = [*steps[:-1], last]
