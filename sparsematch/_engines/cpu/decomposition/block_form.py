"""Decompositions by the core, in the user's rows and columns.

The core's rows are what `indptr` runs over, its columns what `indices` names. On a flipped graph
the two sides change places, the horizontal and the vertical part too, and upper becomes lower.
"""

import numpy as np

from sparsematch._base.arrays import IndexArray, IndexPair
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, mates, workers_of, worthwhile
from sparsematch._engines.cpu.core.run_engine import HostByProducts, transpose
from sparsematch._engines.cpu.matching import auto
from sparsematch._engines.registry import Run
from sparsematch._types import labels as kinds
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockLayout
from sparsematch._types.matching import Matching


def block_labels(
    graph: BipartiteCSR, matching: Matching, run: Run, before: HostByProducts | None = None
) -> kinds.BlockLabels:
    """Return the group of every row; the matching must be maximum."""
    before = before or HostByProducts()
    transposed = csr(before.transposed) if before.transposed else None
    group, forced = np.empty(graph.n_major, graph.dtype), before.forced if transposed else None
    given = mates(graph, matching), group, forced, workers_of(run, graph.nnz)
    n_square = _core.block_labels(csr(graph), transposed, *given)
    if graph.flipped:
        by_col, group = group, np.full(graph.n_rows, n_square + 2, graph.dtype)
        matched = matching.row_mate >= 0
        group[matched] = n_square + 1 - by_col[matching.row_mate[matched]]
    return kinds.BlockLabels(group, n_square)


def coarse_parts(graph: BipartiteCSR) -> tuple[kinds.Parts, kinds.Parts]:
    """Return the coarse part of every row and column, by a matching that is looked for first."""
    parts = np.empty(graph.n_rows, np.int8), np.empty(graph.n_cols, np.int8)
    pair = np.empty(graph.n_major, graph.dtype), np.empty(graph.n_minor, graph.dtype)
    if not _core.coarse_parts(csr(graph), pair, False, *graph.orient(*parts)):
        matching = Matching.start(graph)
        auto.improve(graph, matching, Run())
        _core.coarse_parts(csr(graph), mates(graph, matching), True, *graph.orient(*parts))
    return (kinds.VERTICAL - parts[0], kinds.VERTICAL - parts[1]) if graph.flipped else parts


def is_block_form(graph: BipartiteCSR, layout: BlockLayout) -> bool:
    """Tell whether a layout is that of the form. Time: O(n_rows + n_cols + nnz)."""
    blocks = [np.asarray(block, graph.dtype) for block in (layout.row_block, layout.col_block)]
    if graph.flipped:
        blocks = [graph.dtype.type(layout.n_blocks - 1) - block for block in blocks]
    pairs = Matching(layout.row_mate.astype(graph.dtype), layout.col_mate.astype(graph.dtype))
    arrays = mates(graph, pairs), *graph.orient(*blocks)
    return _core.is_block_form(csr(graph), *arrays, layout.n_blocks)


def hall_violators(
    graph: BipartiteCSR, matching: Matching, run: Run, before: HostByProducts | None, of_cols: bool
) -> kinds.HallViolators:
    """Return the pieces with too many rows, or columns, and a violator of each."""
    # The matching must be maximum. The search goes from the side that has too many: it needs the
    # transpose if these are the core's columns. Time: nearly O(n_rows + n_cols + nnz).
    searched = graph
    if graph.flipped != of_cols:
        searched = (before and before.transposed) or transpose(graph, run)
    pieces = np.empty(graph.n_rows, graph.dtype), np.empty(graph.n_cols, graph.dtype)
    n = searched.n_major
    members, partners, starts = (np.empty(size, graph.dtype) for size in (n, n, n + 1))
    arrays = *searched.orient(*pieces), members, partners, starts
    n_pieces = _core.hall_violators(csr(searched), mates(searched, matching), *arrays)
    starts = starts[: n_pieces + 1].copy()
    members, partners = members[: starts[-1]].copy(), partners[: starts[-1]].copy()
    return kinds.HallViolators(*pieces, n_pieces, members, partners, starts)


def connected_components(graph: BipartiteCSR) -> kinds.Components:
    """Return the component of every row and column. Time: O(n_rows + n_cols + nnz), nearly."""
    labels = np.empty(graph.n_rows, graph.dtype), np.empty(graph.n_cols, graph.dtype)
    n_components = _core.connected_components(csr(graph), *graph.orient(*labels))
    return kinds.Components(n_components, *labels)


def order_by_label(labels: IndexArray, n_labels: int) -> IndexPair:
    """Return the stable order that sorts labels in ``range(n_labels)``, where each begins."""
    order, starts = np.empty_like(labels), np.empty(n_labels + 1, labels.dtype)
    _core.sort_by_label(labels, labels.size, n_labels, order, starts)
    return order, starts


def block_permutation(
    matching: Matching, labels: kinds.BlockLabels, workers: int = 1
) -> kinds.BlockPermutation:
    """Sort the rows by group, in ascending order within one. Time: O(n_rows + n_cols)."""
    # Where the whole matrix is one block, the labels are the workspace for the order of its rows.
    n_square, n_cols = labels.n_square, matching.col_mate.size
    one_block = n_square == 1 and matching.is_perfect
    rows = labels.row_group if one_block else np.empty_like(matching.row_mate)
    row_perm, col_perm = rows, np.empty_like(matching.col_mate)
    starts = np.empty(n_square + 4, row_perm.dtype)
    given = labels.row_group, (matching.row_mate, matching.col_mate), *matching.shape, n_square
    _core.block_permutation(*given, row_perm, col_perm, starts, worthwhile(workers, row_perm.size))
    first_square, first_vertical, rank = map(starts.item, (1, n_square + 1, n_square + 2))
    first, end = kinds.groups_of_blocks(n_square, matching.shape, rank)
    row_blocks = starts[first : end + 1]
    row_blocks[-1] = row_perm.size
    col_blocks = row_blocks + (n_cols - rank)
    col_blocks[0], col_blocks[-1] = 0, n_cols
    coarse = first_square, first_vertical, rank
    return kinds.BlockPermutation(row_perm, col_perm, row_blocks, col_blocks, *coarse)
