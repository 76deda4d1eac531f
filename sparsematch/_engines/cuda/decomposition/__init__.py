"""Dulmage-Mendelsohn decomposition and strong components."""

from sparsematch._engines.cuda.decomposition import block_form, connected_components
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import register_operations

register_operations("cupy", DecompositionOps, vars(block_form), vars(connected_components))
