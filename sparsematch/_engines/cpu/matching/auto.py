"""The default engine: an initialisation and exact algorithms, chosen by cheap features.

The choice was made on data: the benchmark matrices in natural and in scrambled order, and real
ones. No engine is best everywhere, but each has matrices on which it needs few passes over the
entries and others on which it needs hundreds; so every exact algorithm but the last gets an
allowance of entries to scan, and the next goes on from the matching it leaves. `RULES` is the whole
choice, but for small matrices: the first rule that applies is followed.
"""

from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import NamedTuple

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, mates
from sparsematch._engines.cpu.core.run_engine import run_engine, transpose
from sparsematch._engines.cpu.core.workspace import Workspace
from sparsematch._engines.cpu.ordering.bfs_renumbering import Renumbered, renumber
from sparsematch._engines.cpu.ordering.features import (
    DegreeStatistics,
    degree_statistics,
    has_locality,
    is_ordered,
)
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import UNMATCHED, BoolArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Chooses an initialisation and exact algorithms by cheap features of the graph."

#: A matrix of fewer entries is solved before its features could be found.
SMALL_ENTRIES = 1 << 14

#: Where the cheap initialisation leaves fewer than this share of the majors free, the numbering of
#: the matrix has done the initialisation's work, and no other one is worth its pass.
NEAR_PERFECT_SHARE = 0.015

#: The cheap initialisation leaves some per cent free where a major has at most this many entries on
#: average, and where there are not more than this many minors for each major.
CHEAP_DEGREE, MAX_ASPECT = 16.0, 1.2

#: From this mean degree on, too few vertices have degree one for Karp-Sipser, and least degree is
#: the better initialisation; on meshes too, if the degrees are even: their mean square is less than
#: so many times their squared mean, which in random graphs is 1 + 1 / mean.
DENSE_DEGREE, EVEN_SPREAD = 6.0, 1.35

#: Where more than this share of the majors have degree one, Karp-Sipser matches most of the graph:
#: no need to find out whether it is a mesh.
DEGREE_ONE_SHARE = 0.1

#: A breadth-first search that reaches this many majors takes at least so many levels on a mesh, and
#: fewer on a random graph.
BFS_SAMPLE_ROWS, MESH_LEVELS = 2000, 6

#: From so many levels on, the mesh is so narrow that two workers of a breadth-first search mostly
#: wait for each other: one renumbers it.
NARROW_LEVELS = 50

#: Below this mean degree of a mesh, two concurrent depth-first searches seldom meet.
SPARSE_MESH_DEGREE = 4.0

#: A search from the minors needs a transpose: it pays where so many times fewer minors than majors
#: are free.
TRANSPOSE_GAIN = 4


class Stage(NamedTuple):
    """An exact algorithm, how many times the entries it may scan (0: no limit), and its threads."""

    engine: str
    passes: float
    workers: int | None = None


#: A small matrix: whatever it is, two engines are enough.
SMALL_STAGES = (Stage("single_source_bfs", 4), Stage("push_relabel", 0))

#: Few rows are free, and near free columns if the numbering is good: short searches, then shortest
#: paths level by level.
NEAR_PERFECT_STAGES = (
    Stage("single_source_bfs", 0.03, workers=1),
    Stage("hopcroft_karp", 3),
    Stage("pothen_fan", 12),
    Stage("push_relabel", 0),
)

#: Free rows lie near free columns, but there are many of them: one thread is done before two have
#: agreed on who does what.
ORDERED_STAGES = (
    Stage("single_source_bfs", 2, workers=1),
    Stage("pothen_fan", 12),
    Stage("push_relabel", 0),
)

#: A mesh renumbered for locality: the rows that are left free are far from free columns, and depth
#: first gets there. Its last searches, one after the other, reach nearly everything: breadth first
#: that costs less an entry.
MESH_STAGES = (
    Stage("pothen_fan", 2.5),
    Stage("single_source_bfs", 4),
    Stage("pothen_fan", 12),
    Stage("push_relabel", 0),
)

#: The same with more entries in a row, where two depth-first searches get in each other's way.
DENSE_MESH_STAGES = (MESH_STAGES[0]._replace(workers=1), *MESH_STAGES[1:])

