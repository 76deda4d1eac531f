"""Dulmage-Mendelsohn decomposition and strong components."""

from sparsematch._base.arrays import advising
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.decomposition import block_form, connected_components
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import register_operations

# before the other shapes of the search
compile.expected.insert(0, block_form.modules)
register_operations(
    "cupy",
    DecompositionOps(
        block_labels=advising(block_form.block_labels),
        is_block_form=block_form.is_block_form,
        connected_components=advising(connected_components.connected_components),
        block_permutation=advising(block_form.block_permutation),
    ),
)
