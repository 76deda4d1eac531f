"""One engine of the core, run once: what every engine of this back-end is, and what `auto` is made of.

The core knows rows and columns only as what `indptr` runs over and what `indices` names; the mates
of a flipped graph are handed to it the other way round.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import NamedTuple

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import BoolArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo


class Row(NamedTuple):
    """One row of the core's table of engines."""

    name: str
    exact: bool
    transpose: str
    threads: bool
    options: dict[str, bool | float]
    summary: str


class Forced(NamedTuple):
    """The majors of pairs that vertices of degree one have forced, in the order in which they were found.

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


ROWS = {row[0]: Row(*row) for row in _core.engines()}


def step(
    name: str,
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    *,
    from_minor: bool = False,
    edge_limit: int = 0,
    options: Mapping[str, bool | float] | None = None,
    settled: tuple[BoolArray, BoolArray] | None = None,
    keep_forced: bool = False,
    workers: int | None = None,
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
    from_minor : bool, optional
        Exchange the sides: the engine's rows are what `indices` names. Needs the transpose.
    edge_limit : int, optional
        Stop, short of the goal, after about so many entries; 0: never.
    options : mapping, optional
        Options of this step, before those of the run.
    settled : pair of arrays, optional
        For each major and minor, whether augmenting paths can do without it. Karp-Sipser writes
        them, the single-source search reads them.
    keep_forced : bool, optional
        Leave the pairs that Karp-Sipser was forced to make in the run; from the empty matching
        only.
    workers : int, optional
        Threads, if not those of the run.

    Returns
    -------
    StepInfo
        The account; ``exhausted`` tells whether the limit stopped the engine.
    """
    row = ROWS[name]
    if from_minor or row.transpose == "required":
        transpose(graph, run)
    major, minor = graph, run.transposed if row.transpose != "unused" else None
    mates = graph.orient(matching.row_mate, matching.col_mate)
    if from_minor and run.transposed:
        major, minor, mates = run.transposed, graph if minor else None, mates[::-1]
        settled = settled and settled[::-1]
    given = {**run.options, **options} if options else run.options
    chosen = {key: given[key] for key in row.options.keys() & given.keys()} if given else {}
    settled_major, settled_minor = settled or (None, None)
    forced = np.empty(major.n_major, graph.dtype) if keep_forced else None
    begin = perf_counter()
    report = _core.run(
        name,
        major.n_minor,
        major.indptr,
        major.indices,
        minor.indptr if minor else None,
        minor.indices if minor else None,
        *mates,
        workers or run.workers,
        edge_limit,
        run.detailed,
        run.seed,
        chosen,
        settled_major,
        settled_minor,
        forced,
    )
    if forced is not None:
        run.forced = Forced(forced, *report["forced"])
    info = StepInfo(
        name,
        perf_counter() - begin,
        report["phases"],
        report["levels"],
        report["edges"],
        report["augmentations"],
        report["path_edges"],
        report["cardinality"],
        report["exhausted"],
        report["seconds"],
        tuple(report["frontier"]),
    )
    run.steps.append(info)
    return info


def transpose(graph: BipartiteCSR, run: Run) -> BipartiteCSR:
    """Return the transpose of the graph, built the first time. Time: O(n_rows + n_cols + nnz)."""
    if run.transposed is None:
        begin = perf_counter()
        indptr = np.empty(graph.n_minor + 1, graph.dtype)
        indices = np.empty(graph.nnz, graph.dtype)
        _core.transpose(graph.n_minor, graph.indptr, graph.indices, indptr, indices, run.workers)
        run.transposed = BipartiteCSR(
            graph.n_rows, graph.n_cols, indptr, indices, graph.backend, not graph.flipped
        )
        run.transposes_built += 1
        run.transpose_seconds += perf_counter() - begin
    return run.transposed