#: No locality: what the initialisation has left is worth some passes, unless the first searches
#: show that it takes more.
RANDOM_STAGES = (Stage("single_source_bfs", 4), Stage("push_relabel", 0))


class Features:
    """What the rules ask about a graph, each found when it is first needed."""

    def __init__(self, graph: BipartiteCSR, run: Run) -> None:
        self.graph, self.run = graph, run
        self.near_perfect = False  # until the cheap initialisation says otherwise

    @cached_property
    def ordered(self) -> bool:
        """Whether neighbouring rows have neighbouring columns."""
        return is_ordered(self.graph)

    @cached_property
    def degrees(self) -> DegreeStatistics:
        """What the degrees of the majors are like."""
        return degree_statistics(self.graph)

    @property
    def dense(self) -> bool:
        """Whether the mean degree is too large for Karp-Sipser."""
        return self.degrees.mean > DENSE_DEGREE

    @property
    def beyond_cheap(self) -> bool:
        """Whether the cheap initialisation is sure to leave too much to be worth its pass."""
        if self.ordered or self.run.warm:
            return False
        if self.degrees.are_skewed:
            return self.dense
        graph = self.graph
        return graph.n_minor < MAX_ASPECT * graph.n_major and self.degrees.mean < CHEAP_DEGREE

    @cached_property
    def mesh_levels(self) -> int:
        """How many levels a breadth-first search needs to reach `BFS_SAMPLE_ROWS` majors.

        Needs the transpose, so it is searched only where the degrees or a sample suggest a mesh; 0
        elsewhere. A graph of few entries needs the transpose later anyway.
        """
        many_ones = self.degrees.ones >= DEGREE_ONE_SHARE
        if many_ones or (self.dense and not has_locality(self.graph)):
            return 0
        graph, back = self.graph, transpose(self.graph, self.run)
        return _core.bfs_depth_to(csr(graph), csr(back), BFS_SAMPLE_ROWS)

    @property
    def mesh(self) -> bool:
        """Whether this is a mesh whose numbering says nothing."""
        return self.mesh_levels >= MESH_LEVELS


class Rule(NamedTuple):
    """Which graphs, what replaces the cheap initialisation (None: nothing does), what follows.

    The initialisation is an engine, or ``"renumber"``: the cheap one on a copy in breadth-first
    order.
    """

    applies: Callable[[Features], bool]
    initialisation: str | None
    stages: tuple[Stage, ...]


