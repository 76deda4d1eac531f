"""The choice among the engines of this back-end, by the shape and how uneven the lists are."""

from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching import cheap, karp_sipser, min_degree, ms_bfs
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "A start that suits the lists, then `ms_bfs` from the side with fewer vertices."
OPTIONS: dict[str, bool | float] = {}

#: How many times as many majors as minors it takes for a transpose to pay: the search starts from
#: every free major, in every phase, and most of those can find nothing.
TALL = 1.2

#: Lists of this mean length or more, and this uneven (random ones: up to 1 + 1 / mean), are started
#: by least degree: few rows are left then. Where hubs have most of the entries it finds hardly more
#: than the cheap start, in more time.
LONG, UNEVEN, HUBS = 8, 1.5, 20.0

#: Where more than this share of the majors have one entry, the Karp-Sipser start goes first: on
#: random matrices with about three entries a row it saves more than it takes. With fewer than so
#: many entries on average (roads) all starts come out alike; with more than so many, lists that
#: are so uneven take longer in it than it saves.
PENDANT, SPARSE, DENSER = 0.12, 2.75, 4


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: that of `ms_bfs`, and a transpose of a tall
    graph.
    """
    if graph.n_major > TALL * graph.n_minor:
        graph = transpose(graph, run)
    if (
        SPARSE * graph.n_major <= graph.nnz < DENSER * graph.n_major
        and karp_sipser.single(graph) > PENDANT
    ):
        karp_sipser.improve(graph, matching, run)
        ms_bfs.improve(graph, matching, run)
        return
    by_degree = graph.nnz >= LONG * graph.n_major and UNEVEN < min_degree.skew(graph) < HUBS
    (min_degree if by_degree else cheap).improve(graph, matching, run)
    ms_bfs.improve(graph, matching, run)
