"""The exact transversal of a small matrix, gathered on rank 0, or of a matrix on one rank."""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.host import local_pattern
from sparsematch._engines.mpi.weighted.duals import Duals
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR
from sparsematch._types.weighted import WeightedCSR


def on_one_rank(
    A: DistributedCSR, exchange: Exchange, run: Run
) -> tuple[DistributedMatching, Duals, float]:
    """Return the transversal with the largest product, duals, and its objective. Collective.

    Time: that of the engine for host memory, on rank 0.
    """
    assert A.values is not None
    degrees = exchange.gatherv(np.diff(A.indptr))
    indices, magnitude = exchange.gatherv(A.indices), exchange.gatherv(A.values)
    whole: list[np.ndarray] | list[None] = [None] * 4
    objective = bound = 0.0
    if degrees is not None and indices is not None and magnitude is not None:
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        weighted = WeightedCSR(
            local_pattern(indptr, indices, A.shape), magnitude, float(magnitude.max(initial=0))
        )
        product = operations(WeightedOps, "numpy").maximum_product
        best = product(weighted, False, False, run.workers, 0.0)
        whole = [best.matching.row_mate, best.matching.col_mate, best.row_dual, best.col_dual]
        objective = best.objective
    row_mate, row_dual = (
        exchange.scatterv(A.row_starts, whole[k], t) for k, t in ((0, A.dtype), (2, np.float64))
    )
    col_mate, col_dual = (
        exchange.scatterv(A.col_starts, whole[k], t) for k, t in ((1, A.dtype), (3, np.float64))
    )
    objective = exchange.allgather(objective)[0]
    bound = -objective  # the engine has proved that it is optimal
    matching = DistributedMatching(row_mate, col_mate, A).freeze()
    return matching, Duals(row_dual, col_dual, bound), objective
