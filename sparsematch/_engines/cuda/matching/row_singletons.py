"""Row singletons: rows with one free column are matched with it, before another start.

Where hubs have many leaves, most of these can never be matched, and each phase of a search would
begin from all of them.
"""

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

#: Passes over the rows.
PASSES = 3

_load = compile.declare("matching/row_singletons")


def match_row_singletons(
    graph: BipartiteCSR, matching: Matching, run: Run
) -> tuple[IndexArray, IndexArray]:
    """Match majors that have one free minor; return which rows and columns are finished."""
    # No vertex may be matched before. Reads: the graph. Writes: both mates. Workspace: a bit for
    # each vertex, two for each minor.
    with run.step("row_singletons"):
        xp, n, kernels = namespace(graph.indptr), graph.n_major, _load(graph.dtype)
        matched, finished = bit_set(xp, graph.n_minor), bit_set(xp, n)
        arrays = graph.indptr, graph.indices, *graph.orient(matching.row_mate, matching.col_mate)
        for _ in range(PASSES):
            kernels.launch("row_singletons", n, graph.dtype.type(n), *arrays, matched, finished)
        return finished, matched
