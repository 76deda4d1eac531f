"""The pattern of a matrix, kept so that new values can be put in their places.

This is the first half of an analysis.

Solvers want compressed columns, sorted, without duplicates. A matrix that comes so is used as it
is; of any other, the place of each of its entries in that order is kept, and new values go there
without a conversion.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray
from sparsematch._base.dlpack import as_array
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._input import pattern
from sparsematch._input.foreign import from_other_library
from sparsematch._input.names import read_names
from sparsematch._input.pattern import is_plain
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.view import without_view
from sparsematch.solvers._checks import check_square
from sparsematch.solvers._errors import NamedSystem, NotFiniteError

Values = NDArray[Any]


class MeasuredValues(NamedTuple):
    """Values by columns, float64 or complex128, their largest magnitude and the 1-norm."""

    values: Values
    largest: float
    norm: float


@dataclass(frozen=True, slots=True, eq=False)
class Pattern(pattern.Pattern):
    """The pattern of a square matrix by columns, and how its values get there."""

    #: Which of these places the graph has, the values of the others being zero; None: all.
    kept: IndexArray | None = None
    #: What the user calls the rows and columns.
    row_names: tuple[str, ...] | None = None
    col_names: tuple[str, ...] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the values of the matrix are used as they come, by columns."""
        return self.order is None and self.kept is None and self.layout == "csc"

    def without_zeros(self, values: Values) -> tuple["Pattern", Values]:
        """Return the pattern of the values that are not zero, and these."""
        if np.count_nonzero(values) == values.size:
            return self, values
        kept = np.flatnonzero(values)
        graph = self.graph
        indptr = np.searchsorted(kept, graph.indptr).astype(graph.dtype)
        graph = replace(graph, indptr=indptr, indices=graph.indices[kept])
        return replace(self, graph=graph, kept=kept), values[kept]

    def named(self, row_names: Iterable[Any] | None, col_names: Iterable[Any] | None) -> "Pattern":
        """Return the pattern with names; raise TypeError or ValueError if they are no names."""
        n_rows, n_cols = self.graph.shape
        rows = read_names(row_names, n_rows, "row_names", "rows")
        cols = read_names(col_names, n_cols, "col_names", "columns")
        return replace(self, row_names=rows, col_names=cols)

    def system(self, values: Values) -> NamedSystem:
        """Return the matrix with these values, to be explained; nobody may change them."""
        matrix = sp.csc_array((values, self.graph.indices, self.graph.indptr), self.graph.shape)
        return NamedSystem(matrix, self.row_names, self.col_names)

    def values(self, A: Any) -> MeasuredValues:
        """Return the values of a matrix of this pattern, or values in its order.

        Raises TypeError if `A` is neither a sparse matrix nor an array of numbers; ValueError if
        its pattern is another one, or a value is not finite.
        """
        data = self.any_values(A)
        norms = operations(LuOps, self.graph.backend).value_norms(self.graph, data)
        return self.refuse_infinite(MeasuredValues(data, *norms))

    def refuse_infinite(self, measured: MeasuredValues) -> MeasuredValues:
        """Return the values; raise ValueError if a value is not finite."""
        data = measured.values
        if not math.isfinite(measured.norm) and not np.isfinite(data).all():
            p = int(np.flatnonzero(~np.isfinite(data))[0])
            col = int(np.searchsorted(self.graph.indptr, p, side="right")) - 1
            raise NotFiniteError(int(self.graph.indices[p]), col, data[p])
        return measured

    def any_values(self, A: Any) -> Values:
        """Return the values that `values` does, finite or not."""
        A = from_other_library(without_view(A)[0])
        return self.arrange(self.data_of(A) if sp.issparse(A) else self._read_values(A))

    def arrange(self, data: Values) -> Values:
        """Return values in the order of the matrix by columns, as float64 or complex128."""
        nnz = self.arrays[-1].size
        if not isinstance(data, np.ndarray):
            raise wrong_type("A.data", data, "an array")
        if data.ndim != 1 or data.size < nnz:
            raise ValueError(f"A.data has shape {data.shape}, but there are {nnz} entries")
        if data.dtype.kind not in "biufc":
            raise TypeError(f"A must hold numbers, not {data.dtype}")
        dtype = np.complex128 if data.dtype.kind == "c" else np.float64
        data = np.ascontiguousarray(data[:nnz], dtype)
        if self.order is not None:
            data = data.take(self.order, mode="clip")  # all are inside, which need not be checked
        if self.starts is not None:
            data = np.add.reduceat(data, self.starts)
        return data if self.kept is None else self._keep(data)

    def _keep(self, data: Values) -> Values:
        """Return the values of the places kept; raise ValueError if another one is not zero."""
        values = data[self.kept]
        if np.count_nonzero(values) < np.count_nonzero(data):
            is_kept = np.zeros(data.size, bool)
            is_kept[self.kept] = True
            p = int(np.flatnonzero(~is_kept & (data != 0))[0])
            first = p if self.starts is None else self.starts[p]
            place = first if self.order is None else self.order[first]
            row, col = (side[place] for side in _positions(self.layout, self.arrays))
            raise ValueError(
                f"A[{row}, {col}] is {data[p]}, but it was 0 in the matrix that was analysed with "
                'zeros="drop": analyse this one, or with zeros="keep"'
            )
        return values

    def _read_values(self, A: Any) -> Values:
        A = as_array(A, "A") if hasattr(A, "__dlpack_device__") else A
        if not isinstance(A, np.ndarray):
            raise wrong_type("A", A, "a SciPy sparse array or matrix, or an array of values")
        if A.shape != self.arrays[-1].shape:
            raise ValueError(
                f"there are values of shape {A.shape} for a matrix with {self.arrays[-1].size} "
                "entries"
            )
        return A


