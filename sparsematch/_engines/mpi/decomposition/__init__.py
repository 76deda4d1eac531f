"""Decompositions of matrices distributed over ranks: coarse parts and fine blocks."""

from sparsematch._engines.distributed_operations import DistributedDecompositionOps
from sparsematch._engines.mpi.decomposition import block_form, coarse_parts
from sparsematch._engines.registry import register_operations

register_operations("mpi", DistributedDecompositionOps, vars(block_form), vars(coarse_parts))
