"""Minimum-degree start: rows with short lists first, each with the free column of fewest rows."""

from itertools import pairwise
from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.core.device import seed_of
from sparsematch._engines.cuda.matching import start_common
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Rows of fewest entries first, each with the free column of fewest entries."
OPTIONS: dict[str, bool | float] = {}

#: Lengths of lists that are done together, by a thread each; longer ones, by a warp each.
CLASSES = (0, 1, 2, 3, 4, 6, 8, 12)
LONG_CLASSES = (12, 16, 24, 32, 64, 128, 2**31 - 1)


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal.

    Reads: the graph. Writes: both mates. Workspace: a number and a bit for each column. Time:
    O(nnz).
    """
    begin = perf_counter()
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, index = start_common.load("matching/min_degree", graph.dtype), graph.dtype.type
    n_rows, degree = graph.n_major, namespace(graph.indptr).zeros(graph.n_minor, np.int32)
    taken = start_common.matched(kernels, col_mate, run.warm or bool(run.steps))
    kernels.launch("count", graph.nnz, index(graph.nnz), graph.indices, degree)
    state = kernels.struct(
        "MinDegree",
        lists=kernels.csr(graph),
        degree=degree,
        row_mate=row_mate,
        col_mate=col_mate,
        taken=taken,
    )
    order = start_common.stretch_bits(n_rows), seed_of(run)
    for above, upto in pairwise(CLASSES):
        kernels.launch("choose", n_rows, index(n_rows), state, index(above), index(upto), *order)
    for above, upto in pairwise(LONG_CLASSES):
        kernels.launch(
            "choose_long", n_rows, index(n_rows), state, index(above), index(upto), *order
        )
    run.steps.append(StepInfo("min_degree", perf_counter() - begin))
