"""The default engine: chooses a start and finishers by cheap facts of the graph, changes course when a search stalls.

The choice was made on data: the benchmark matrices in natural and in scrambled order, and real
ones. No engine is best everywhere, but each has matrices on which it needs few passes over the
entries and others on which it needs hundreds; so every finisher but the last gets an allowance of
entries to scan, and the next goes on from the matching it leaves.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.run_engine import step, transpose
from sparsematch._engines.cpu.ordering.bfs_renumbering import Renumbered, renumber
from sparsematch._engines.cpu.ordering.features import (
    DegreeStatistics,
    degrees,
    has_locality,
    is_ordered,
)
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import BoolArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Chooses a start and finishers by cheap facts of the graph, and changes course when a search stalls."


_Settled = tuple[BoolArray, BoolArray] | None


class _Stage(NamedTuple):
    """A finisher, how many times the number of entries it may scan (0: no limit), and how many threads it gets."""

    engine: str
    passes: float
    workers: int | None = None


#: A small matrix: whatever it is, this is done before more is known of it.
_SOON = (_Stage("single_source_bfs", 4), _Stage("push_relabel", 0))
#: The start has left little, near at hand if the numbering is good: short searches, then shortest
#: paths level by level.
_FEW = (
    _Stage("single_source_bfs", 0.03, workers=1),
    _Stage("hopcroft_karp", 3),
    _Stage("pothen_fan", 12),
    _Stage("push_relabel", 0),
)
#: Free rows lie near free columns, but there are many of them: one thread is done before two have
#: agreed who does what.
_LOCAL = (
    _Stage("single_source_bfs", 2, workers=1),
    _Stage("pothen_fan", 12),
    _Stage("push_relabel", 0),
)
#: A mesh renumbered for locality: the free rows that are left are far from free columns, depth
#: first gets there. Its last searches, one after the other, go nearly everywhere: breadth first
#: that costs less an entry.
_RENUMBERED = (
    _Stage("pothen_fan", 2.5),
    _Stage("single_source_bfs", 4),
    _Stage("pothen_fan", 12),
    _Stage("push_relabel", 0),
)
#: The same, with more entries to a row: two threads that search depth first get in each other's
#: way.
_RENUMBERED_DENSER = (_RENUMBERED[0]._replace(workers=1), *_RENUMBERED[1:])
#: No locality: what the start has left is worth some passes, unless the first searches say that it
#: takes more.
_RANDOM = (_Stage("single_source_bfs", 4), _Stage("push_relabel", 0))

_SMALL = 1 << 14  # entries: below, any engine is done before the facts are known
_FEWER = 4  # times fewer free vertices make up for a transpose
# of the rows, after the cheap start: the numbering of the matrix has done the start's work
_FEW_FREE = 0.015
_DEEP, _BALL = 6, 2000  # a mesh needs so many levels to reach so many rows, a random graph fewer
# levels to reach as many, from which two workers of a breadth-first search mostly wait for each
# other
_NARROW = 50
_MANY_ONES = 0.1  # of the rows: Karp-Sipser peels them off
_DENSE = 6.0  # mean degree from which there are too few of degree one for that
_THIN = 4.0  # mean degree of a mesh below which two depth-first searches seldom meet
# minors per major, and mean degree, below which the cheap start leaves some per cent free
_SQUARE, _FULL = 1.2, 16.0
_EVEN = 1.35  # mean square of the degrees over squared mean: random graphs have 1 + 1 / mean


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: at times the transpose, or a renumbered copy.
    Time: that of the engines it runs.
    """
    if graph.n_rows == graph.n_cols and not run.warm and _take_diagonal(graph, matching, run):
        return
    if graph.nnz < _SMALL:
        if step("cheap", graph, matching, run, workers=1).cardinality < min(graph.shape):
            _finish(_SOON, graph, matching, run)
        return
    ordered, facts = is_ordered(graph), degrees(graph)
    if ordered or run.warm or not _is_beyond_cheap(graph, facts):
        # By one thread: where two meet, a sweep through a well numbered matrix leaves free rows far
        # from free columns.
        rank = step("cheap", graph, matching, run, workers=1 if ordered else None).cardinality
        if rank == min(graph.shape):
            return
        if graph.n_major - rank < _FEW_FREE * graph.n_major:
            return _finish(_FEW, graph, matching, run)
    if ordered:
        return _finish(_LOCAL, graph, matching, run)
    if facts.are_skewed:
        if facts.mean > _DENSE:
            _restart("min_degree", graph, matching, run)
        return _finish(_RANDOM, graph, matching, run)
    if _may_be_mesh(graph, facts) and (levels := _levels(graph, run)) >= _DEEP:
        stages = _RENUMBERED if facts.mean < _THIN else _RENUMBERED_DENSER
        copy = _renumber(graph, matching, run, 1 if levels > _NARROW else run.workers)
        return _finish_renumbered(stages, copy, matching, run)
    if facts.spread < _EVEN and facts.mean > _DENSE:
        _restart("min_degree", graph, matching, run)
        return _finish(_RANDOM, graph, matching, run)
    settled = np.zeros(graph.n_major, bool), np.zeros(graph.n_minor, bool)
    _restart("karp_sipser", graph, matching, run, settled)
    _finish(_RANDOM, graph, matching, run, settled)


