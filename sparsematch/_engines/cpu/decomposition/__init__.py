"""Dulmage-Mendelsohn decomposition, strong components and Hall violators."""

from sparsematch._engines.cpu.decomposition import block_form
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import register_operations

register_operations("numpy", DecompositionOps, vars(block_form))
