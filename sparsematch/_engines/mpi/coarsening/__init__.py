"""Coarsening of matrices distributed over ranks."""

from sparsematch._engines.distributed_operations import DistributedCoarseningOps
from sparsematch._engines.mpi.coarsening.coarsen import coarsen, wrong_mate
from sparsematch._engines.registry import register_operations

register_operations("mpi", DistributedCoarseningOps(wrong_mate=wrong_mate, coarsen=coarsen))
