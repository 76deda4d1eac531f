"""A maximum matching of least cost, in the user's rows and columns.

The core gives every row a column of its own. That is the whole problem where the rows, or the
columns, can all be matched. Elsewhere the Dulmage-Mendelsohn parts make two such problems of it: a
maximum matching pairs all rows of the horizontal and square parts with columns of these parts, and
all columns of the vertical part with rows of that part.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import worthwhile
from sparsematch._engines.cpu.decomposition.block_form import block_labels
from sparsematch._engines.cpu.matching import auto
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import BoolArray, FloatArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import LeastCost

_LARGEST = np.finfo(np.float64).max


class _Assigned(NamedTuple):
    """What the core has found: the column of each row and its inverse, the duals of both sides."""

    row_mate: NDArray[Any]
    col_mate: NDArray[Any]
    row_dual: FloatArray
    col_dual: FloatArray

    def flipped(self) -> "_Assigned":
        return _Assigned(self.col_mate, self.row_mate, self.col_dual, self.row_dual)


def least_cost(graph: BipartiteCSR, cost: FloatArray, workers: int) -> LeastCost:
    """Return a maximum matching of least cost, and duals that prove it.

    Duals of unmatched rows and columns are the largest of their side. Time: that of the core;
    memory: as much again as the matrix where the core needs the transpose.
    """
    unit = _unit(graph, cost)
    found = _assign(graph, cost if unit == 1 else cost / unit, workers)
    _balance(found)
    row_dual, col_dual = found.row_dual, found.col_dual
    largest = max(np.abs(side).max(initial=0.0) for side in (row_dual, col_dual))
    if unit > 1 and largest <= _LARGEST / unit:
        row_dual, col_dual, unit = row_dual * unit, col_dual * unit, 1.0
    return LeastCost(Matching(found.row_mate, found.col_mate), row_dual, col_dual, unit)


def _unit(graph: BipartiteCSR, cost: FloatArray) -> float:
    """Return a power of two in units of which no dual, and no sum of three, is infinite.

    A step of the core lowers the least dual by no more than the largest cost, and there are at most
    four steps for each entry, row and column; joining and balancing double what they add up to.
    Costs are scaled without rounding, but those of less than 1e-280 of the largest one.
    """
    largest = max(cost.max(initial=0.0), -cost.min(initial=0.0))
    spare = (graph.nnz + graph.n_rows + graph.n_cols).bit_length() + 8
    return 2.0 ** max(int(np.frexp(largest)[1]) + spare - np.finfo(np.float64).maxexp, 0)


def _assign(graph: BipartiteCSR, cost: FloatArray, workers: int) -> _Assigned:
    if graph.n_major <= graph.n_minor:
        found = _assign_all(graph.n_minor, graph.indptr, graph.indices, cost, workers)
    else:
        A = _csr(graph, cost).tocsc()
        transposed = _assign_all(graph.n_major, *_indices(A, graph.dtype), A.data, workers)
        found = transposed and transposed.flipped()
    if found is None:
        found = _assign_parts(graph, _csr(graph, cost), workers)
    elif graph.flipped:
        found = found.flipped()
    return found


def _csr(graph: BipartiteCSR, cost: FloatArray) -> Any:
    """Return the stored rows as rows of a SciPy matrix."""
    # SciPy looks at every index to choose a type of its own unless it is given the arrays one by
    # one.
    A = sp.csr_array((graph.n_major, graph.n_minor))
    A.indptr, A.indices, A.data = graph.indptr, graph.indices[: graph.nnz], cost
    return A


def _indices(A: Any, dtype: np.dtype[Any]) -> tuple[IndexArray, IndexArray]:
    """Return the index arrays of a SciPy matrix, which may have chosen a type of its own."""
    return A.indptr.astype(dtype, copy=False), A.indices.astype(dtype, copy=False)


def _assign_all(
    n_cols: int, indptr: IndexArray, indices: IndexArray, cost: FloatArray, workers: int
) -> _Assigned | None:
    """Match all rows of a matrix with at least as many columns; None if that cannot be done."""
    sides = indptr.size - 1, n_cols
    found = _Assigned(*(np.empty(n, kind) for kind in (indptr.dtype, np.float64) for n in sides))
    matrix = n_cols, indptr, indices
    workers = worthwhile(workers, indices.size)
    return found if _core.assignment(matrix, cost, found[:2], found[2:], workers) else None


def _assign_parts(graph: BipartiteCSR, A: Any, workers: int) -> _Assigned:
    """Match what can be matched, in the user's rows and columns."""
    matching, run = Matching.start(graph), Run(workers)
    labels = block_labels(graph, matching, run, auto.improve(graph, matching, run))
    row_below = labels.row_group > labels.n_square  # in the vertical part
    col_below = (matching.col_mate >= 0) & row_below[matching.col_mate]
    if graph.flipped:
        A = A.T
    whole = _Assigned(
        *(
            np.full(n, fill, kind)
            for fill, kind in ((-1, graph.dtype), (0, np.float64))
            for n in A.shape
        )
    )
    for below in (False, True):
        i, j = np.flatnonzero(row_below == below), np.flatnonzero(col_below == below)
        B = A[i][:, j].tocsc() if below else A[i][:, j].tocsr()
        n_cols = i.size if below else j.size
        part = _assign_all(n_cols, *_indices(B, graph.dtype), B.data, workers)
        if part is None:
            raise AssertionError(
                "a part of the Dulmage-Mendelsohn decomposition has no matching that covers it"
            )
        part = part.flipped() if below else part
        pairs = np.flatnonzero(part.row_mate >= 0)
        whole.row_mate[i[pairs]] = j[part.row_mate[pairs]]
        whole.col_mate[j[part.row_mate[pairs]]] = i[pairs]
        whole.row_dual[i], whole.col_dual[j] = part.row_dual, part.col_dual
    _join(A.tocoo(), whole, row_below, col_below)
    return whole


def _join(A: Any, whole: _Assigned, row_below: BoolArray, col_below: BoolArray) -> None:
    """Shift the duals of the first part against the second's, to prove the whole optimal.

    Entries that couple rows of the first part with columns of the second must not cost less than
    their duals add up to, and no dual may be above those of the unmatched rows (all in the second
    part) and columns (all in the first).
    """
    u, v = whole.row_dual, whole.col_dual
    coupling = ~row_below[A.row] & col_below[A.col]
    i, j = A.row[coupling], A.col[coupling]
    shift = max(0.0, np.max(u[i] + v[j] - A.data[coupling], initial=0.0))
    if (free := whole.col_mate < 0).any():
        shift = max(shift, np.max(v[col_below], initial=-np.inf) - v[free].min())
    if (free := whole.row_mate < 0).any():
        shift = max(shift, np.max(u[~row_below], initial=-np.inf) - u[free].min())
    u[~row_below] -= shift
    v[~col_below] += shift


def _balance(found: _Assigned) -> None:
    """Give both sides duals around the same value: a shift that nothing else depends on.

    Whole duals stay whole.
    """
    u, v = found.row_dual, found.col_dual
    if u.size and v.size:
        shift = np.rint((v.max() + v.min() - u.max() - u.min()) / 4)
        u += shift
        v -= shift
