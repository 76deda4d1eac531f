"""Aggregates from a matching, and the Galerkin product over them."""

from sparsematch._engines.cuda.coarsening import coarsen
from sparsematch._engines.operations import CoarseningOps
from sparsematch._engines.registry import register_operations

register_operations(
    "cupy",
    CoarseningOps(wrong_mate=coarsen.wrong_mate, galerkin_product=coarsen.galerkin_product),
)
