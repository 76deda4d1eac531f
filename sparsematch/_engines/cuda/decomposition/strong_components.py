"""Blocks of the square part on the device, in block upper triangular order.

See strong_components.cu.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.alternating_bfs import bits
from sparsematch._engines.cuda.core.transpose import share
from sparsematch._engines.cuda.decomposition.coarse_parts import CoarseParts
from sparsematch._engines.cuda.decomposition.colouring import find_rest
from sparsematch._engines.cuda.decomposition.multi_pivot import reach_both_ways
from sparsematch._engines.cuda.decomposition.small_components import solve_pieces
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching

#: Segments as large as one in 2^_SMALL of all rows, and not less than _FEW, get a pivot of their
#: own, so many of them; no more when for so many the component was less than that share of the
#: segment.
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
        Where in the order a row's segment begins, or its block when that is known; -1 horizontal
        part, -2 vertical.
    rows_in, cols_in : ndarray of uint32
        A bit for each row and column whose block is still to be found.
    """

    by_row: BipartiteCSR
    by_col: BipartiteCSR
    matching: Matching
    label: IndexArray
    rows_in: Any
    cols_in: Any


def block_labels(
    by_row: BipartiteCSR, by_col: BipartiteCSR, matching: Matching, parts: CoarseParts
) -> BlockLabels:
    """Return the group of every row; the matching must be maximum.

    Workspace: six indices per row, two per column, and what sorting the rest takes. Time: O(n_rows
    + n_cols + nnz), a barrier per level of each search, three waits for the device, two for each
    pivot and each round over the rest.
    """
    xp, dtype, n_rows = namespace(by_row.indptr), by_row.dtype, by_row.n_rows
    if not n_rows:
        return BlockLabels(xp.empty(0, dtype), 0)
    kernels = compile.load("decomposition/strong_components", dtype)
    square = Square(
        by_row, by_col, matching, xp.empty(n_rows, dtype), bits(xp, n_rows), bits(xp, by_row.n_cols)
    )
    size, from_row = _peel(square, parts)
    if size[0] > size[1] + size[2]:
        _split_core(square, size, from_row)
    begins = xp.zeros(max(size[0], 1), dtype)
    kernels.launch("mark", n_rows, dtype.type(n_rows), square.label, begins)
    blocks = xp.cumsum(begins, dtype=dtype)
    group = xp.empty(n_rows, dtype)
    kernels.launch(
        "number",
        n_rows,
        dtype.type(n_rows),
        matching.row_mate,
        square.label,
        blocks,
        blocks[-1:],
        group,
    )
    return BlockLabels(group, int(blocks[-1]))


def _peel(square: Square, parts: CoarseParts) -> tuple[list[int], IndexArray]:
    """Label the blocks of one row at both ends; return the numbers of rows: all, first, last; and the degrees left."""
    graph, back, mates = square.by_row, square.by_col, square.matching
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n, shift = (
        compile.load("decomposition/strong_components", dtype),
        dtype.type(n_rows),
        np.int32(share(graph)),
    )
    from_row, to_col = xp.zeros(n_rows, dtype), xp.zeros(graph.n_cols, dtype)
    inside = square.rows_in, square.cols_in
    size = xp.zeros(3, dtype)
    kernels.launch_resident(
        "square_part", n, mates.row_mate, *parts, square.label, from_row, *inside, size
    )
    lists = graph.indptr, graph.indices, back.indptr, back.indices
    kernels.launch(
        "degrees", n_rows << int(shift), n, *lists, mates.row_mate, *inside, from_row, to_col, shift
    )
    queues = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    counts, barrier = xp.zeros(6, dtype), xp.zeros(2, np.int32)
    state = from_row, to_col, bits(xp, n_rows), *queues, counts, size[1:], shift, barrier
    arrays = *lists, mates.row_mate, mates.col_mate, square.rows_in
    kernels.launch_resident("peel", n, *arrays, *state, blocks_per_processor=2)
    n_square, n_first, n_last = sizes = [int(k) for k in size.tolist()]
    if n_first + n_last:
        numbers = dtype.type(n_first), dtype.type(n_last), dtype.type(n_square)
        arrays = *queues, mates.row_mate, square.label, *inside, from_row
        kernels.launch("settle", n_first + n_last, *numbers, *arrays)
    return sizes, from_row


