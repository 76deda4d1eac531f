"""Aggregates from a matching, and the Galerkin product over them."""

from sparsematch._base.arrays import advising
from sparsematch._engines.cuda.coarsening import coarsen
from sparsematch._engines.operations import CoarseningOps
from sparsematch._engines.registry import register_operations

register_operations(
    "cupy",
    CoarseningOps(
        wrong_mate=advising(coarsen.wrong_mate), galerkin_product=advising(coarsen.galerkin_product)
    ),
)
