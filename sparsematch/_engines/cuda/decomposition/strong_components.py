"""Blocks of the square part on the device, in block upper triangular order.

See strong_components.cu.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import alternating_bfs, compile
from sparsematch._engines.cuda.core.device import bit_set, lanes_of
from sparsematch._engines.cuda.core.host_fallback import Allowance
from sparsematch._engines.cuda.core.running_sum import largest, running_sum
from sparsematch._engines.cuda.decomposition import multi_pivot
from sparsematch._engines.cuda.decomposition.coarse_parts import CoarseParts, coarse_parts
from sparsematch._engines.cuda.decomposition.colouring import colour_components
from sparsematch._engines.cuda.decomposition.multi_pivot import reach_both_ways
from sparsematch._engines.cuda.decomposition.small_components import solve_components
from sparsematch._engines.cuda.decomposition.square import Square
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching

#: Threads of a block that trims, at most.
THREADS = 512

#: A segment of more than 1 / 2^_SMALL of all rows, and _FEW rows, gets a pivot of its own, up to
#: _PIVOTS segments, until the component was less than that share of its segment _MISSES times. No
#: figures were kept.
_SMALL, _FEW, _PIVOTS, _MISSES = 4, 1 << 14, 8, 2


def block_labels(
    by_row: BipartiteCSR, by_col: BipartiteCSR, matching: Matching, most: int
) -> BlockLabels:
    """Return the group of every row; the matching must be maximum.

    Raises `TooDeepError` after more than `most` levels. Workspace: six indices per row,
    two per column, and what sorting the rest takes. Time: O(n_rows + n_cols + nnz), a barrier per
    level of each search, three waits for the device, two for each pivot and each round over the
    rest.
    """
    xp, dtype, n_rows = namespace(by_row.indptr), by_row.dtype, by_row.n_rows
    if not n_rows:
        return BlockLabels(xp.empty(0, dtype), 0)
    kernels = _kernels(dtype)
    inside = bit_set(xp, n_rows), bit_set(xp, by_row.n_cols)
    # numbers of rows, as _trim returns them; levels
    size = xp.zeros(4, dtype)
    allowance = Allowance(size[3:], most)
    parts = coarse_parts(by_row, by_col, matching, allowance)
    square = Square(by_row, by_col, matching, xp.empty(n_rows, dtype), *inside, allowance)
    size, from_row = _trim(square, parts, size)
    if size[0] > size[1] + size[2]:
        _split_core(square, size, from_row)
    begins = xp.zeros(max(size[0], 1), dtype)
    kernels.launch("mark", n_rows, dtype.type(n_rows), square.label, begins)
    blocks = running_sum(begins)
    group = xp.empty(n_rows, dtype)
    arrays = matching.row_mate, square.label, blocks, blocks[-1:], group
    kernels.launch("number", n_rows, dtype.type(n_rows), *arrays)
    return BlockLabels(group, int(blocks[-1]))


def modules() -> Iterator[compile.Module]:
    """Yield all that may be launched."""
    yield "decomposition/small_components", {}
    yield "decomposition/strong_components", {"THREADS": THREADS}
    yield "core/alternating_bfs", {"HUB": alternating_bfs.HUB}
    yield "decomposition/multi_pivot", {"ROOTS": multi_pivot.ROOTS}
    yield "decomposition/colouring", {}


def _kernels(dtype: np.dtype[Any]) -> compile.Kernels:
    return compile.load("decomposition/strong_components", dtype, THREADS=THREADS)


def _trim(square: Square, parts: CoarseParts, size: IndexArray) -> tuple[list[int], IndexArray]:
    """Label the blocks of one row at both ends.

    Return the numbers of rows: all, first, last; and the degrees left.
    """
    graph, mates, inside = square.by_row, square.matching, (square.rows_in, square.cols_in)
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n, shift = _kernels(dtype), dtype.type(n_rows), lanes_of(graph)
    from_row, to_col = xp.zeros(n_rows, dtype), xp.zeros(graph.n_cols, dtype)
    labels = square.label, from_row, *inside, size
    kernels.launch_resident("square_part", n, mates.row_mate, *parts, *labels)
    rows, cols = kernels.csr(graph), kernels.csr(square.by_col)
    state = mates.row_mate, *inside, from_row, to_col, shift
    kernels.launch("degrees", n_rows << int(shift), n, rows, cols, *state)
    queues = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    trim = kernels.struct(
        "Trim",
        rows=rows,
        cols=cols,
        row_mate=mates.row_mate,
        col_mate=mates.col_mate,
        rows_in=square.rows_in,
        from_row=from_row,
        to_col=to_col,
        removed=bit_set(xp, n_rows),
        first_queue=queues[0],
        last_queue=queues[1],
        widths=xp.zeros(6, dtype),
        removals=size[1:],
        shift=shift,
    )
    how = {"threads": THREADS, "blocks_per_processor": 2}
    allowance = square.allowance.struct(kernels)
    kernels.launch_resident("trim", n, trim, allowance, xp.zeros(2, np.int32), **how)
    n_square, n_first, n_last, used = (int(k) for k in size.tolist())
    square.allowance.check(used)
    if n_first + n_last:
        numbers = dtype.type(n_first), dtype.type(n_last), dtype.type(n_square)
        labels = mates.row_mate, square.label, *inside, from_row
        kernels.launch("settle", n_first + n_last, *numbers, *queues, *labels)
    return [n_square, n_first, n_last], from_row


def _split_core(square: Square, size: list[int], from_row: IndexArray) -> None:
    """Label the components of what trimming has left.

    Of a small part of the rows, those of small pieces first.
    """
    core, begin = size[0] - size[1] - size[2], size[1]
    whole, segments = core > size[0] >> 1, [(core, begin)]
    if not whole:
        rest = solve_components(square, _listed(square, core, begin))
        core, segments = rest.size, _large_segments(square, rest)
    if segments:
        core = _split_at_pivots(square, segments, core, from_row, whole)
        rest = solve_components(square, _listed(square, core))
    colour_components(square, rest)


def _large_segments(square: Square, rest: IndexArray) -> list[tuple[int, int]]:
    """Return length and begin of the segments that deserve a pivot.

    Pieces that do not fit are segments too.
    """
    if rest.size < _FEW:
        return []
    starts, lengths = namespace(rest).unique(square.label[rest], return_counts=True)
    large = lengths >= max(rest.size >> _SMALL, _FEW)
    return list(zip(lengths[large].tolist(), starts[large].tolist(), strict=True))


def _listed(square: Square, n: int, begin: int = -1) -> IndexArray:
    """List the n rows whose block is still to be found.

    They become one segment, which begins at `begin`, unless that is negative.
    """
    graph = square.by_row
    xp, dtype = namespace(graph.indptr), graph.dtype
    rest = xp.empty(n, dtype)
    state = square.rows_in, dtype.type(begin), square.label, rest, xp.zeros(1, dtype)
    if n:
        n_rows = graph.n_rows
        _kernels(dtype).launch("list_rest", -(-n_rows // 8), dtype.type(n_rows), *state)
    return rest


def _split_at_pivots(
    square: Square, segments: list[tuple[int, int]], core: int, from_row: IndexArray, whole: bool
) -> int:
    """Label the components of pivots as long as there are large segments.

    Return how many rows are left. If these are the whole core, only its rows have a degree above
    zero.
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
            # a component that meets hardly any row is evidence enough
            misses += _MISSES if apart > length - (length >> _SMALL) else 1
    return n_rest


