"""Strong components of small pieces, a block of threads for each. See small_components.cu."""

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import lanes_of
from sparsematch._engines.cuda.decomposition.square import Square

#: Rows of a piece that a block solves, at most.
LARGE = 2048

load = compile.declare("decomposition/small_components", LARGE=LARGE)


def solve_components(square: Square, rest: IndexArray) -> IndexArray:
    """Label the components of the small pieces among the rows listed; return the other rows."""
    # Two rows are in one piece if entries join them within their segment, in whatever direction.
    # Workspace: six indices per row. Time: O(n_rows + nnz), a wait for the device.
    if not rest.size:
        return rest
    graph, xp, dtype, size = square.by_row, namespace(rest), rest.dtype, rest.size
    kernels = load(dtype)
    shift, listed = lanes_of(graph), (dtype.type(size), rest)
    up, sizes, place, begin, order = xp.empty((5, graph.n_rows), dtype)
    assigned, count = xp.zeros(graph.n_rows, dtype), xp.zeros(3, dtype)
    small, large = xp.empty((2, size), dtype)
    part = kernels.struct("Square", square, square.matching, rows=kernels.struct("Csr", graph))
    pieces = kernels.struct("Pieces", order=order, place=place, begin=begin, size=sizes)
    kernels.launch("plant", size, *listed, up, sizes)
    kernels.launch("join_rows", size << int(shift), *listed, part, up, shift)
    kernels.launch("measure", size, *listed, up, sizes, place)
    divided = assigned, begin, small, large, count
    kernels.launch("divide", size, *listed, up, sizes, square.label, *divided)
    kernels.launch("sort_rows", size, *listed, up, begin, assigned, place, square.label, order)
    kernels.launch("solve_small", compile.FILLING, part, pieces, small, large, count, threads=32)
    kernels.launch("solve_large", compile.FILLING, part, pieces, large, count, threads=128)
    kernels.launch("list_left", size, *listed, square.rows_in, small, count[2:])
    return small[: int(count[2])]
