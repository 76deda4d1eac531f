"""The strong components of small pieces that no entry joins, a block of threads for each piece.

See pieces.cu.
"""

from typing import TYPE_CHECKING

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.transpose import share
from sparsematch._types.arrays import IndexArray, namespace

if TYPE_CHECKING:
    from sparsematch._engines.cuda.decomposition.strong_components import Square

#: Threads that take the small pieces, a warp each; threads of a block for a large one, and of all
#: these blocks.
_WARPS, _CREW, _CREWS = 1 << 18, 128, 1 << 17


def solve_pieces(square: "Square", rest: IndexArray) -> IndexArray:
    """Label the components of the small pieces among the rows that are listed; return the rows of the others.

    Two rows are in one piece if entries join them within their segment, in whatever direction.
    Workspace: six indices per row. Time: O(n_rows + nnz), a wait for the device.
    """
    if not rest.size:
        return rest
    graph, mates, xp, dtype = square.by_row, square.matching, namespace(rest), rest.dtype
    kernels, size, n = (
        compile.load("decomposition/small_components", dtype),
        rest.size,
        dtype.type(rest.size),
    )
    up, sizes, place, begin, order = xp.empty((5, graph.n_rows), dtype)
    taken, lists, count = (
        xp.zeros(graph.n_rows, dtype),
        xp.empty((2, size), dtype),
        xp.zeros(3, dtype),
    )
    kernels.launch("plant", size, n, rest, up, sizes)
    shift = share(graph)
    arcs = graph.indptr, graph.indices, mates.col_mate, square.cols_in, square.label
    kernels.launch("join_rows", size << shift, n, rest, *arcs, up, np.int32(shift))
    kernels.launch("measure", size, n, rest, up, sizes, place)
    kernels.launch("divide", size, n, rest, up, sizes, square.label, taken, begin, *lists, count)
    kernels.launch("seat", size, n, rest, up, begin, taken, place, square.label, order)
    part = (
        graph.indptr,
        graph.indices,
        mates.row_mate,
        mates.col_mate,
        square.label,
        square.rows_in,
        square.cols_in,
    )
    kernels.launch(
        "solve_small", _WARPS, *part, order, place, begin, sizes, *lists, count, threads=32
    )
    kernels.launch(
        "solve_large", _CREWS, *part, order, place, begin, sizes, lists[1], count, threads=_CREW
    )
    left = lists[0]
    kernels.launch("list_left", size, n, rest, square.rows_in, left, count[2:])
    return left[: int(count[2])]
