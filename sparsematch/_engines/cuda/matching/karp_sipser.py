"""Karp-Sipser start: karp_sipser.cu, or of the graph if symmetric: graph_karp_sipser.cu."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, IndexPair, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import Before, DeviceByProducts
from sparsematch._engines.cuda.core.device import bit_set, index_bits, lanes_of, seed_of
from sparsematch._engines.cuda.matching import cheap, start_common
from sparsematch._engines.cuda.matching.features import with_symmetry
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "Rows and columns of degree one first, then a column of least residual degree each."
OPTIONS: dict[str, bool | float] = {"degree_one_only": False}

#: Passes over the rows that have one free column; then those with so few, then all others.
ONE, FEW = 2, 2

#: As in graph_karp_sipser.cu: entries above which a list is left to a whole block; tallies.
LONG, TALLIES = 256, 4

#: Blocks of a processor, of the graph. More pick at the same time, and worse.
_BLOCKS = 2

load_of_graphs = compile.declare(
    "matching/graph_karp_sipser", THREADS=compile.THREADS, BLOCKS=_BLOCKS
)
load = compile.declare("matching/karp_sipser", STRETCH=start_common.STRETCH)


def improve(
    graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None, maximal: bool = True
) -> Before:
    """Make the matching maximal; or nearly so, before a search, which finds the pairs that lack."""
    # With `degree_one_only`, add only pairs that some maximum matching contains. Reads: the graph.
    # Writes: both mates. Time: O(nnz).
    one_only = bool(run.options.get("degree_one_only", OPTIONS["degree_one_only"]))
    warm = bool(run.matched)
    known = before or DeviceByProducts()
    with run.step("karp_sipser"):
        if not warm and with_symmetry(graph, known).symmetric:
            finished = _match_graph(graph, matching, run, one_only)
            known.finished, known.free_together = (finished, finished), True
            if maximal and not one_only:  # the diagonal; what was held by another for a moment
                cheap.complete(graph, matching)
        elif pair := _match_sides(graph, matching, run, warm, one_only):
            known.finished = pair
    return known


def _match_graph(graph: BipartiteCSR, matching: Matching, run: Run, one_only: bool) -> IndexArray:
    """Match the graph of a symmetric pattern; return which vertices are finished."""
    xp, n = namespace(graph.indptr), graph.n_major
    kernels = load_of_graphs(graph.dtype)
    finished = xp.empty(n // 32 + 1, np.uint32)
    counters = xp.zeros(2 * TALLIES + 2, np.int32)  # the last two: the barrier
    fields: dict[str, Any] = {"n": n, "word": xp.empty(n, np.uint32)}
    fields |= {"long_lists": xp.empty(graph.nnz // LONG + 1, graph.dtype), "tallies": counters}
    fields |= {"finished": finished, "bits": index_bits(n), "seed": seed_of(run)}
    fields |= {"turn": 0, "one_only": one_only}
    state = start_common.state(kernels, "GraphKarpSipser", graph, matching, **fields)
    given = state, counters[2 * TALLIES :]
    kernels.launch_resident("graph_karp_sipser", *given, blocks_per_processor=_BLOCKS)
    return finished


def _match_sides(
    graph: BipartiteCSR, matching: Matching, run: Run, warm: bool, one_only: bool
) -> IndexPair | None:
    """Match rows and columns, by the lists of rows; return which are finished unless warm."""
    xp = namespace(graph.indptr)
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, index = load(graph.dtype), graph.dtype.type
    n_rows, n_cols, shift = index(graph.n_major), index(graph.n_minor), lanes_of(graph)
    residual = xp.zeros(graph.n_minor, np.uint64)
    fields = {"residual": residual, "matched": start_common.matched(kernels, col_mate, warm)}
    fields |= {"removed": start_common.matched(kernels, row_mate, warm), "seed": seed_of(run)}
    state = start_common.state(kernels, "KarpSipser", graph, matching, **fields)
    lists = graph.indptr, graph.indices
    kernels.launch("count", graph.n_major << int(shift), n_rows, *lists, row_mate, residual, shift)
    bits = start_common.stretch_bits(graph.n_major)
    kernels.launch("columns", graph.n_minor, n_cols, state)
    for _ in range(ONE):
        kernels.launch("rows", graph.n_major, n_rows, state, index(1), bits)
        kernels.launch("columns", graph.n_minor, n_cols, state)
    finished = None
    if not warm:
        finished = bit_set(xp, graph.n_major), bit_set(xp, graph.n_minor)
        n_words = max(side.size for side in finished)
        kernels.launch("list_finished", n_words, n_rows, n_cols, state, *finished)
    for most in () if one_only else (FEW, np.iinfo(graph.dtype).max):
        kernels.launch("rows", graph.n_major, n_rows, state, index(most), bits)
    return finished
