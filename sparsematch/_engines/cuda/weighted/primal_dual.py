"""An assignment made exact on the device: duals, tight entries, distances, phase by phase."""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import n_set, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.layout import layout
from sparsematch._engines.cuda.matching import auto
from sparsematch._engines.cuda.weighted.auction import NARROW, Assignment
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

#: The share of the free columns that a phase reaches, at least one. Evidence: 0.8 to 0.95 were
#: alike on five families of 12 to 21 million entries on an H100, 0.5 up to twice as slow.
REACHED = 0.9

#: The first radius of the first phase, in largest costs; of a later one, in last radii of the phase
#: before: smaller where that scanned more than `DEEP` times the entries. Evidence: as above, 1/2
#: before 1/16 and 1/64; sums of values over 16 orders, deep, took half the time with 1/64.
FIRST, NEXT, NEXT_DEEP, DEEP = 2.0**-16, 0.5, 2.0**-6, 16

load = compile.declare("weighted/primal_dual", NARROW=NARROW)


class Tolerances(NamedTuple):
    """In the unit of the costs."""

    tight: float  #: Reduced costs up to this are zero but for rounding.
    keep: float  #: Pairs are kept up to this.


def match_tight(problem: Assignment, near: Tolerances, workers: int) -> int:
    """Update the duals of rows, match as many as the tight entries allow; return the free rows."""
    xp, n, dtype = namespace(problem.indptr), problem.n, problem.dtype
    kernels, begin = load(dtype), xp.zeros(n + 1, dtype)
    part_worse(problem, near, begin[1:])
    xp.cumsum(begin, dtype=dtype, out=begin)
    nnz = int(begin[-1])
    indices, end = xp.empty(nnz, dtype), begin[:-1].copy()
    lists = dtype.type(n), kernels.struct("Costs", problem), _duals(problem, kernels)
    rest = np.float64(near.tight), problem.shift, end, indices
    kernels.launch("list_tight", n << int(problem.shift), *lists, *rest)
    graph = BipartiteCSR(n, n, begin, indices, "cupy", False, nnz)
    matching = Matching(problem.row_mate, problem.col_mate)
    auto.improve(graph, matching, Run(workers, warm=int(problem.row_mate.max()) >= 0))
    return n_set(problem.row_mate < 0)


def part_worse(problem: Assignment, near: Tolerances, count: Any = None) -> None:
    """Update duals of rows, part pairs worse than is to be kept, count tight entries."""
    n, kernels = problem.n, load(problem.dtype)
    if count is None:
        count = namespace(problem.indptr).empty(n, problem.dtype)
    lists = problem.dtype.type(n), kernels.struct("Costs", problem), _duals(problem, kernels)
    bounds = np.float64(near.tight), np.float64(near.keep)
    kernels.launch("row_minima", n << int(problem.shift), *lists, *bounds, problem.shift, count)


class Phases:
    """The phases after the first, and the workspace that they share."""

    # 3 indices for each row, a double for each column.
    def __init__(self, problem: Assignment, largest: float) -> None:
        xp, n, dtype = namespace(problem.indptr), problem.n, problem.dtype
        self.problem, self.kernels, self._xp = problem, load(dtype), xp
        # the three of `Spread`
        self.queue, self.stamp = xp.empty(2 * n, dtype), xp.zeros(n, dtype)
        self.distance, self._round = xp.empty(n), 1
        self._radius = max(FIRST * largest, float(np.finfo(float).tiny))

    def move_duals(self) -> None:
        """Lower duals of columns by how much nearer to free rows than free ones they are; waits."""
        problem, kernels, xp = self.problem, self.kernels, self._xp
        n, dtype = problem.n, problem.dtype
        free = xp.flatnonzero(problem.row_mate < 0)
        self.queue[: free.size] = free
        self.queue[n : n + free.size] = free  # whichever half the round reads
        words = np.zeros(1, layout("weighted/primal_dual", dtype, "Levels"))
        words["round"], words["count"][0, self._round % 3] = self._round, free.size
        words["radius"] = self._radius
        control, nearest = xp.asarray(words.view(np.uint8)), xp.asarray([np.inf])
        self.distance.fill(np.inf)
        spread = kernels.struct("Spread", self, nearest=nearest)
        enough = max(int(REACHED * free.size), 1)
        duals = _duals(problem, kernels)
        lists = dtype.type(n), kernels.struct("Costs", problem), duals, spread
        wanted = np.uint64(enough), np.bool_(enough == 1)
        done, last = False, self._round
        while not done:
            last += problem.rounds
            rest = problem.shift, np.uint64(last), control
            kernels.launch_resident("distances", *lists, *wanted, *rest, blocks_per_processor=2)
            words = kernels.read("Levels", control)
            done = bool(words["done"])
        self._round = int(words["round"]) + 1
        far = min(float(words["radius"]), float(nearest[0]))
        share = NEXT_DEEP if int(words["scanned"]) > DEEP * problem.indices.size else NEXT
        self._radius = max(share * float(words["radius"]), float(np.finfo(float).tiny))
        kernels.launch("lower", n, dtype.type(n), duals, spread, np.float64(far))


def _duals(problem: Assignment, kernels: compile.Kernels) -> Any:
    return kernels.struct("Duals", problem, u=problem.row_dual, v=problem.col_dual)
