"""Dulmage-Mendelsohn decomposition, strong components and Hall violators."""

from sparsematch._engines.cpu.decomposition import block_form
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import register_operations

register_operations(
    "numpy",
    DecompositionOps(
        block_labels=block_form.block_labels,
        coarse_parts=block_form.coarse_parts,
        connected_components=block_form.connected_components,
        block_permutation=block_form.block_permutation,
        order_by_label=block_form.order_by_label,
        is_block_form=block_form.is_block_form,
        hall_violators=block_form.hall_violators,
    ),
)
