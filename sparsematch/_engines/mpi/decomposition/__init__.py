"""Decompositions of matrices distributed over ranks: coarse parts and fine blocks."""

from sparsematch._engines.distributed_operations import DistributedDecompositionOps
from sparsematch._engines.mpi.decomposition.block_form import block_form
from sparsematch._engines.mpi.decomposition.coarse_parts import coarse_parts
from sparsematch._engines.registry import register_operations

register_operations(
    "mpi", DistributedDecompositionOps(block_form=block_form, coarse_parts=coarse_parts)
)
