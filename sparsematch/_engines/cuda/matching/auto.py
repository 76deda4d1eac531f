"""The default on a GPU: it measures features, and runs the steps that `choice.py` chooses."""

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
from sparsematch._engines.cuda.matching.choice import (
    POLICY,
    Features,
    ListFeatures,
    are_long,
    choose,
    may_have_pendants,
)
from sparsematch._engines.cuda.matching.features import (
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

_STARTS: dict[str, ModuleType] = {
    "cheap": cheap,
    "karp_sipser": karp_sipser,
    "min_degree": min_degree,
}


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: that of `ms_bfs`, and a transpose of a tall
    graph.
    """
    seen = _Seen(graph, run)
    choice = choose(seen.features(), POLICY)
    run.host = choice.host
    for name, reason in choice.steps:
        if name == "one_block":
            _search_small(graph, matching, run, reason, choice.levels)
        elif name == "ms_bfs":
            _search(seen, matching, run, choice.levels)
        elif name != "transpose":  # it was there before the features of its lists
            _start(name, seen.searched, matching, run)
            _give_reason(run, reason)


class _Seen:
    """The features of a call, measured when the choice reads them.

    Attributes
    ----------
    graph, searched : BipartiteCSR
        The matrix, and the orientation of it that is searched.
    linked : int
        What long lists of that need in `ms_bfs`.
    """

    def __init__(self, graph: BipartiteCSR, run: Run) -> None:
        self.graph = self.searched = graph
        self.linked = 0
        self._run = run
        self._lists: ListFeatures | None = None

    def features(self) -> Features:
        """Return the features; those of the lists are not measured yet."""
        graph, run = self.graph, self._run
        return Features(
            n_major=graph.n_major,
            n_minor=graph.n_minor,
            nnz=graph.nnz,
            fits_one_block=one_block.fits(graph),
            warm=run.warm,
            host=bool(run.options.get("host", OPTIONS["host"])),
            copied_bytes=hand_over.bytes_to_copy(graph, run),
            lists=self._measure,
        )

    def _measure(self, transposed: bool) -> ListFeatures:
        """Transpose if need be, and measure; leave to later steps what they need of it."""
        if self._lists is None:
            graph, run = self.graph, self._run
            self.searched = searched = transpose(graph, run) if transposed else graph
            _preload(searched)
            self._lists = seen = features(searched, ms_bfs.shape(searched)["WIDTH"], POLICY)
            self.linked = seen.linked
            run.kept, run.symmetric = hand_over.ListOrder(seen.in_order), seen.symmetric
        return self._lists


def _start(name: str, graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Run a step before the search, or in place of it."""
    if name == "diagonal":
        match_diagonal(graph, matching, run)
    elif name in ("first_ends", "last_ends"):
        match_ends(graph, matching, run, last=name == "last_ends")
    elif name == "row_singletons":
        row_singletons.match_row_singletons(graph, matching, run)
    else:
        _STARTS[name].improve(graph, matching, run)


def _give_reason(run: Run, reason: str) -> None:
    """Say why the last step was run, if it does not say so itself."""
    if not run.steps[-1].reason:
        run.steps[-1] = run.steps[-1]._replace(reason=reason)


def _search(seen: _Seen, matching: Matching, run: Run, levels: int | None) -> None:
    """Search from all free rows; after so many levels the host gets the matrix."""
    begin = perf_counter()
    limits = {} if levels is None else {"wide": hand_over.WIDE, "allowance": levels}
    report = ms_bfs.search(seen.searched, matching, run, limits, seen.linked)
    ms_bfs.account("ms_bfs", report, begin, run)
    if levels is not None and report()["stopped"]:  # waits
        why = f"more than {levels} levels, of {hand_over.WIDE} vertices each"
        hand_over.finish_matching(seen.graph, matching, run, why)


def _search_small(
    graph: BipartiteCSR, matching: Matching, run: Run, reason: str, levels: int | None
) -> None:
    """Search in one launch; after a phase of so many levels the host gets the matrix."""
    stopped = one_block.search(graph, matching, run, levels)
    _give_reason(run, reason)
    if stopped:
        why = f"a phase of more than {levels} levels"
        hand_over.finish_matching(graph, matching, run, why)


def _preload(graph: BipartiteCSR) -> None:
    """Start the compiler for what will be launched, and the likely start; then for other calls."""
    n, nnz = graph.n_major, graph.nnz
    likely = n == graph.n_minor, are_long(nnz, n, POLICY), may_have_pendants(nnz, n, POLICY)
    _preload_once(graph.dtype, *likely, tuple(ms_bfs.shape(graph).items()))


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