def read_pattern(A: Any) -> Pattern:
    """Read the pattern of a square matrix.

    Raises TypeError if `A` is not a sparse matrix; ValueError if it is not square, or its index
    arrays are inconsistent.
    """
    if sp.issparse(A):
        A = pattern.compress(A)
        copies = None if A.format == "coo" else _copies(A)
        if copies is not None and (found := _read_at_once(A, copies)):
            return found
    known = pattern.read_pattern(A, by_columns=True)
    check_square(known.graph.shape)
    return Pattern(known.graph, known.layout, known.arrays, known.order, known.starts)


def _read_at_once(A: Any, arrays: tuple[IndexArray, IndexArray]) -> Pattern | None:
    """Read canonical columns, or rows, by one call of the core; None of any others."""
    n, lu = A.shape[0], operations(LuOps, "numpy")
    if A.format == "csc":
        if not lu.is_canonical(*arrays):
            return None
        return Pattern(BipartiteCSR(n, n, *arrays, "numpy", True), "csc", arrays, None, None)
    if (columns := lu.order_by_columns(*arrays)) is None:
        return None
    indptr, rows, order = columns
    return Pattern(BipartiteCSR(n, n, indptr, rows, "numpy", True), "csr", arrays, order, None)


def _copies(A: Any) -> tuple[IndexArray, IndexArray] | None:
    """Return copies of the index arrays of a square compressed matrix that the core can read."""
    indptr, indices, n = A.indptr, A.indices, A.shape[0]
    if (
        not is_plain(indptr)
        or not is_plain(indices)
        or indptr.dtype != indices.dtype
        or indptr.shape != (n + 1,)
        or A.shape[1] != n
        or indptr.dtype not in (np.int32, np.int64)
    ):
        return None
    return indptr.copy(), indices[: indptr[-1]].copy()


def _positions(layout: str, arrays: tuple[IndexArray, ...]) -> tuple[IndexArray, IndexArray]:
    if layout == "coo":
        return arrays[0], arrays[1]
    indptr, indices = arrays
    stored = np.repeat(
        np.arange(indptr.size - 1, dtype=indices.dtype), np.diff(indptr).astype(np.intp, copy=False)
    )
    return (stored, indices) if layout == "csr" else (indices, stored)
