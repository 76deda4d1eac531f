"""The default engine: chooses a start and finishers by cheap facts of the graph, and changes course when a search stalls.

The choice was made on data: the benchmark matrices in natural and in scrambled order, and real ones. No engine is best
everywhere, but each has matrices on which it needs few passes over the entries and others on which it needs hundreds, so
every finisher but the last gets an allowance of entries to scan, and the next one goes on from the matching it leaves.
"""

from typing import NamedTuple

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.step import step, transpose
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "Chooses a start and finishers by cheap facts of the graph, and changes course when a search stalls."


class _Stage(NamedTuple):
    """A finisher, and how many times the number of entries it may scan (0: as many as it likes)."""

    engine: str
    passes: float


#: The start has left little, near at hand if the numbering is good: short searches, then shortest paths level by level.
_FEW = (_Stage("single_source_bfs", 0.1), _Stage("hopcroft_karp", 3), _Stage("pothen_fan", 12), _Stage("push_relabel", 0))
#: Free rows lie near free columns, but there are many of them.
_LOCAL = (_Stage("single_source_bfs", 2), _Stage("pothen_fan", 12), _Stage("push_relabel", 0))
#: A mesh renumbered for locality: the free rows that are left are far from free columns, depth first gets there.
_RENUMBERED = (_Stage("pothen_fan", 12), _Stage("push_relabel", 0))
#: No locality: what the start has left is worth a pass or two.
_RANDOM = (_Stage("single_source_bfs", 1.2), _Stage("push_relabel", 0))

_FEW_FREE = 0.015  # of the rows, after the cheap start: the numbering of the matrix has done the start's work
_DEEP = 6  # levels to reach `_BALL` rows: a mesh needs more, a random graph fewer
_BALL = 2000
_DENSE_DEGREE = 6.0
_EVEN_SPREAD, _SKEWED_SPREAD = 1.35, 4.0  # mean square over squared mean of the degrees: 1 + 1 / mean for random graphs
_SMALL = 1 << 14  # entries: below, any engine is done before the facts are known


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: at times the transpose, or a renumbered copy. Time: that of the
    engines it runs.
    """
    step("cheap", graph, matching, run)
    major_mate, _ = graph.orient(matching.row_mate, matching.col_mate)
    n_free = graph.n_major - int(np.count_nonzero(major_mate + 1))
    if graph.n_major - n_free == min(graph.shape):
        return
    if graph.nnz < _SMALL or n_free < _FEW_FREE * graph.n_major:
        return _finish(_FEW, graph, matching, run)
    if _is_ordered(graph):
        return _finish(_LOCAL, graph, matching, run)
    mean, spread = _degrees(graph)
    if spread > _SKEWED_SPREAD or (mean > _DENSE_DEGREE and spread < _EVEN_SPREAD and _levels(graph, run) < _DEEP):
        _restart("min_degree", graph, matching, run)
        return _finish(_RANDOM, graph, matching, run)
    if _levels(graph, run) < _DEEP:
        _restart("karp_sipser", graph, matching, run)
        return _finish(_RANDOM, graph, matching, run)
    _renumbered(graph, matching, run)


def _finish(stages: tuple[_Stage, ...], graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Run one finisher after the other, until one comes to its end within its allowance."""
    for stage in stages:
        if not step(stage.engine, graph, matching, run, edge_limit=int(stage.passes * graph.nnz)).exhausted:
            return


def _restart(start: str, graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Replace what the cheap start has done by a better start; a matching that the user gave is kept and extended."""
    if not run.warm:
        _empty(matching)
    step(start, graph, matching, run)


def _empty(matching: Matching) -> None:
    matching.row_mate.fill(-1)
    matching.col_mate.fill(-1)


def _renumbered(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Solve a copy of the graph whose rows and columns are in breadth-first order, and carry the matching back."""
    orders = np.empty(graph.n_major, graph.dtype), np.empty(graph.n_minor, graph.dtype)
    lists = graph.n_minor, graph.indptr, graph.indices
    transposed = transpose(graph, run)
    _core.breadth_first_order(*lists, transposed.indptr, transposed.indices, *orders, run.workers)
    del transposed
    run.transposed = None  # makes room for the copy
    copy = BipartiteCSR(
        graph.n_rows, graph.n_cols, np.empty_like(graph.indptr), np.empty_like(graph.indices), graph.backend, graph.flipped
    )
    _core.renumber(*lists, *orders, copy.indptr, copy.indices, run.workers)
    inner = Run(run.workers, run.seed, run.options, run.detailed, steps=run.steps)
    found = Matching.start(copy)
    if run.warm:
        given = graph.orient(matching.row_mate, matching.col_mate)
        _core.carry(*orders, given[0], *copy.orient(found.row_mate, found.col_mate), run.workers)
    step("cheap", copy, found, inner)
    _finish(_RENUMBERED, copy, found, inner)
    major_mate, _ = copy.orient(found.row_mate, found.col_mate)
    _empty(matching)
    _core.restore(*orders, major_mate, *graph.orient(matching.row_mate, matching.col_mate), run.workers)


def _is_ordered(graph: BipartiteCSR) -> bool:
    """Tell whether neighbouring rows have neighbouring columns, by a sample: much nearer than those of any two rows."""
    rows = np.linspace(0, graph.n_major - 2, 512).astype(np.int64)
    begin, end = graph.indptr[rows], graph.indptr[rows + 1]
    following = graph.indptr[rows + 2]
    both = (begin < end) & (end < following)
    if np.count_nonzero(both) < 16:
        return True
    here = graph.indices[(begin[both] + end[both]) // 2].astype(np.int64)
    there = graph.indices[(end[both] + following[both]) // 2].astype(np.int64)
    return float(np.median(abs(here - there))) < 0.05 * float(np.median(abs(here - here[::-1])))


def _degrees(graph: BipartiteCSR) -> tuple[float, float]:
    """Return the mean degree of the rows, and how uneven they are: mean square over squared mean."""
    degrees = np.diff(graph.indptr).astype(np.float32)
    mean = float(degrees.mean())
    return mean, float(np.dot(degrees, degrees)) / len(degrees) / mean**2


def _levels(graph: BipartiteCSR, run: Run) -> int:
    """Return how many levels a breadth-first search needs to reach `_BALL` rows."""
    transposed = transpose(graph, run)
    return _core.depth(graph.n_minor, graph.indptr, graph.indices, transposed.indptr, transposed.indices, _BALL)
