"""Redistribution of a matrix on GPUs by way of host memory, by the back-end for ranks."""

from typing import Any

from sparsematch._engines.operations import DistributionOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching
from sparsematch._types.matching import Matching


def on_hosts() -> DistributionOps:
    """Return the operations of the back-end for ranks."""
    return operations(DistributionOps, "mpi")


def to_gpu(A: DistributedCSR, xp: Any) -> DistributedCSR:
    """Return a matrix in host memory on the GPU of each rank. Collective."""
    arrays = xp.asarray(A.indptr), xp.asarray(A.indices)
    values = None if A.values is None else xp.asarray(A.values)
    return DistributedCSR(A.comm, *arrays, A.first_row, A.shape, values)


def permute_and_redistribute(graph: BipartiteCSR, matching: Matching) -> DistributedCSR:
    """Return the matrix with its rows permuted, by way of host memory. Collective."""
    assert isinstance(graph, DistributedCSR)  # the registry has brought it here
    assert isinstance(matching, DistributedMatching)
    moved = on_hosts().permute_and_redistribute(graph.get(), matching.get())
    return to_gpu(moved, namespace(graph.indptr))


def mates_by_column(A: DistributedCSR, mate: IndexArray) -> IndexArray:
    """Return the mates of the own columns, given those of the own rows. Collective."""
    own: Any = mate
    return namespace(mate).asarray(on_hosts().mates_by_column(A, own.get()))
