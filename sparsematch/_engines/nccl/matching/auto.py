"""The default over GPUs: alone if there is one, gathered if the matrix is small, else together.

See `core/cases.py` of the back-end for ranks. The features are the number of ranks, the size of
the matrix, the memory of rank 0 and the skew of the row degrees, the same on all ranks.
"""

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core.device import INT_MAX
from sparsematch._engines.cuda.core.thresholds import LONG, UNEVEN
from sparsematch._engines.mpi.core.cases import Cases
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching import cheap, min_degree, ms_bfs
from sparsematch._engines.nccl.matching.gathered import GATHERED, is_small
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "One GPU alone, a small matrix on one; else a heuristic, then `ms_bfs`, over all."

#: Degrees that are read at a time; rows; bounds the workspace.
SLICE = 1 << 24


def _are_long_and_uneven(A: DistributedCSR) -> bool:
    """Tell whether row degrees are large and skewed. Collective, if they are large."""
    # As on one GPU, however large the hubs are. With power-law degrees on both sides `min_degree`
    # leaves a twentieth of the free rows that `cheap` leaves, and a phase over GPUs costs more.
    if A.nnz < LONG * A.n_rows:
        return False
    xp, squares = namespace(A.indptr), 0.0
    for first in range(0, len(A.own_rows), SLICE):
        sizes = xp.diff(A.indptr[first : first + SLICE + 1]).astype(float)
        squares += float((sizes * sizes).sum())
    together = sum(Exchange(A.comm, xp).allgather(squares))
    return bool(together * A.n_rows > UNEVEN * float(A.nnz) ** 2)


improve = Cases(
    fits_alone=lambda A: A.nnz <= INT_MAX,  # the engines for one GPU count entries in 32 bits
    is_small=is_small,
    small=f"at most {GATHERED:,} rows, columns and entries, and a third of its free memory: "
    "gathered on the GPU of rank 0",
    start=lambda A, *rest: (min_degree if _are_long_and_uneven(A) else cheap).improve(A, *rest),
    search=ms_bfs.improve,
    together="augmenting paths may lead through several GPUs",
).improve
