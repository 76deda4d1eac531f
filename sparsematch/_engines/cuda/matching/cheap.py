"""Cheap start: each free row takes a free column of its own."""

from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "A free neighbour drawn at random, all rows at once."
OPTIONS: dict[str, bool | float] = {"random": True}


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal.

    Reads: the graph. Writes: both mates. Workspace: a bit for each column. Time: O(nnz).
    """
    begin = perf_counter()
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, index = compile.load("matching/cheap", graph.dtype), graph.dtype.type
    warm = run.warm or bool(run.steps)
    taken = namespace(col_mate).zeros(graph.n_minor // 32 + 1, np.uint32)
    if warm:
        kernels.launch("mark", taken.size, index(graph.n_minor), col_mate, taken)
    at_random = np.bool_(run.options.get("random", OPTIONS["random"]))
    order = (
        at_random,
        np.int32(max(graph.n_major - 1, 0).bit_length()),
        np.uint32(run.seed & 0xFFFFFFFF),
    )
    arrays = graph.indptr, graph.indices, row_mate, col_mate, taken
    kernels.launch("cheap", graph.n_major, index(graph.n_major), *arrays, np.bool_(warm), *order)
    run.steps.append(StepInfo("cheap", perf_counter() - begin))
