"""Weighted transversals of matrices distributed over ranks."""

from sparsematch._engines.mpi.weighted.product import maximum_product
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import register_operations

register_operations("mpi", WeightedOps(distributed_product=maximum_product))
