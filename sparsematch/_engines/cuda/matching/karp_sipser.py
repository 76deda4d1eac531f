"""Karp-Sipser start: vertices of degree one first, then picks. See karp_sipser.cu."""

from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set, index_bits, seed_of
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching import cheap
from sparsematch._engines.cuda.matching.features import is_symmetric
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Vertices of degree one first, then the free neighbour of least degree for each vertex."
OPTIONS: dict[str, bool | float] = {"degree_one_only": False}

#: As in karp_sipser.cu: entries above which a list is left to a whole block; tallies.
LONG, TALLIES = 256, 4

#: Threads of a block, blocks of a processor: more threads pick at the same time, and worse.
MACROS = {"THREADS": 512, "BLOCKS": 2}


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal.

    With `degree_one_only`, add only pairs that some maximum matching contains. Reads: the graph;
    its transpose, unless the pattern is symmetric. Writes: both mates. Workspace: 4 bytes for each
    vertex. Time: O(nnz).
    """
    begin = perf_counter()
    one_only = run.options.get("degree_one_only", OPTIONS["degree_one_only"])
    if graph.n_major + graph.n_minor <= np.iinfo(graph.dtype).max:  # else they have no numbers
        _match(graph, matching, run, bool(one_only))
    if not one_only:  # what threads that held a vertex for a moment have kept others from
        cheap.complete(graph, matching)
    run.steps.append(StepInfo("karp_sipser", perf_counter() - begin))


def _match(graph: BipartiteCSR, matching: Matching, run: Run, one_only: bool) -> None:
    """Launch the kernel; note what it settles, and what is free together."""
    xp, warm = namespace(graph.indptr), run.warm or bool(run.steps)
    symmetric = is_symmetric(graph, run)
    columns = graph if symmetric else transpose(graph, run)
    # where some are matched, rows and columns are vertices of their own
    mirrored = symmetric and not warm
    n = graph.n_major + (0 if mirrored else graph.n_minor)
    if not warm:
        rows = bit_set(xp, graph.n_major)
        run.settled = rows, rows if mirrored else bit_set(xp, graph.n_minor)
        run.free_together = mirrored
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels = compile.load("matching/karp_sipser", graph.dtype, **MACROS)
    settled: tuple[Any, Any] = run.settled or (None, None)
    state = kernels.struct(
        "KarpSipser",
        rows=kernels.csr(graph),
        columns=kernels.csr(columns),
        n=n,
        n_rows=graph.n_major,
        row_mate=row_mate,
        col_mate=col_mate,
        word=xp.empty(n, np.uint32),
        long_lists=xp.empty(2 * (graph.nnz // LONG + 1), graph.dtype),
        tallies=xp.zeros(2 * TALLIES, np.int32),
        settled_rows=settled[0],
        settled_columns=settled[1],
        bits=index_bits(n),
        seed=seed_of(run),
        symmetric=mirrored,
        warm=warm,
        one_only=one_only,
        turn=0,
    )
    how = {"threads": MACROS["THREADS"], "blocks_per_processor": MACROS["BLOCKS"]}
    kernels.launch_resident("karp_sipser", state, xp.zeros(2, np.int32), **how)
