"""Strong components by colouring, of what trimming and the pivot have left. See colouring.cu."""

import functools

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set, index_bits, lanes_of
from sparsematch._engines.cuda.decomposition.small_components import solve_components
from sparsematch._engines.cuda.decomposition.square import Square

load = compile.declare("decomposition/colouring")


def colour_components(square: Square, rest: IndexArray) -> None:
    """Label the components of the rows listed, those of all segments in the same rounds."""
    # None is in a small component of the symmetric graph: `solve_components` solves what becomes
    # small. Each round finds a component at least for every colour of the others; colours are in no
    # order, so rounds grow with the log of the number of components. Workspace: 8 indices a row.
    xp, dtype = namespace(rest), rest.dtype
    n_rows = square.by_row.n_rows if rest.size else 0
    colour, queued = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    kernels = load(dtype)
    while rest.size:
        key = _round(square, rest, colour, queued)
        size, order = dtype.type(rest.size), xp.argsort(key)
        listed, sorted_key = xp.empty_like(rest), xp.empty_like(key)
        kernels.launch("gather", rest.size, size, order, rest, key, listed, sorted_key)
        left, n_left = xp.empty_like(rest), xp.zeros(1, dtype)
        bits = square.rows_in, square.cols_in
        arrays = listed, sorted_key, square.matching.row_mate, square.label, *bits, left, n_left
        kernels.launch("relabel", rest.size, size, *arrays)
        rest = solve_components(square, left[: int(n_left[0])])


def _round(square: Square, rest: IndexArray, colour: IndexArray, queued: IndexArray) -> IndexArray:
    """Find the first component of every colour."""
    # Return keys that sort the rows by segment, colour, and whether they are in it.
    graph, back, mates = square.by_row, square.by_col, square.matching
    xp, dtype = namespace(rest), rest.dtype
    kernels, size = load(dtype), rest.size
    n, n_bits, queues = dtype.type(size), index_bits(max(size, 2)), xp.empty(2 * size, dtype)
    found, barrier = bit_set(xp, graph.n_rows), xp.zeros(2, np.int32)
    kernels.launch("paint", size, n, rest, n_bits, colour, queued)
    arcs = functools.partial(kernels.struct, "Arcs", shift=lanes_of(graph))
    ahead = arcs(lists=kernels.struct("Csr", graph), mate=mates.col_mate, inside=square.cols_in)
    colours = square.label, colour, queued, queues, xp.zeros(3, dtype)
    allowance = square.allowance.struct(kernels)
    kernels.launch_resident("spread", n, rest, ahead, *colours, allowance, barrier)
    barrier.fill(0)
    behind = arcs(lists=kernels.struct("Csr", back), mate=mates.row_mate, inside=square.rows_in)
    state = colour, found, queues, xp.zeros(3, dtype)
    kernels.launch_resident("collect", n, rest, n_bits, behind, *state, allowance, barrier)
    square.allowance.check()
    key = xp.empty(size, np.int64)
    kernels.launch("keys", size, n, rest, square.label, colour, found, key)
    return key
