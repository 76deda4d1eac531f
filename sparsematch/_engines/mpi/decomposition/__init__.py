"""Decompositions of matrices distributed over ranks: the coarse parts."""

from sparsematch._engines.mpi.decomposition.coarse_parts import coarse_parts
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import register_operations

register_operations("mpi", DecompositionOps(coarse_parts=coarse_parts))
