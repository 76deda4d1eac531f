"""The default on a GPU: it measures features, and runs the steps that `choice.py` chooses."""

import functools
from collections.abc import Callable

from sparsematch._engines.cuda.core import host_fallback
from sparsematch._engines.cuda.core.by_products import Before, DeviceByProducts, HostResult
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching import (
    cheap,
    choice,
    features,
    karp_sipser,
    min_degree,
    ms_bfs,
    one_block,
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

_STARTS: dict[str, Callable[..., Before]] = {
    "cheap": cheap.improve,
    "karp_sipser": functools.partial(karp_sipser.improve, maximal=False),
    "min_degree": min_degree.improve,
}


def improve(graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None) -> Before:
    """Make the matching maximum."""
    # Reads: the graph. Writes: both mates. Workspace: that of `ms_bfs`; a tall one's transpose.
    known = before or DeviceByProducts()
    seen = _Seen(graph, run, known)
    chosen = choice.choose(seen.features(), choice.POLICY)
    known.host = chosen.host
    for name, reason in chosen.steps:
        if name == "one_block":
            known.host_result = _search_small(graph, matching, run, reason, chosen.levels)
        elif name == "ms_bfs":
            known.host_result = _search(seen, matching, run, chosen.levels)
        elif name != "transpose":  # it was there before the features of its lists
            _start(name, seen.searched, matching, run, known)
            run.steps.amend_last(reason=run.steps[-1].reason or reason)
    known.finished = None  # they were those of the graph that was searched
    return known


class _Seen:
    """The features of a call, measured when the choice reads them."""

    def __init__(self, graph: BipartiteCSR, run: Run, known: DeviceByProducts) -> None:
        self.graph = self.searched = graph  #: The matrix, and the orientation that is searched.
        self.linked = 0  #: What long lists of that need in `ms_bfs`.
        #: Of the step before, with what was measured; finished vertices are those of `searched`.
        self.known = known
        self._run = run
        self._lists: choice.ListFeatures | None = None

    def features(self) -> choice.Features:
        """Return the features; those of the lists are not measured yet."""
        graph, run = self.graph, self._run
        return choice.Features(
            n_major=graph.n_major,
            n_minor=graph.n_minor,
            nnz=graph.nnz,
            fits_one_block=one_block.fits(graph),
            matched=run.matched,
            host=bool(run.options.get("host", OPTIONS["host"])),
            copied_bytes=host_fallback.bytes_to_copy(graph),
            lists=self._measure,
        )

    def _measure(self, transposed: bool) -> choice.ListFeatures:
        """Transpose if need be, and measure; keep what later steps need of it."""
        if self._lists is None:
            if transposed:
                known = self.known
                found = known.transposed or transpose(self.graph, self._run, known.symmetric)
                self.searched = known.transposed = found
                known.finished = known.finished and known.finished[::-1]
            preload(self.searched)
            width = ms_bfs.shape(self.searched)["WIDTH"]
            self._lists = seen = features.features(self.searched, width)
            self.linked = seen.linked
            self.known.in_order, self.known.symmetric = seen.in_order, seen.symmetric
        return self._lists


def _start(
    name: str, graph: BipartiteCSR, matching: Matching, run: Run, known: DeviceByProducts
) -> None:
    """Run a step before the search, or in place of it."""
    if name == "diagonal":
        features.match_diagonal(graph, matching, run)
    elif name in ("first_ends", "last_ends"):
        features.match_ends(graph, matching, run, last=name == "last_ends")
    elif name == "row_singletons":
        known.finished = features.match_row_singletons(graph, matching, run)
    else:
        _STARTS[name](graph, matching, run, known)


def _search(seen: _Seen, matching: Matching, run: Run, levels: int | None) -> HostResult | None:
    """Search from all free rows; after `levels` levels the host gets the matrix."""
    limits = {} if levels is None else {"wide": host_fallback.WIDE, "allowance": levels}
    with run.step("ms_bfs") as counts:
        report = ms_bfs.search((seen.searched, matching, run, seen.known), limits, seen.linked)
        counts |= ms_bfs.account(report, run)
    if levels is None or not report()["stopped"]:  # waits
        return None
    why = f"more than {levels} levels, of {host_fallback.WIDE} vertices each"
    return host_fallback.finish_matching(seen.graph, matching, run, why)


def _search_small(
    graph: BipartiteCSR, matching: Matching, run: Run, reason: str, levels: int | None
) -> HostResult | None:
    """Search in one launch; after a phase of `levels` levels the host gets the matrix."""
    stopped = one_block.search(graph, matching, run, levels)
    run.steps.amend_last(reason=reason)
    if not stopped:
        return None
    why = f"a phase of more than {levels} levels"
    return host_fallback.finish_matching(graph, matching, run, why)


def preload(graph: BipartiteCSR) -> None:
    """Start the compiler for what will be launched, and for the likely start."""
    n, nnz, dtype = graph.n_major, graph.nnz, graph.dtype
    if one_block.fits(graph):
        one_block.load(dtype)
        return
    features.load(dtype)
    cheap.load(dtype)
    if n == graph.n_minor:
        karp_sipser.load_of_graphs(dtype)
    if choice.may_have_pendants(nnz, n, choice.POLICY):
        karp_sipser.load(dtype)
    if choice.are_long(nnz, n, choice.POLICY):
        min_degree.load(dtype)
    ms_bfs.load(dtype, ms_bfs.shape(graph))