def _take_diagonal(graph: BipartiteCSR, matching: Matching, run: Run) -> bool:
    """Match along the diagonal, if it has no zero; found out at the first zero if it has."""
    begin = perf_counter()
    mates = graph.orient(matching.row_mate, matching.col_mate)
    found = _core.take_diagonal(graph.n_minor, graph.indptr, graph.indices, *mates)
    if found:
        run.steps.append(
            StepInfo("diagonal", perf_counter() - begin, edges=graph.nnz, cardinality=graph.n_rows)
        )
    return found


def _finish(
    stages: tuple[_Stage, ...],
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    settled: _Settled = None,
) -> None:
    """Run one finisher after the other, until one comes to its end within its allowance.

    The first searches from the majors, which needs no transpose, or in a core from the side with
    fewer free vertices; the others from the side with far fewer.
    """
    from_minor = settled is not None and _has_fewer_minors(graph, matching, settled)
    for engine, passes, workers in stages:
        limit = int(passes * graph.nnz)
        done = step(
            engine,
            graph,
            matching,
            run,
            from_minor=from_minor,
            edge_limit=limit,
            settled=settled,
            workers=workers,
        )
        if not done.exhausted or done.cardinality == min(graph.shape):
            return
        free_majors, free_minors = (
            graph.n_major - done.cardinality,
            graph.n_minor - done.cardinality,
        )
        from_minor = _FEWER * free_minors < free_majors


def _has_fewer_minors(
    graph: BipartiteCSR, matching: Matching, settled: tuple[BoolArray, BoolArray]
) -> bool:
    """Tell whether fewer minors than majors are free in the core: fewer searches, and more to be found by each."""
    mates = graph.orient(matching.row_mate, matching.col_mate)
    majors, minors = (
        np.count_nonzero(~done[mate < 0]) for done, mate in zip(settled, mates, strict=True)
    )
    return bool(minors < majors)


def _restart(
    start: str, graph: BipartiteCSR, matching: Matching, run: Run, settled: _Settled = None
) -> None:
    """Replace what the cheap start has done by a better start; a matching that the user gave is kept and extended."""
    if run.steps and not run.warm:  # before the first step nothing is matched
        matching.row_mate.fill(-1)
        matching.col_mate.fill(-1)
    step(
        start,
        graph,
        matching,
        run,
        settled=settled,
        keep_forced=settled is not None and not run.warm,
    )


def _renumber(graph: BipartiteCSR, matching: Matching, run: Run, workers: int) -> Renumbered:
    """Copy the graph in breadth-first order, with the matching that the user gave.

    Uses up the transpose.
    """
    copy = renumber(
        graph, Matching.start(graph) if run.warm else matching, transpose(graph, run), workers
    )
    run.transposed = None
    if run.warm:
        copy.take(matching)
    return copy


def _finish_renumbered(
    stages: tuple[_Stage, ...], copy: Renumbered, matching: Matching, run: Run
) -> None:
    """Solve the copy, and carry its matching back."""
    inner = Run(run.workers, run.seed, run.options, run.detailed, steps=run.steps)
    step("cheap", copy.graph, copy.matching, inner, workers=1)
    _finish(stages, copy.graph, copy.matching, inner)
    run.transposes_built += inner.transposes_built
    run.transpose_seconds += inner.transpose_seconds
    run.renumbered = copy.give(matching, run.workers)


def _is_beyond_cheap(graph: BipartiteCSR, facts: DegreeStatistics) -> bool:
    """Tell, of a matrix in no order, whether the cheap start is sure to leave too much to be worth its pass."""
    if facts.are_skewed:
        return facts.mean > _DENSE
    return graph.n_minor < _SQUARE * graph.n_major and facts.mean < _FULL


def _may_be_mesh(graph: BipartiteCSR, facts: DegreeStatistics) -> bool:
    """Tell whether it is worth a transpose to find out how far apart rows are; of few entries it is needed later."""
    return facts.ones < _MANY_ONES and (facts.mean <= _DENSE or has_locality(graph))


def _levels(graph: BipartiteCSR, run: Run) -> int:
    """Return how many levels a breadth-first search needs to reach `_BALL` rows."""
    transposed = transpose(graph, run)
    return _core.bfs_depth_to(
        graph.n_minor, graph.indptr, graph.indices, transposed.indptr, transposed.indices, _BALL
    )
