"""Block labels and permutations in the user's rows and columns, all of it on the device."""

from contextlib import suppress

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import alternating_bfs, compile, host_fallback
from sparsematch._engines.cuda.core import transpose as transposes
from sparsematch._engines.cuda.core.by_products import Before, DeviceByProducts, HostResult
from sparsematch._engines.cuda.decomposition import (
    colouring,
    multi_pivot,
    small_components,
    strong_components,
)
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockLayout
from sparsematch._types.labels import BlockLabels, BlockPermutation, groups_of_blocks
from sparsematch._types.matching import Matching

_load = compile.declare("decomposition/block_permutation")
#: What block labels may launch: it compiles side by side, what takes longest first.
_LOADED = small_components, strong_components, alternating_bfs, multi_pivot, colouring, transposes


def block_labels(
    graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None
) -> BlockLabels:
    """Return the group of every row; the matching must be maximum."""
    # The host takes over searches with too many levels, where that is allowed. It does all of the
    # decomposition if it has found the matching, as both searches go along the same paths.
    before = before or DeviceByProducts()
    if before.host_result:
        return _labels_on_host(before.host_result, matching, run)
    for load in (*(module.load for module in _LOADED), _load):
        load(graph.dtype)
    transposed = before.transposed or transposes.transpose(graph, run, before.symmetric)
    by_row, by_col = graph.orient(graph, transposed)
    most = host_fallback.allowed_levels(graph, before)
    with suppress(host_fallback.TooDeepError):
        return strong_components.block_labels(by_row, by_col, matching, run, most)
    found = run.timed("host_fallback", host_fallback.match_in_order, graph, matching, run)
    return _labels_on_host(found, matching, run)


def _labels_on_host(found: HostResult, matching: Matching, run: Run) -> BlockLabels:
    """Return the labels that the host finds, on the device."""
    given = found.graph, found.matching, run, found.by_products
    labels = operations(DecompositionOps, "numpy").block_labels(*given)
    group = host_fallback.to_device(labels.row_group, matching.row_mate)
    return BlockLabels(group, labels.n_square)


def is_block_form(graph: BipartiteCSR, layout: BlockLayout) -> bool:
    """Tell whether a layout is that of the block triangular form, on the host."""
    return operations(DecompositionOps, "numpy").is_block_form(host_fallback.on_host(graph), layout)


def block_permutation(matching: Matching, labels: BlockLabels, _workers: int) -> BlockPermutation:
    """Sort the rows by group, in no particular order within one. See block_permutation.cu."""
    row_mate, col_mate = matching.row_mate, matching.col_mate
    xp, dtype, n_groups = namespace(row_mate), row_mate.dtype, labels.n_square + 3
    n_rows, n_cols, n_square = (dtype.type(n) for n in (*matching.shape, labels.n_square))
    kernels = _load(dtype)
    place = xp.empty(row_mate.size, dtype)
    # the first stays zero, so that the running sum is where groups begin
    count = xp.zeros(n_groups + 1, dtype)
    kernels.launch("tally", row_mate.size, n_rows, labels.row_group, count[1:], place)
    begin = xp.cumsum(count, dtype=dtype)
    row_perm, col_perm = xp.empty(row_mate.size, dtype), xp.empty(col_mate.size, dtype)
    arrays = {"place": place, "begin": begin, "row_perm": row_perm, "col_perm": col_perm}
    order = kernels.struct("BlockOrder", matching, group=labels.row_group, **arrays)
    sizes, bounds = (n_rows, n_cols, n_square), xp.zeros(4, dtype)
    n = max(row_mate.size, col_mate.size)
    kernels.launch("permute", n, *sizes, order, bounds[3:], bounds)
    first_square, first_vertical, rank, _ = bounds.tolist()
    first, end = groups_of_blocks(labels.n_square, matching.shape, rank)
    row_blocks, col_blocks = begin[first : end + 1], xp.empty(end + 1 - first, dtype)
    given = (dtype.type(k) for k in (col_blocks.size, *matching.shape, col_mate.size - rank))
    kernels.launch("bound_blocks", col_blocks.size, *given, row_blocks, col_blocks)
    coarse = first_square, first_vertical, rank
    return BlockPermutation(row_perm, col_perm, row_blocks, col_blocks, *coarse)
