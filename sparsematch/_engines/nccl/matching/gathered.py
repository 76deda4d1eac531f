"""Which matrices one GPU gathers."""

from typing import Any

from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._types.arrays import namespace
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Rows, columns and entries together, up to which a matrix is gathered. Two GPUs exchange some 200
#: times in a search, half a millisecond each with the launches and waits around it: 0.1 s, in which
#: one of them finishes a matrix of 5e8 entries. The links bring 2e8 in a few milliseconds.
GATHERED = 200_000_000

#: Indices that it takes for each of them on that GPU: what comes, its copy in one piece, slots, and
#: the workspace of a search; at most this share of what is free.
INDICES, SHARE = 6, 1 / 3


def is_small(A: DistributedCSR) -> bool:
    """Tell whether a matrix is gathered. Collective."""
    size = A.n_rows + A.n_cols + A.nnz
    if size > GATHERED:
        return False
    xp = namespace(A.indptr)
    free = int(Exchange(A.comm, xp).share([_free_memory(xp)])[0, 0])
    return INDICES * A.dtype.itemsize * size <= SHARE * free


def _free_memory(xp: Any) -> int:
    """Return the bytes that are free on the GPU, and in what CuPy keeps of it."""
    free, _ = xp.cuda.runtime.memGetInfo()
    return int(free) + int(xp.get_default_memory_pool().free_bytes())
