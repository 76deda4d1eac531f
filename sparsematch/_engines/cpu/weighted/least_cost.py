"""A maximum matching of least cost, in the user's rows and columns."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import FloatArray, FloatPair, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, workers_of
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import LeastCost, Start
from sparsematch._types.weighted_proof import unit_of

#: Costs below need no unit of their own: whatever is added up stays in the range of doubles.
_SAFE = 2.0**900


def least_cost(
    graph: BipartiteCSR,
    cost: FloatArray,
    run: Run,
    largest: float | None = None,
    start: Start | None = None,
) -> LeastCost:
    """Return a maximum matching of least cost, and duals that prove it.

    Duals of unmatched rows and columns are the largest of their side. `largest`: a bound on the
    absolute values of the costs, if one is known. `start`: what to begin with. Time: that of the
    core; memory: as much again as the matrix where the core needs the transpose, or parts of it.
    """
    unit = 1.0 if largest is not None and largest < _SAFE else unit_of(graph, cost)
    mates, duals = to_begin_with(graph, start, unit)
    costs, warm = cost if unit == 1 else cost / unit, start is not None
    threads = workers_of(run, graph.nnz)
    _core.least_cost(csr(graph), costs, mates, duals, graph.flipped, threads, warm=warm)
    found = Matching(*read_only_sides(graph, mates))
    return LeastCost(found, *read_only_sides(graph, duals), unit).in_units_of_costs()


def to_begin_with(
    graph: BipartiteCSR, start: Start | None, unit: float = 1.0, numbers: int = 1
) -> tuple[IndexArray, FloatArray]:
    """Return mates and duals for the core to write, of rows and then columns: those of a start.

    Of each vertex there are as many `numbers`, the first of them its dual.
    """
    n_rows, n = graph.n_rows, graph.n_rows + graph.n_cols
    mates, duals = np.empty(n, graph.dtype), np.empty(n * numbers)
    if start is not None:
        first = Matching.start(graph) if start.matching is None else start.matching
        mates[:n_rows], mates[n_rows:] = first.row_mate, first.col_mate
        duals[:n_rows], duals[n_rows:n] = start.row_dual / unit, start.col_dual / unit
    return mates, duals


def read_only_sides(graph: BipartiteCSR, both: Any, n: int = 0) -> tuple[Any, Any]:
    """Split what is written: the n-th array for all rows, and for all columns."""
    both.setflags(write=False)
    begin = n * (graph.n_rows + graph.n_cols)
    middle = begin + graph.n_rows
    return both[begin:middle], both[middle : middle + graph.n_cols]


def round_duals(row_dual: FloatArray, col_dual: FloatArray) -> FloatPair:
    """Round duals of whole costs, so that they prove the same without a tolerance.

    Down in rows, up in columns: a sum that was at most a whole number still is, one that was equal
    to it too. Duals too large to tell a rounding error from a fraction are left as they are.
    """
    if max(np.abs(side).max(initial=0.0) for side in (row_dual, col_dual)) >= 2.0**30:
        return row_dual, col_dual
    near = 2.0**-20
    return np.floor(row_dual + near), np.ceil(col_dual - near) + 0.0  # no negative zeros


def are_whole(values: FloatArray) -> bool:
    """Tell whether all are whole numbers."""
    return bool((values == np.floor(values)).all())
