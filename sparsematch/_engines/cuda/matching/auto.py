"""The choice among the engines of this back-end, by the shape and how uneven the lists are."""

import functools
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile, hand_over
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching import (
    cheap,
    karp_sipser,
    min_degree,
    ms_bfs,
    one_block,
    row_singletons,
    start_common,
)
from sparsematch._engines.cuda.matching.features import (
    Features,
    features,
    kernels_of,
    match_diagonal,
    match_ends,
)
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = (
    "A start that suits the lists, then `ms_bfs` from the side with fewer vertices; `one_block` "
    "where they are few; what takes very many levels is left to the host."
)
#: `host`: whether it may be.
OPTIONS: dict[str, bool | float] = {"host": True}

#: Matrices of fewer rows are searched to the end: leaving them would save nothing.
SMALL = 2048

#: How many times as many majors as minors it takes for a transpose to pay: the search starts from
#: every free major, in every phase, and most of those can find nothing.
TALL = 1.2

#: Lists of this mean length or more, and this uneven (random ones: up to 1 + 1 / mean), are started
#: by least degree: few rows are left then. Where hubs have leaves it finds hardly more than the
#: cheap start, in more time.
LONG, UNEVEN = 8, 1.5

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
    run.host = bool(run.options.get("host", OPTIONS["host"])) and graph.n_major >= SMALL
    if one_block.fits(graph):
        _search_small(graph, matching, run)
        return
    searched = transpose(graph, run) if graph.n_major > TALL * graph.n_minor else graph
    _preload(searched)
    seen = features(searched, ms_bfs.shape(searched)["WIDTH"])
    run.kept, run.symmetric = hand_over.ListOrder(seen.in_order), seen.symmetric
    if not run.warm and _match_at_once(searched, seen, matching, run):
        return
    if not run.warm and seen.hubs_with_leaves:
        row_singletons.match_row_singletons(searched, matching, run)
    _start(searched, seen, run).improve(searched, matching, run)
    begin, limits = perf_counter(), {}
    if run.host:
        work = hand_over.search(graph, in_order=seen.in_order)
        allowance = hand_over.allowed_levels(graph, run, work)
        limits = {"wide": hand_over.WIDE, "allowance": allowance}
    report = ms_bfs.search(searched, matching, run, limits, seen.linked)
    ms_bfs.account("ms_bfs", report, begin, run)
    if run.host and report()["stopped"]:  # waits
        why = f"more than {allowance} levels, of {hand_over.WIDE} vertices each"
        hand_over.finish_matching(graph, matching, run, why)


def _match_at_once(graph: BipartiteCSR, seen: Features, matching: Matching, run: Run) -> bool:
    """Match all majors that have entries in one pass, if the lists tell how."""
    if seen.has_diagonal:
        match_diagonal(graph, matching, run)
    elif not min(seen.first_shared, seen.last_shared):
        match_ends(graph, matching, run, last=seen.first_shared > 0)
    else:
        return False
    return True


def _search_small(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Search in one launch; what is deep is left to the host."""
    depth = hand_over.allowed_depth(graph) if run.host else None
    if one_block.search(graph, matching, run, depth):
        why = f"a phase of more than {depth} levels"
        hand_over.finish_matching(graph, matching, run, why)


def _preload(graph: BipartiteCSR) -> None:
    """Start the compiler for what will be launched, and the likely start; then for other calls."""
    square, long = graph.n_major == graph.n_minor, graph.nnz >= LONG * graph.n_major
    shape = tuple(ms_bfs.shape(graph).items())
    _preload_once(graph.dtype, square, long, _may_have_pendants(graph), shape)


@functools.cache
def _preload_once(
    dtype: np.dtype[Any],
    square: bool,
    long: bool,
    pendants: bool,
    shape: tuple[tuple[str, int], ...],
) -> None:
    start_common.load("matching/cheap", dtype)
    if square:
        compile.load("matching/graph_karp_sipser", dtype, **karp_sipser.MACROS)
    if pendants:
        start_common.load("matching/karp_sipser", dtype)
    if long:
        min_degree.load(dtype)
    kernels_of(dtype)
    ms_bfs.preload(dtype, dict(shape))
    compile.load_ahead(dtype)


def _may_have_pendants(graph: BipartiteCSR) -> bool:
    return SPARSE * graph.n_major <= graph.nnz < DENSER * graph.n_major


def _start(graph: BipartiteCSR, seen: Features, run: Run) -> ModuleType:
    """Return the start that suits the lists."""
    pendants = _may_have_pendants(graph) and seen.single > PENDANT
    if pendants or (seen.symmetric and not run.warm):
        return karp_sipser
    by_degree = graph.nnz >= LONG * graph.n_major and seen.skew > UNEVEN
    return min_degree if by_degree and not seen.hubs_with_leaves else cheap