def _segment(square: Square, start: int, from_row: IndexArray) -> tuple[Square, IndexArray]:
    """Return one segment as if it were all, and the degrees of its rows."""
    graph = square.by_row
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    degree, rows, cols = xp.empty(n_rows, dtype), bit_set(xp, n_rows), bit_set(xp, graph.n_cols)
    given = square.matching.row_mate, square.label, square.rows_in, from_row, dtype.type(start)
    _kernels(dtype).launch("pick", n_rows, dtype.type(n_rows), *given, rows, cols, degree)
    return replace(square, rows_in=rows, cols_in=cols), degree


def _split(square: Square, part: Square, begin: int, from_row: IndexArray) -> list[tuple[int, int]]:
    """Label the component of the row with the most entries left in a part.

    Return length and begin of the segments that are left.
    """
    graph, mates = square.by_row, square.matching
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n = _kernels(dtype), dtype.type(n_rows)
    ahead, behind = reach_both_ways(part, largest(from_row))
    square.allowance.check()
    of_row, counts = xp.empty(n_rows, np.int8), xp.zeros(4, dtype)
    reached = part.rows_in, ahead, behind
    kernels.launch_resident("classify", n, mates.row_mate, *reached, of_row, counts)
    lengths = [int(k) for k in counts.tolist()]
    starts = np.cumsum([begin, *lengths[:3]]).tolist()
    inside = square.rows_in, square.cols_in
    start = xp.asarray(starts, dtype=dtype)
    kernels.launch("split", n_rows, n, mates.row_mate, of_row, start, square.label, *inside)
    return [(lengths[k], starts[k]) for k in (0, 2, 3)]