RULES = (
    Rule(lambda f: f.near_perfect, None, NEAR_PERFECT_STAGES),
    Rule(lambda f: f.ordered, None, ORDERED_STAGES),
    Rule(lambda f: f.degrees.are_skewed and f.dense, "min_degree", RANDOM_STAGES),
    Rule(lambda f: f.degrees.are_skewed, None, RANDOM_STAGES),
    Rule(lambda f: f.mesh and f.degrees.mean < SPARSE_MESH_DEGREE, "renumber", MESH_STAGES),
    Rule(lambda f: f.mesh, "renumber", DENSE_MESH_STAGES),
    Rule(lambda f: f.dense and f.degrees.spread < EVEN_SPREAD, "min_degree", RANDOM_STAGES),
    Rule(lambda _: True, "karp_sipser", RANDOM_STAGES),
)


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: at times the transpose, or a renumbered copy.
    Time: that of the engines it runs.
    """
    if graph.n_rows == graph.n_cols and not run.warm and _match_diagonal(graph, matching, run):
        return
    if graph.nnz < SMALL_ENTRIES:
        if run_engine("cheap", graph, matching, run, workers=1).cardinality < min(graph.shape):
            _run_stages(SMALL_STAGES, graph, matching, run)
        return
    features = Features(graph, run)
    if not features.beyond_cheap:
        # By one thread: where two meet, a sweep through a well numbered matrix leaves free rows far
        # from free columns.
        workers = 1 if features.ordered else None
        rank = run_engine("cheap", graph, matching, run, workers=workers).cardinality
        if rank == min(graph.shape):
            return
        features.near_perfect = graph.n_major - rank < NEAR_PERFECT_SHARE * graph.n_major
    _, initialisation, stages = next(rule for rule in RULES if rule.applies(features))
    if initialisation == "renumber":
        workers = 1 if features.mesh_levels > NARROW_LEVELS else run.workers
        return _solve_renumbered(stages, graph, matching, run, workers)
    settled = None
    if initialisation == "karp_sipser":
        settled = np.zeros(graph.n_major, bool), np.zeros(graph.n_minor, bool)
    if initialisation:
        _restart(initialisation, graph, matching, run, settled)
    _run_stages(stages, graph, matching, run, settled)


#: For each major and minor, whether augmenting paths can do without it, as Karp-Sipser finds.
_Settled = tuple[BoolArray, BoolArray]


def _match_diagonal(graph: BipartiteCSR, matching: Matching, run: Run) -> bool:
    """Match along the diagonal if it has no zero; otherwise the scan ends at the first one."""
    begin = perf_counter()
    found = _core.match_diagonal(csr(graph), mates(graph, matching))
    if found:
        seconds = perf_counter() - begin
        run.steps.append(StepInfo("diagonal", seconds, edges=graph.nnz, cardinality=graph.n_rows))
    return found


def _restart(
    engine: str, graph: BipartiteCSR, matching: Matching, run: Run, settled: _Settled | None
) -> None:
    """Replace the cheap initialisation by a better one; a matching that the user gave is kept."""
    if run.steps and not run.warm:  # before the first step nothing is matched
        matching.row_mate.fill(UNMATCHED)
        matching.col_mate.fill(UNMATCHED)
    keep_forced = settled is not None and not run.warm
    run_engine(engine, graph, matching, run, settled=settled, keep_forced=keep_forced)


def _run_stages(
    stages: tuple[Stage, ...],
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    settled: _Settled | None = None,
) -> None:
    """Run one exact algorithm after the other, until one ends within its allowance.

    The first searches from the majors, which needs no transpose, or in a core from the side with
    fewer free vertices; the others from the minors if far fewer of these are free.
    """
    from_minor = settled is not None and _has_fewer_minors(graph, matching, settled)
    for engine, passes, workers in stages:
        done = run_engine(
            engine,
            graph,
            matching,
            run,
            from_minor=from_minor,
            edge_limit=int(passes * graph.nnz),
            settled=settled,
            workers=workers,
        )
        if not done.exhausted or done.cardinality == min(graph.shape):
            return
        free_majors, free_minors = (
            graph.n_major - done.cardinality,
            graph.n_minor - done.cardinality,
        )
        from_minor = TRANSPOSE_GAIN * free_minors < free_majors


def _has_fewer_minors(graph: BipartiteCSR, matching: Matching, settled: _Settled) -> bool:
    """Tell whether the core has fewer free minors than majors: fewer searches, each finds more."""
    pair = mates(graph, matching)
    majors, minors = (
        np.count_nonzero(~done[mate < 0]) for done, mate in zip(settled, pair, strict=True)
    )
    return bool(minors < majors)


def _solve_renumbered(
    stages: tuple[Stage, ...], graph: BipartiteCSR, matching: Matching, run: Run, workers: int
) -> None:
    """Solve a copy in breadth-first order, and carry its matching back."""
    copy = _renumber(graph, matching, run, workers)
    inner = Run(run.workers, run.seed, run.options, run.detailed, steps=run.steps)
    run_engine("cheap", copy.graph, copy.matching, inner, workers=1)
    _run_stages(stages, copy.graph, copy.matching, inner)
    run.transposes_built += inner.transposes_built
    run.transpose_seconds += inner.transpose_seconds
    run.renumbered = copy.unpermute_matching(matching, run.workers)


def _renumber(graph: BipartiteCSR, matching: Matching, run: Run, workers: int) -> Renumbered:
    """Copy the graph in breadth-first order, with the matching that the user gave.

    Uses up the transpose.
    """
    workspace = Workspace.of(Matching.start(graph) if run.warm else matching)
    copy = renumber(graph, workspace, transpose(graph, run), workers)
    run.transposed = None
    if run.warm:
        copy.permute_matching(matching)
    return copy
