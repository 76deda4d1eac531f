"""Cheap start: each free row is matched with a free column of its own."""

from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import DeviceByProducts
from sparsematch._engines.cuda.core.device import seed_of
from sparsematch._engines.cuda.matching import start_common
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "A free neighbour drawn at random, all rows at once."
OPTIONS: dict[str, bool | float] = {"random": True}

load = compile.declare("matching/cheap", STRETCH=start_common.STRETCH)


def improve(
    graph: BipartiteCSR, matching: Matching, run: Run, before: DeviceByProducts | None = None
) -> DeviceByProducts | None:
    """Make the matching maximal.

    Reads: the graph. Writes: both mates. Workspace: a bit for each column. Time: O(nnz).
    """
    begin = perf_counter()
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, n_rows = load(graph.dtype), graph.n_major
    warm = bool(run.matched)
    matched = start_common.matched(kernels, col_mate, warm)
    at_random = np.bool_(run.options.get("random", OPTIONS["random"]))
    order = at_random, start_common.stretch_bits(n_rows), seed_of(run)
    arrays = graph.indptr, graph.indices, row_mate, col_mate, matched
    kernels.launch("cheap", n_rows, graph.dtype.type(n_rows), *arrays, np.bool_(warm), *order)
    run.steps.append(StepInfo("cheap", perf_counter() - begin))
    return before


def complete(graph: BipartiteCSR, matching: Matching) -> None:
    """Match what few rows are free beside free columns, in their own order."""
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, n_rows = load(graph.dtype), graph.n_major
    matched = start_common.matched(kernels, col_mate, True)
    arrays = graph.indptr, graph.indices, row_mate, col_mate, matched
    in_order = np.bool_(False), np.int32(0), np.uint32(0)
    kernels.launch("cheap", n_rows, graph.dtype.type(n_rows), *arrays, np.bool_(True), *in_order)
