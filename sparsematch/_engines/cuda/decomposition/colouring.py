"""The components that peeling and the pivot have left, in rounds. See rest_components.cu."""

from typing import TYPE_CHECKING

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.alternating_bfs import bits
from sparsematch._engines.cuda.core.transpose import share
from sparsematch._engines.cuda.decomposition.small_components import solve_pieces
from sparsematch._types.arrays import IndexArray, namespace

if TYPE_CHECKING:
    from sparsematch._engines.cuda.decomposition.strong_components import Square


def find_rest(square: "Square", rest: IndexArray) -> None:
    """Label the components of the rows that are listed, those of all segments in the same rounds.

    None of them is in a small piece, and pieces that become small are solved as they are. Each
    round finds one component at least for every colour of the others; the colours are in no order,
    so that the number of rounds grows with the logarithm of the number of components. Workspace:
    eight indices per row.
    """
    xp, dtype = namespace(rest), rest.dtype
    n_rows = square.by_row.n_rows if rest.size else 0
    colour, queued = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    while rest.size:
        key = _round(square, rest, colour, queued)
        order = xp.argsort(key)
        rest, key = rest[order], key[order]
        # A segment begins where its label says, a part of it as many places later as there are rows
        # of it before.
        segment = key >> 32
        place = segment + xp.searchsorted(key, key) - xp.searchsorted(key, segment << 32)
        sizes = dtype.type(rest.size)
        arrays = (
            rest,
            key,
            place,
            square.matching.row_mate,
            square.label,
            square.rows_in,
            square.cols_in,
        )
        compile.load("decomposition/colouring", dtype).launch("relabel", rest.size, sizes, *arrays)
        rest = rest[(key & 1).astype(bool)]
        rest = solve_pieces(square, rest)


def _round(
    square: "Square", rest: IndexArray, colour: IndexArray, queued: IndexArray
) -> IndexArray:
    """Find the first component of every colour; return what sorts the rows by segment, colour, and whether found."""
    graph, back, mates = square.by_row, square.by_col, square.matching
    xp, dtype = namespace(rest), rest.dtype
    kernels, size = compile.load("decomposition/colouring", dtype), rest.size
    n, shift, n_bits = (
        dtype.type(size),
        np.int32(share(graph)),
        np.int32(max(size - 1, 1).bit_length()),
    )
    queues = xp.empty(size, dtype), xp.empty(size, dtype)
    found, barrier = bits(xp, graph.n_rows), xp.zeros(2, np.int32)
    kernels.launch("paint", size, n, rest, n_bits, colour, queued)
    along_rows = graph.indptr, graph.indices, mates.col_mate, square.cols_in, square.label
    state = colour, queued, *queues, xp.zeros(3, dtype)
    kernels.launch_resident("spread", n, rest, *along_rows, *state, shift, barrier)
    barrier.fill(0)
    along_cols = back.indptr, back.indices, mates.row_mate, square.rows_in
    found_by = colour, found, queues[0], xp.zeros(3, dtype)
    kernels.launch_resident("collect", n, rest, n_bits, *along_cols, *found_by, shift, barrier)
    key = xp.empty(size, np.int64)
    kernels.launch("keys", size, n, rest, square.label, colour, found, key)
    return key
