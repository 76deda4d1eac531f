"""One run of one engine of the core: every engine of this back-end, and each step of `auto`.

The core knows rows and columns only as what `indptr` runs over and what `indices` names; the mates
of a flipped graph are handed to it the other way round.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import Literal, NamedTuple

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, mates
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import BoolArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo


class Forced(NamedTuple):
    """The majors of pairs that degree one has forced, in the order in which they were found.

    Attributes
    ----------
    majors : ndarray, shape (n_major,)
        From the front those that had come down to one minor, from the back those whose minor had
        come down to one.
    by_major, by_minor : int
        How many there are of each.
    """

    majors: IndexArray
    by_major: int
    by_minor: int


ENGINES = {row["name"]: row for row in _core.engines()}


def run_engine(
    name: str,
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    *,
    sides: Literal["both", "exchanged", "one"] = "both",
    edge_limit: int = 0,
    options: Mapping[str, bool | float] | None = None,
    settled: tuple[BoolArray, BoolArray] | None = None,
    workers: int | None = None,
    reason: str = "",
) -> StepInfo:
    """Run one engine on a matching, and add its account to the run's.

    Parameters
    ----------
    name : str
        An engine of the core.
    graph : BipartiteCSR
        The graph.
    matching : Matching
        Improved in place.
    run : Run
        Workers, seed, options of the call. The transpose is taken from here, and left here if it
        had to be built.
    sides : {"both", "exchanged", "one"}, optional
        Exchanged: the engine's rows are what `indices` names, which needs the transpose. One: the
        transpose is left out, also of push-relabel, which may give up then; Karp-Sipser and
        MS-BFS-Graft need it.
    edge_limit : int, optional
        Stop, short of the goal, after about so many entries; 0: never.
    options : mapping, optional
        Options of this step, before those of the run.
    settled : pair of arrays, optional
        For each major and minor, whether augmenting paths can do without it. Karp-Sipser, from the
        empty matching, writes them, and leaves the pairs that it was forced to make in the run; the
        single-source search reads them, and adds its trees that failed.
    workers : int, optional
        Threads, if not those of the run.
    reason : str, optional
        Why it runs, for the account.

    Returns
    -------
    StepInfo
        The account; ``exhausted`` tells whether the limit stopped the engine.
    """
    needs = "unused" if sides == "one" else ENGINES[name]["transpose"]
    if sides == "exchanged" or needs == "required":
        transpose(graph, run)
    major, minor = graph, run.transposed if needs != "unused" else None
    pair = mates(graph, matching)
    if sides == "exchanged" and run.transposed:
        major, minor, pair = run.transposed, graph if minor else None, pair[::-1]
        settled = settled and settled[::-1]
    forced = np.empty(major.n_major, graph.dtype) if settled and name == "karp_sipser" else None
    settings = edge_limit, run.detailed, run.seed
    begin = perf_counter()
    account, n_forced = _core.run_engine(
        name,
        csr(major),
        csr(minor) if minor else None,
        pair,
        workers or run.workers,
        settings,
        {**run.options, **options} if options else run.options,
        settled,
        forced,
    )
    if forced is not None:
        run.forced = Forced(forced, *n_forced)
    info = StepInfo(name, perf_counter() - begin, reason=reason, **account)
    run.steps.append(info)
    return info


def transpose(graph: BipartiteCSR, run: Run) -> BipartiteCSR:
    """Return the transpose of the graph, built the first time. Time: O(n_rows + n_cols + nnz)."""
    if run.transposed is None:
        begin = perf_counter()
        indptr = np.empty(graph.n_minor + 1, graph.dtype)
        indices = np.empty(graph.nnz, graph.dtype)
        _core.transpose(csr(graph), (indptr, indices), run.workers)
        run.transposed = BipartiteCSR(
            graph.n_rows, graph.n_cols, indptr, indices, graph.backend, not graph.flipped
        )
        run.transposes_built += 1
        run.transpose_seconds += perf_counter() - begin
    return run.transposed
