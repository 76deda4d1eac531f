"""A maximum matching of least cost, in the user's rows and columns."""

import math

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, worthwhile
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import LeastCost

#: Costs below need no unit of their own: whatever is added up stays in the range of doubles.
_SAFE = 2.0**900


#: A matching, and the duals of rows and columns.
Start = tuple[Matching, FloatArray, FloatArray]


def least_cost(
    graph: BipartiteCSR,
    cost: FloatArray,
    workers: int,
    largest: float | None = None,
    start: Start | None = None,
) -> LeastCost:
    """Return a maximum matching of least cost, and duals that prove it.

    Duals of unmatched rows and columns are the largest of their side. `largest`: a bound on the
    absolute values of the costs, if one is known. `start`: a matching and finite duals of similar
    costs, to begin with; none need be right. Time: that of the core; memory: as much again as
    the matrix where the core needs the transpose, or parts of it.
    """
    unit = 1.0 if largest is not None and largest < _SAFE else _unit(graph, cost)
    mates, (row_dual, col_dual) = to_begin_with(graph, start)
    _core.least_cost(
        csr(graph),
        cost if unit == 1 else cost / unit,
        graph.orient(*mates),
        graph.orient(row_dual, col_dual),
        worthwhile(workers, graph.nnz),
        warm=start is not None,
    )
    return LeastCost(Matching(*mates), row_dual, col_dual, unit).in_units_of_costs()


def to_begin_with(
    graph: BipartiteCSR, start: Start | None
) -> tuple[tuple[IndexArray, IndexArray], tuple[FloatArray, FloatArray]]:
    """Return mates and duals for the core to write; those of a start, if there is one."""
    if start is not None:
        matching, row_dual, col_dual = start
        mates = matching.row_mate.astype(graph.dtype), matching.col_mate.astype(graph.dtype)
        return mates, (row_dual.copy(), col_dual.copy())
    mates = np.empty(graph.n_rows, graph.dtype), np.empty(graph.n_cols, graph.dtype)
    return mates, (np.empty(graph.n_rows), np.empty(graph.n_cols))


def round_duals(row_dual: FloatArray, col_dual: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Round duals of whole costs, so that they prove the same without a tolerance.

    Down in rows, up in columns: a sum that was at most a whole number still is, one that was equal
    to it too. Duals too large to tell a rounding error from a fraction are left as they are.
    """
    largest = max(np.abs(side).max(initial=0.0) for side in (row_dual, col_dual))
    if largest >= 2.0**30:
        return row_dual, col_dual
    near = 2.0**-20
    return np.floor(row_dual + near), np.ceil(col_dual - near) + 0.0  # no negative zeros


def are_whole(values: FloatArray) -> bool:
    """Tell whether all are whole numbers."""
    return bool(np.array_equal(values, np.floor(values)))


def _unit(graph: BipartiteCSR, cost: FloatArray) -> float:
    """Return a power of two in units of which no dual, and no sum of three, is infinite.

    A step of the core lowers the least dual by no more than twice the largest cost, and there are
    at most 64 steps for each entry, row and column; joining and balancing double what they add up
    to. Costs are scaled without rounding, but those of less than 1e-280 of the largest one.
    """
    largest = float(np.abs(cost).max(initial=0.0))
    spare = (graph.nnz + graph.n_rows + graph.n_cols).bit_length() + 14
    return 2.0 ** max(math.frexp(largest)[1] + spare - np.finfo(np.float64).maxexp, 0)
