"""Aggregates from a matching, and the Galerkin product over them."""

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.coarsening import coarsen
from sparsematch._engines.operations import CoarseningOps
from sparsematch._engines.registry import register_operations

register_operations(
    "numpy",
    CoarseningOps(wrong_mate=_core.wrong_mate, galerkin_product=coarsen.galerkin_product),
)
