"""Which matrices the GPU of rank 0 gathers."""

from sparsematch._base.arrays import namespace
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Size up to which a matrix is gathered; rows + columns + entries. A search over two GPUs takes
#: about 200 exchanges of 0.5 ms with their launches and waits: 0.1 s, in which one GPU matches 5e8
#: entries. NVLink transfers 2e8 in a few milliseconds.
GATHERED = 200_000_000

#: Workspace on the GPU of rank 0, in indices for each of these (receive buffer, contiguous copy,
#: slots, search), and the largest fraction of its free memory that it may take.
INDICES, SHARE = 6, 1 / 3


def is_small(A: DistributedCSR) -> bool:
    """Tell whether a matrix is gathered. Collective."""
    size = A.n_rows + A.n_cols + A.nnz
    if size > GATHERED:
        return False
    xp = namespace(A.indptr)
    own = xp.cuda.runtime.memGetInfo()[0] + xp.get_default_memory_pool().free_bytes()
    free = int(Exchange(A.comm, xp).allgather_numbers([own])[0, 0])
    return INDICES * A.dtype.itemsize * size <= SHARE * free
