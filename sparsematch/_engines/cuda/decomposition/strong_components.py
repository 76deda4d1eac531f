"""Blocks of the square part, in block upper triangular order. See strong_components.cu."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set, lanes_of
from sparsematch._engines.cuda.core.host_fallback import Allowance
from sparsematch._engines.cuda.decomposition.colouring import colour_components
from sparsematch._engines.cuda.decomposition.multi_pivot import reach_both_ways
from sparsematch._engines.cuda.decomposition.small_components import LARGE, solve_components
from sparsematch._engines.cuda.decomposition.square import Square, coarse_parts
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching

load = compile.declare("decomposition/strong_components", THREADS=compile.THREADS)


def block_labels(
    by_row: BipartiteCSR, by_col: BipartiteCSR, matching: Matching, run: Run, most: int
) -> BlockLabels:
    """Return the group of every row; the matching must be maximum."""
    # Raises `TooDeepError` after more than `most` levels. Workspace: six indices per row, two per
    # column, and what sorting the rest takes. Time: O(n_rows + n_cols + nnz), a barrier per level
    # of each search, three waits for the device, two for the pivot and each round over the rest.
    xp, dtype, n_rows = namespace(by_row.indptr), by_row.dtype, by_row.n_rows
    if not n_rows:
        return BlockLabels(xp.empty(0, dtype), 0)
    kernels = load(dtype)
    inside = bit_set(xp, n_rows), bit_set(xp, by_row.n_cols)
    # numbers of rows, as _trim returns them; levels
    size = xp.zeros(4, dtype)
    allowance = Allowance(size[3:], most)
    parts = run.timed("coarse parts", coarse_parts, by_row, by_col, matching, allowance)
    square = Square(by_row, by_col, matching, xp.empty(n_rows, dtype), *inside, allowance)
    size, from_row = run.timed("trimming", _trim, square, parts, size)
    if size[0] > size[1] + size[2]:
        run.timed("strong components", _split_core, square, size, from_row)
    begins = xp.zeros(max(size[0], 1), dtype)
    kernels.launch("mark", n_rows, dtype.type(n_rows), square.label, begins)
    blocks = xp.cumsum(begins, dtype=dtype, out=begins)
    group = xp.empty(n_rows, dtype)
    arrays = matching.row_mate, square.label, blocks, blocks[-1:], group
    kernels.launch("number", n_rows, dtype.type(n_rows), *arrays)
    return BlockLabels(group, int(blocks[-1]))


def _trim(square: Square, parts: Any, size: IndexArray) -> tuple[list[int], IndexArray]:
    """Label the blocks of one row at both ends."""
    # Return the numbers of rows: all, first, last; and the degrees left.
    graph, mates, inside = square.by_row, square.matching, (square.rows_in, square.cols_in)
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n, shift = load(dtype), dtype.type(n_rows), lanes_of(graph)
    from_row, to_col = xp.zeros(n_rows, dtype), xp.zeros(graph.n_cols, dtype)
    labels = square.label, from_row, *inside, size
    kernels.launch_resident("square_part", n, mates.row_mate, *parts, *labels)
    rows, cols = kernels.struct("Csr", graph), kernels.struct("Csr", square.by_col)
    state = mates.row_mate, *inside, from_row, to_col, shift
    kernels.launch("degrees", n_rows << int(shift), n, rows, cols, *state)
    queues = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    degrees = {"rows": rows, "cols": cols, "from_row": from_row, "to_col": to_col, "shift": shift}
    lists = {"first_queue": queues[0], "last_queue": queues[1], "removed": bit_set(xp, n_rows)}
    counts = {"widths": xp.zeros(6, dtype), "removals": size[1:]}
    trim = kernels.struct("Trim", square, mates, **degrees, **lists, **counts)
    rest = trim, square.allowance.struct(kernels), xp.zeros(2, np.int32)
    kernels.launch_resident("trim", n, *rest, blocks_per_processor=2)
    n_square, n_first, n_last, used = (int(k) for k in size.tolist())
    square.allowance.check(used)
    if n_first + n_last:
        numbers = dtype.type(n_first), dtype.type(n_last), dtype.type(n_square)
        labels = mates.row_mate, square.label, *inside, from_row
        kernels.launch("settle", n_first + n_last, *numbers, *queues, *labels)
    return [n_square, n_first, n_last], from_row


def _split_core(square: Square, size: list[int], from_row: IndexArray) -> None:
    """Label the components of what trimming has left: of a pivot, of small pieces, of the rest."""
    # Where all of it may be one small piece, there is no pivot.
    core, begin = size[0] - size[1] - size[2], size[1]
    if core <= LARGE:
        rest = _listed(square, core, begin)
    else:
        rest = _listed(square, core - _split(square, begin, from_row))
    colour_components(square, solve_components(square, rest))


def _listed(square: Square, n: int, begin: int = -1) -> IndexArray:
    """List the n rows whose block is still to be found."""
    # They become one segment, which begins at `begin`, unless that is negative.
    graph = square.by_row
    xp, dtype = namespace(graph.indptr), graph.dtype
    rest = xp.empty(n, dtype)
    state = square.rows_in, dtype.type(begin), square.label, rest, xp.zeros(1, dtype)
    if n:
        load(dtype).launch("list_rest", -(-graph.n_rows // 8), dtype.type(graph.n_rows), *state)
    return rest


def _split(square: Square, begin: int, from_row: IndexArray) -> int:
    """Label the component of the row with the most entries left; return how many rows it has."""
    # What leads to it, what does neither and what it leads to are segments, from `begin` on.
    graph, mates = square.by_row, square.matching
    xp, dtype, n_rows = namespace(graph.indptr), graph.dtype, graph.n_rows
    kernels, n = load(dtype), dtype.type(n_rows)
    best, pivot, barrier = xp.zeros(1, np.uint64), xp.empty(1, np.int64), xp.zeros(2, np.int32)
    kernels.launch_resident("find_pivot", n, from_row, best, pivot, barrier)
    ahead, behind = reach_both_ways(square, pivot)
    square.allowance.check()
    of_row, counts = xp.empty(n_rows, np.int8), xp.zeros(4, dtype)
    reached = square.rows_in, ahead, behind
    kernels.launch_resident("classify", n, mates.row_mate, *reached, of_row, counts)
    lengths = counts.tolist()
    start = xp.asarray(np.cumsum([begin, *lengths[:3]]), dtype=dtype)
    inside = square.rows_in, square.cols_in
    kernels.launch("split", n_rows, n, mates.row_mate, of_row, start, square.label, *inside)
    return int(lengths[1])
