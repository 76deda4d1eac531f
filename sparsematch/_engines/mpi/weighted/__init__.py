"""Weighted transversals of matrices distributed over ranks."""

from sparsematch._engines.distributed_operations import DistributedWeightedOps
from sparsematch._engines.mpi.weighted import product
from sparsematch._engines.registry import register_operations

register_operations("mpi", DistributedWeightedOps, vars(product))
