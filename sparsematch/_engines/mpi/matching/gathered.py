"""A small matrix is gathered on one rank, matched there, and its mates are sent back.

Rounds between ranks would take longer than the whole work. What "small" means is a constant, so
that the memory of that rank stays bounded whatever the matrix.
"""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.host import local_pattern, match_in_host_memory
from sparsematch._engines.registry import Run
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching
from sparsematch._types.matching import Matching

#: Rows, columns and entries together, up to which a matrix is gathered: some 30 MB of workspace.
GATHERED = 1_000_000


def is_small(A: DistributedCSR) -> bool:
    """Tell whether a matrix is gathered."""
    return A.n_rows + A.n_cols + A.nnz <= GATHERED


def improve_gathered(A: DistributedCSR, matching: DistributedMatching, run: Run) -> Exchange:
    """Make the matching maximum on rank 0; return the exchanges. Collective.

    Its account is in the run of rank 0 only. Time: that of the engines for host memory.
    """
    exchange = Exchange(A.comm)
    degrees = exchange.gather(np.diff(A.indptr).astype(A.dtype))
    indices = exchange.gather(A.indices)
    row_mate, col_mate = exchange.gather(matching.row_mate), exchange.gather(matching.col_mate)
    if degrees is not None and indices is not None:
        indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
        graph = local_pattern(indptr, indices, A.shape)
        whole = Matching.start(graph, (row_mate, col_mate))
        run.steps.extend(match_in_host_memory(graph, whole, run, warm=run.warm))
        row_mate, col_mate = whole.row_mate, whole.col_mate
    matching.row_mate[:] = exchange.scatter(A.row_starts, row_mate, A.dtype)
    matching.col_mate[:] = exchange.scatter(A.col_starts, col_mate, A.dtype)
    return exchange
