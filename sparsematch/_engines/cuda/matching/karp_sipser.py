"""Karp-Sipser start: columns and rows of degree one first, then picks. See karp_sipser.cu."""

from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.transpose import share
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Rows and columns of degree one first, then a column of fewest live rows for each row."
OPTIONS: dict[str, bool | float] = {"degree_one_only": False}

#: Passes over the rows: those with up to so many free columns; the last one is for all others.
ONE, FEW = (1, 1), (2,)

#: Rows that are visited in their own order, as in taken.cuh.
_STRETCH = 32


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal; with `degree_one_only`, add only pairs that some maximum matching contains.

    Reads: the graph. Writes: both mates. Workspace: 8 bytes for each column, a bit for each row and
    column. Time: O(nnz).
    """
    begin = perf_counter()
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, dtype, xp = (
        compile.load("matching/karp_sipser", graph.dtype),
        graph.dtype,
        namespace(graph.indptr),
    )
    n_rows, n_cols, seed = (
        dtype.type(graph.n_major),
        dtype.type(graph.n_minor),
        np.uint32(run.seed & 0xFFFFFFFF),
    )
    taken, gone = (
        xp.zeros(graph.n_minor // 32 + 1, np.uint32),
        xp.zeros(graph.n_major // 32 + 1, np.uint32),
    )
    if run.warm or run.steps:
        kernels.launch("mark", taken.size, n_cols, col_mate, taken)
        kernels.launch("mark", gone.size, n_rows, row_mate, gone)
    live, shift, lists = (
        xp.zeros(graph.n_minor, np.uint64),
        share(graph),
        (graph.indptr, graph.indices),
    )
    kernels.launch("count", graph.n_major << shift, n_rows, *lists, row_mate, live, np.int32(shift))
    state = *lists, row_mate, col_mate, live, taken, gone, seed
    kernels.launch("columns", graph.n_minor, n_cols, *state)
    bits = np.int32((-(-graph.n_major // _STRETCH) - 1).bit_length() if graph.n_major else 0)
    one_only = run.options.get("degree_one_only", OPTIONS["degree_one_only"])
    for most in ONE if one_only else (*ONE, *FEW, np.iinfo(dtype).max):
        kernels.launch("rows", graph.n_major, n_rows, *state, dtype.type(most), bits)
    run.steps.append(StepInfo("karp_sipser", perf_counter() - begin))


def single(graph: BipartiteCSR) -> float:
    """Return the share of the majors that have one entry; waits for the device."""
    count, n = namespace(graph.indptr).zeros(1, graph.dtype), graph.n_major
    kernels = compile.load("matching/karp_sipser", graph.dtype)
    kernels.launch("count_single", -(-n // 8), graph.dtype.type(n), graph.indptr, count)
    return int(count[0]) / max(n, 1)
