"""Dulmage-Mendelsohn decomposition and strong components."""

from sparsematch._engines.cuda.decomposition import block_form, connected_components
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import register_operations

register_operations(
    "cupy",
    DecompositionOps(
        block_labels=block_form.block_labels,
        is_block_form=block_form.is_block_form,
        connected_components=connected_components.connected_components,
        block_permutation=block_form.block_permutation,
    ),
)
