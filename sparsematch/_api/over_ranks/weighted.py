"""Weighted transversals over ranks."""

from typing import Any

import numpy as np

from sparsematch._api.arguments import check_flags
from sparsematch._api.runs import run_weighted
from sparsematch._api.workers import resolve_workers
from sparsematch._engines.distributed_operations import DistributedWeightedOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.weighted import as_weighted
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def maximum_product_transversal(
    A: DistributedCSR, same: dict[str, Any], workers: int | None
) -> Any:
    """Find a transversal with a large product; `same` do not differ over ranks. Collective."""
    with agreed(A, "maximum_product_transversal", **same):
        check_flags(**same)
        run = Run(resolve_workers(workers), detailed=bool(same["return_info"]))
    product = operations(DistributedWeightedOps, A.backend).maximum_product
    weighted = run.timed("reading", _magnitudes, A)
    return run_weighted("product", product, run, weighted, bool(same["scaling"]), run)


def _magnitudes(A: DistributedCSR) -> DistributedCSR:
    """Return the magnitudes of the entries that are not zero, as values of a matrix. Collective."""
    # Entries in the same place are added up, and lists ascend. Raises TypeError or ValueError if
    # the matrix has no values, or they are no finite numbers, on all ranks.
    with agreed(A, "maximum_product_transversal"):
        if A.values is None:
            raise TypeError("A has no values, which are the weights of its entries")
        values = np.asarray(A.values)
        if values.dtype.kind in "fc" and not (finite := np.isfinite(values)).all():
            p = int(np.flatnonzero(~finite)[0])
            i = int(np.searchsorted(A.indptr, p, side="right")) - 1 + A.first_row
            entry = f"A[{i}, {A.indices[p]}] is {values[p]}"
            raise ValueError(f"{entry}, which is not finite; weights must be finite")
        weighted = as_weighted(A.to_local())
    graph, magnitude = weighted.graph, weighted.magnitude
    arrays = graph.indptr, graph.indices[: graph.nnz].astype(A.dtype, copy=False)
    return DistributedCSR(A.comm, *arrays, A.first_row, A.shape, magnitude)
