"""Minimum-degree start: rows with short lists first, each with the free column of fewest rows."""

from itertools import pairwise
from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile, thresholds
from sparsematch._engines.cuda.core.by_products import Before, DeviceByProducts
from sparsematch._engines.cuda.core.device import INT_MAX, seed_of
from sparsematch._engines.cuda.matching import rare_columns, start_common
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "Rows of fewest entries first, each with the free column of fewest entries."

#: Lengths of lists that are done together, by a thread each; longer ones, by a warp each.
CLASSES = (0, 1, 2, 3, 4, 6, 8, 12)
LONG_CLASSES = (12, 16, 24, 32, 64, 128, INT_MAX)

#: Degree at which counting in bytes ends, about: half of what a byte holds, as threads that count
#: the same column at once go further.
MANY = 127

#: Share of the second-level cache that exact degrees, four bytes each, may fill.
CACHED = 0.5

load = compile.declare("matching/min_degree", STRETCH=start_common.STRETCH, RARE=thresholds.RARE)


def improve(graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None) -> Before:
    """Make the matching maximal."""
    # From the empty matching, columns of fewest entries come first. Reads: the graph. Writes: both
    # mates. Workspace: a byte and a bit a column, and that of `match_rare_columns`. Time: O(nnz).
    before, warm = before or DeviceByProducts(), bool(run.matched)
    _, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels, index, n_rows = load(graph.dtype), graph.dtype.type, graph.n_major
    with run.step("min_degree"):
        matched = start_common.matched(kernels, col_mate, warm)
        degree = _degrees(kernels, graph)
        most = None
        if not warm and graph.nnz >= rare_columns.LEAST:
            most = rare_columns.match_rare_columns(kernels, graph, matching, degree, matched, run)
        fields = {"degree": degree, "matched": matched}
        state = start_common.state(kernels, "MinDegree", graph, matching, **fields)
        order = start_common.stretch_bits(n_rows), seed_of(run)
        for kernel, classes in (("choose", CLASSES), ("choose_long", LONG_CLASSES)):
            for limits in pairwise(map(index, classes)):  # above, up to
                kernels.launch(kernel, n_rows, index(n_rows), state, *limits, *order)
        before.most_pairs = most and most()  # waits, but not for these
    return before


def _degrees(kernels: compile.Kernels, graph: BipartiteCSR) -> Any:
    """Return about how many entries each minor has, up to `MANY`, in bytes."""
    xp, n_cols, nnz = namespace(graph.indptr), graph.n_minor, graph.nnz
    most, entries = np.uint32(MANY), (graph.indices, np.int64(nnz))
    if 4 * n_cols <= CACHED * compile.second_level_cache():
        exact, degree = xp.zeros(n_cols, np.uint32), xp.empty(n_cols, np.uint8)
        kernels.launch("count_exactly", nnz, *entries, exact)
        kernels.launch("narrow", n_cols, np.int64(n_cols), exact, most, degree)
        return degree
    degree = xp.zeros(-(-n_cols // 4) * 4, np.uint8)
    kernels.launch("count", -(-nnz // 4), *entries, most, degree)
    return degree
