"""Blocks of the square part on the device, in block upper triangular order. See strong_components.cu."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsematch._engines.cuda import compile
from sparsematch._engines.cuda.coarse_parts import CoarseParts
from sparsematch._engines.cuda.reach import bits
from sparsematch._engines.cuda.regions import reach_both_ways
from sparsematch._engines.cuda.rest_components import find_rest
from sparsematch._engines.cuda.transpose import share
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching

#: Segments as large as one in 2^_SMALL of all rows, and not less than _FEW, get a pivot of their own, so many of them;
#: no more when for so many the component was less than that share of the segment.
_SMALL, _FEW, _PIVOTS, _MISSES = 4, 1 << 14, 8, 2


@dataclass(slots=True)
class Square:
    """The square part, and what is known of its order.

    Attributes
    ----------
    by_row, by_col : BipartiteCSR
        The matrix both ways.
    matching : Matching
        A maximum one.
    label : ndarray, shape (n_rows,)
        Where in the order a row's segment begins, or its block when that is known; -1 horizontal part, -2 vertical.
    rows_in, cols_in : ndarray of uint32
        A bit for each row and column whose block is still to be found.
    """

    by_row: BipartiteCSR
    by_col: BipartiteCSR
    matching: Matching
    label: IndexArray
    rows_in: Any
    cols_in: Any


def block_labels(by_row: BipartiteCSR, by_col: BipartiteCSR, matching: Matching, parts: CoarseParts) -> BlockLabels:
    """Return the group of every row; the matching must be maximum.

    Workspace: six indices per row, two per column, and what sorting the rest takes. Time: O(n_rows + n_cols + nnz), a
    barrier per level of each search, three waits for the device, two for each pivot and each round over the rest.
    """
    xp, dtype, n_rows = namespace(by_row.indptr), by_row.dtype, by_row.n_rows
    if not n_rows:
        return BlockLabels(xp.empty(0, dtype), 0)
    kernels = compile.load("strong_components", dtype)
    square = Square(by_row, by_col, matching, xp.empty(n_rows, dtype), bits(xp, n_rows), bits(xp, by_row.n_cols))
    size, from_row = _peel(square, parts)
    if size[0] > size[1] + size[2]:
        _split_at_pivots(square, size, from_row)
    begins = xp.zeros(max(size[0], 1), dtype)
    kernels.launch("mark", n_rows, dtype.type(n_rows), square.label, begins)
    blocks = xp.cumsum(begins, dtype=dtype)
    n_blocks = int(blocks[-1])
    group = xp.empty(n_rows, dtype)
    kernels.launch("number", n_rows, dtype.type(n_rows), square.label, blocks, dtype.type(n_blocks), group)
    return BlockLabels(group, n_blocks)


def _peel(square: Square, parts: CoarseParts) -> tuple[list[int], IndexArray]:
    """Label the blocks of one row at both ends; return the numbers of rows: all, first, last; and the degrees left."""
    graph, back, mates = square.by_row, square.by_col, square.matching
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n, shift = compile.load("strong_components", dtype), dtype.type(n_rows), np.int32(share(graph))
    from_row, to_col = xp.zeros(n_rows, dtype), xp.zeros(graph.n_cols, dtype)
    inside = square.rows_in, square.cols_in
    size = xp.zeros(3, dtype)
    kernels.launch_resident("square_part", n, mates.row_mate, *parts, square.label, from_row, *inside, size)
    lists = graph.indptr, graph.indices, back.indptr, back.indices
    kernels.launch("degrees", n_rows << int(shift), n, *lists, mates.row_mate, *inside, from_row, to_col, shift)
    queues = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    counts, barrier = xp.zeros(6, dtype), xp.zeros(2, np.int32)
    state = from_row, to_col, bits(xp, n_rows), *queues, counts, size[1:]
    kernels.launch_resident("peel", n, *lists, mates.row_mate, mates.col_mate, *inside, *state, shift, barrier)
    n_square, n_first, n_last = sizes = [int(k) for k in size.tolist()]
    if n_first + n_last:
        numbers = dtype.type(n_first), dtype.type(n_last), dtype.type(n_square)
        arrays = *queues, mates.row_mate, square.label, *inside, from_row
        kernels.launch("settle", n_first + n_last, *numbers, *arrays)
    return sizes, from_row


def _split_at_pivots(square: Square, size: list[int], from_row: IndexArray) -> None:
    """Label the components of pivots as long as there are large segments, and then all others."""
    graph = square.by_row
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n = compile.load("strong_components", dtype), dtype.type(n_rows)
    core = size[0] - size[1] - size[2]
    segments = _split(square, square, size[1], from_row)
    n_rest = sum(length for length, _ in segments)
    misses = int(core - n_rest < core >> _SMALL)
    for _ in range(_PIVOTS):
        length, start = max(segments)
        if length < max(core >> _SMALL, _FEW) or misses == _MISSES:
            break
        segments.remove((length, start))
        degree, part = (
            xp.empty(n_rows, dtype),
            replace(square, rows_in=bits(xp, n_rows), cols_in=bits(xp, graph.n_cols)),
        )
        of_part = dtype.type(start), part.rows_in, part.cols_in, degree
        row_mate = square.matching.row_mate
        kernels.launch("pick", n_rows, n, row_mate, square.label, square.rows_in, from_row, *of_part)
        segments += _split(square, part, start, degree)
        misses += n_rest - sum(k for k, _ in segments) < length >> _SMALL
        n_rest = sum(length for length, _ in segments)
    if n_rest:
        rest = xp.empty(n_rest, dtype)
        kernels.launch("list_rest", n_rows, n, square.rows_in, rest, xp.zeros(1, dtype))
        find_rest(square, rest)


def _split(square: Square, part: Square, begin: int, from_row: IndexArray) -> list[tuple[int, int]]:
    """Label the component of the row with the most entries left in a part; return length and begin of what is left."""
    graph, mates = square.by_row, square.matching
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n = compile.load("strong_components", dtype), dtype.type(n_rows)
    ahead, behind = reach_both_ways(part, xp.argmax(from_row).reshape(1))
    zone, of_zone = xp.empty(n_rows, np.int8), xp.zeros(4, dtype)
    kernels.launch_resident("zones", n, mates.row_mate, part.rows_in, ahead, behind, zone, of_zone)
    lengths = [int(k) for k in of_zone.tolist()]
    starts = np.cumsum([begin, *lengths[:3]]).tolist()
    inside = square.rows_in, square.cols_in
    start = xp.asarray(starts, dtype=dtype)
    kernels.launch("split", n_rows, n, mates.row_mate, zone, start, square.label, *inside)
    return [(lengths[k], starts[k]) for k in (0, 2, 3)]
