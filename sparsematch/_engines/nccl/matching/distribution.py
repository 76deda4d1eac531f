"""Redistribution of a matrix on GPUs by way of host memory, by the back-end for ranks."""

from typing import Any

from sparsematch._base.arrays import namespace
from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.registry import operations
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR


def on_hosts() -> DistributionOps:
    """Return the operations of the back-end for ranks."""
    return operations(DistributionOps, "mpi")


def to_gpu(A: DistributedCSR, xp: Any) -> DistributedCSR:
    """Return a matrix in host memory on the GPU of each rank. Collective."""
    arrays = xp.asarray(A.indptr), xp.asarray(A.indices)
    values = None if A.values is None else xp.asarray(A.values)
    return DistributedCSR(A.comm, *arrays, A.first_row, A.shape, values)


def permute_and_redistribute(A: DistributedCSR, matching: DistributedMatching) -> DistributedCSR:
    """Return the matrix with its rows permuted, by way of host memory. Collective."""
    moved = on_hosts().permute_and_redistribute(A.get(), matching.get())
    return to_gpu(moved, namespace(A.indptr))
