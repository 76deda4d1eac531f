"""Cheap start: each free row takes a free column of its own."""

from time import perf_counter

import numpy as np

from sparsematch._engines.cuda import compile
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "A free neighbour drawn at random, all rows at once."
OPTIONS: dict[str, bool | float] = {"random": True}


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal.

    Reads: the graph. Writes: both mates. Workspace: none. Time: O(nnz).
    """
    begin = perf_counter()
    mates = graph.orient(matching.row_mate, matching.col_mate)
    at_random = np.bool_(run.options.get("random", OPTIONS["random"]))
    sizes = graph.dtype.type(graph.n_major)
    arrays = graph.indptr, graph.indices, *mates
    order = np.int32(max(graph.n_major - 1, 0).bit_length()), np.uint32(run.seed & 0xFFFFFFFF)
    compile.load("cheap", graph.dtype).launch("cheap", graph.n_major, sizes, *arrays, at_random, *order)
    run.steps.append(StepInfo("cheap", perf_counter() - begin))
