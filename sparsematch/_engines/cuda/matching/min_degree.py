"""Minimum-degree start: rows with short lists first, each with the free column that the fewest rows have."""

from itertools import pairwise
from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Rows of fewest entries first, each with the free column of fewest entries."
OPTIONS: dict[str, bool | float] = {}

#: Lengths of lists that are done together, by a thread each; longer ones come last, by a warp each.
CLASSES = (0, 1, 2, 3, 4, 6, 8, 12)

#: Rows that are visited in their own order, as in min_degree.cu.
_STRETCH = 32


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal.

    Reads: the graph. Writes: both mates. Workspace: a number and a bit for each column. Time:
    O(nnz).
    """
    begin = perf_counter()
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, index, xp = (
        compile.load("matching/min_degree", graph.dtype),
        graph.dtype.type,
        namespace(graph.indptr),
    )
    n_rows, n_cols, nnz = graph.n_major, graph.n_minor, graph.nnz
    degree, taken = xp.zeros(n_cols, np.int32), xp.zeros(n_cols // 32 + 1, np.uint32)
    if run.warm or run.steps:
        kernels.launch("mark", taken.size, index(n_cols), col_mate, taken)
    kernels.launch("count", nnz, index(nnz), graph.indices, degree)
    arrays = graph.indptr, graph.indices, degree, row_mate, col_mate, taken
    order = (
        np.int32((-(-n_rows // _STRETCH) - 1).bit_length() if n_rows else 0),
        np.uint32(run.seed & 0xFFFFFFFF),
    )
    for above, upto in pairwise(CLASSES):
        kernels.launch("choose", n_rows, index(n_rows), *arrays, index(above), index(upto), *order)
    kernels.launch("choose_long", 32 * n_rows, index(n_rows), *arrays, index(CLASSES[-1]), *order)
    run.steps.append(StepInfo("min_degree", perf_counter() - begin))


def skew(graph: BipartiteCSR) -> float:
    """Return the mean square of the lengths of lists over that of equal ones; waits for the device."""
    total = namespace(graph.indptr).zeros(1, np.uint64)
    kernels = compile.load("matching/min_degree", graph.dtype)
    kernels.launch(
        "squares", -(-graph.n_major // 8), graph.dtype.type(graph.n_major), graph.indptr, total
    )
    return float(total[0]) * graph.n_major / max(graph.nnz, 1) ** 2
