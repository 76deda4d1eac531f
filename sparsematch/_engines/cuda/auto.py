"""The choice among the engines of this back-end, from what is known without a look at the matrix: its shape."""

from sparsematch._engines.cuda import cheap, ms_bfs
from sparsematch._engines.cuda.transpose import transpose
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "The cheap start, then `ms_bfs` from the side with fewer vertices."
OPTIONS: dict[str, bool | float] = {}

#: How many times as many majors as minors it takes for a transpose to pay: the search starts from every free major,
#: in every phase, and most of those can find nothing.
TALL = 1.2


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: that of `ms_bfs`, and a transpose of a tall graph.
    """
    if graph.n_major > TALL * graph.n_minor:
        graph = transpose(graph, run)
    cheap.improve(graph, matching, run)
    ms_bfs.improve(graph, matching, run)
