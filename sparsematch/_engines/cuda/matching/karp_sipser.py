"""Karp-Sipser start: columns and rows of degree one first, then picks. See karp_sipser.cu."""

from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.core.device import lanes_of, seed_of
from sparsematch._engines.cuda.matching import start_common
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Rows and columns of degree one first, then a column of fewest live rows for each row."
OPTIONS: dict[str, bool | float] = {"degree_one_only": False}

#: Passes over the rows: those with up to so many free columns; the last one is for all others.
ONE, FEW = (1, 1), (2,)


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal.

    With `degree_one_only`, add only pairs that some maximum matching contains. Reads: the graph.
    Writes: both mates. Workspace: 8 bytes for each column, a bit for each row and column. Time:
    O(nnz).
    """
    begin = perf_counter()
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, index = start_common.load("matching/karp_sipser", graph.dtype), graph.dtype.type
    n_rows, n_cols = index(graph.n_major), index(graph.n_minor)
    warm, shift = run.warm or bool(run.steps), lanes_of(graph)
    live = namespace(graph.indptr).zeros(graph.n_minor, np.uint64)
    state = kernels.struct(
        "KarpSipser",
        lists=kernels.csr(graph),
        row_mate=row_mate,
        col_mate=col_mate,
        live=live,
        taken=start_common.matched(kernels, col_mate, warm),
        gone=start_common.matched(kernels, row_mate, warm),
        seed=seed_of(run),
    )
    lists = graph.indptr, graph.indices
    kernels.launch("count", graph.n_major << int(shift), n_rows, *lists, row_mate, live, shift)
    kernels.launch("columns", graph.n_minor, n_cols, state)
    bits = start_common.stretch_bits(graph.n_major)
    one_only = run.options.get("degree_one_only", OPTIONS["degree_one_only"])
    for most in ONE if one_only else (*ONE, *FEW, np.iinfo(graph.dtype).max):
        kernels.launch("rows", graph.n_major, n_rows, state, index(most), bits)
    run.steps.append(StepInfo("karp_sipser", perf_counter() - begin))