def _split_core(square: Square, size: list[int], from_row: IndexArray) -> None:
    """Label the components of what peeling has left; of a small part of the rows, those of small pieces first."""
    core, begin = size[0] - size[1] - size[2], size[1]
    whole, segments = core > size[0] >> 1, [(core, begin)]
    if not whole:
        rest = solve_pieces(square, _listed(square, core, begin))
        core, segments = rest.size, _large_segments(square, rest)
    if segments:
        core = _split_at_pivots(square, segments, core, from_row, whole)
        rest = solve_pieces(square, _listed(square, core))
    find_rest(square, rest)


def _large_segments(square: Square, rest: IndexArray) -> list[tuple[int, int]]:
    """Return length and begin of the segments that deserve a pivot; pieces that do not fit are segments too."""
    if rest.size < _FEW:
        return []
    starts, lengths = namespace(rest).unique(square.label[rest], return_counts=True)
    large = lengths >= max(rest.size >> _SMALL, _FEW)
    return list(zip(lengths[large].tolist(), starts[large].tolist(), strict=True))


def _listed(square: Square, n: int, begin: int = -1) -> IndexArray:
    """List the n rows whose block is still to be found; they become the segment that begins there, if it is told."""
    graph = square.by_row
    xp, dtype = namespace(graph.indptr), graph.dtype
    rest = xp.empty(n, dtype)
    arrays = (
        dtype.type(graph.n_rows),
        square.rows_in,
        dtype.type(begin),
        square.label,
        rest,
        xp.zeros(1, dtype),
    )
    if n:
        compile.load("decomposition/strong_components", dtype).launch(
            "list_rest", -(-graph.n_rows // 8), *arrays
        )
    return rest


def _split_at_pivots(
    square: Square, segments: list[tuple[int, int]], core: int, from_row: IndexArray, whole: bool
) -> int:
    """Label the components of pivots as long as there are large segments; return how many rows are left.

    If these are the whole core, only its rows have a degree above zero.
    """
    n_rest, misses = core, 0
    for turn in range(_PIVOTS + 1):
        length, start = max(segments)
        if misses >= _MISSES or (turn and length < max(core >> _SMALL, _FEW)):
            break
        segments.remove((length, start))
        part, degree = (
            (square, from_row) if whole and not turn else _segment(square, start, from_row)
        )
        left = _split(square, part, start, degree)
        found, apart = length - sum(k for k, _ in left), left[1][0]
        segments, n_rest = segments + left, n_rest - found
        if found < length >> _SMALL:
            # one that meets hardly any row tells all
            misses += _MISSES if apart > length - (length >> _SMALL) else 1
    return n_rest


def _segment(square: Square, start: int, from_row: IndexArray) -> tuple[Square, IndexArray]:
    """Return one segment as if it were all, and the degrees of its rows."""
    graph = square.by_row
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    degree, rows, cols = xp.empty(n_rows, dtype), bits(xp, n_rows), bits(xp, graph.n_cols)
    arrays = (
        square.matching.row_mate,
        square.label,
        square.rows_in,
        from_row,
        dtype.type(start),
        rows,
        cols,
        degree,
    )
    compile.load("decomposition/strong_components", dtype).launch(
        "pick", n_rows, dtype.type(n_rows), *arrays
    )
    return replace(square, rows_in=rows, cols_in=cols), degree


def _split(square: Square, part: Square, begin: int, from_row: IndexArray) -> list[tuple[int, int]]:
    """Label the component of the row with the most entries left in a part; return length and begin of what is left."""
    graph, mates = square.by_row, square.matching
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n = compile.load("decomposition/strong_components", dtype), dtype.type(n_rows)
    ahead, behind = reach_both_ways(part, xp.argmax(from_row).reshape(1))
    zone, of_zone = xp.empty(n_rows, np.int8), xp.zeros(4, dtype)
    kernels.launch_resident("zones", n, mates.row_mate, part.rows_in, ahead, behind, zone, of_zone)
    lengths = [int(k) for k in of_zone.tolist()]
    starts = np.cumsum([begin, *lengths[:3]]).tolist()
    inside = square.rows_in, square.cols_in
    start = xp.asarray(starts, dtype=dtype)
    kernels.launch("split", n_rows, n, mates.row_mate, zone, start, square.label, *inside)
    return [(lengths[k], starts[k]) for k in (0, 2, 3)]
