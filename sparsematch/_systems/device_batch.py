"""Many systems of one pattern on a GPU at once: cuDSS's uniform batch, refined and measured."""

from typing import Any

import numpy as np

from sparsematch._api.weighted import maximum_product_transversal
from sparsematch._base.arrays import FloatArray, namespace
from sparsematch._base.tolerances import GOOD_ERROR
from sparsematch._input.assembled import compressed_matrix
from sparsematch._numerics.backward_error import normwise
from sparsematch._numerics.refinement import Change, refine
from sparsematch._systems.device_solvers import CudssBatch
from sparsematch._types.bipartite import list_of_each
from sparsematch._types.matching import Matching


class UniformBatch:
    """As many matrices with the pattern of A, factorised together, or their transposes."""

    # In a batch cuDSS has no matching of its own. So all get the rows in the order that puts a
    # matching on the diagonal, and the scaling, that are best for the values of A. For rows in the
    # order p, scaled by r, and columns scaled by c, B is the matrix that is factorised: A x = b
    # where B y = (r b)[p] and x = c y, and A^T x = b where B^T y = c b and x[p] = r[p] y.
    def __init__(
        self, A: Any, matching: Matching, product: bool, trans: str, k: int, kind: type
    ) -> None:
        self.size, self._trans, self._all = (k, kind), trans, _stacked(A, k)
        ones = namespace(A.data).ones
        self._ones, self._row, self._col = (ones(n * A.shape[0]) for n in (k, 1, 1))
        if product and (best := maximum_product_transversal(A)).is_perfect:
            matching, self._row, self._col = best.matching, best.row_scale, best.col_scale
        self._order = matching.as_permutation()
        B = numbered(A)[self._order]
        B = B if trans == "N" else B.T.tocsr()
        B.sort_indices()
        B.indptr, B.indices = B.indptr.astype("int32"), B.indices.astype("int32")
        self._places = B.data.astype("int64") - 1
        self._by_row = self._row[list_of_each(A.indptr, A.nnz)]
        self._by_col = self._col[A.indices]
        self._factors = CudssBatch(B, k, kind)

    def solve(self, values: Any, b: Any) -> tuple[Any, FloatArray]:
        """Return solutions, shape (k, n), and their backward errors; infinite where not one is."""
        A, norms = self._diagonal(values), self._diagonal(abs(values)) @ self._ones
        norms = norms.reshape(b.shape).max(axis=1)
        self._factors.factorise((values * self._by_row * self._by_col)[:, self._places])
        right = b.T
        rest: Change = lambda x: right - (A @ x.T.ravel()).reshape(b.shape).T  # columns are items
        measure = lambda x: (normwise(r := rest(x), x, right, norms), r)
        x, errors, residual = refine(self._correct(right), measure, self._correct, good=GOOD_ERROR)
        solved = abs(residual).max(axis=0) <= 0.1 * abs(right).max(axis=0)  # NaN is not
        errors[~solved] = np.inf
        return x.T, errors

    def _correct(self, right: Any) -> Any:
        if self._trans == "N":
            return (self._factors.solve((self._row * right.T)[:, self._order]) * self._col).T
        y = self._factors.solve(self._col * right.T)
        x = y.copy()
        x[:, self._order] = self._row[self._order] * y
        return x.T

    def _diagonal(self, values: Any) -> Any:
        """Return the matrices with these values as the diagonal blocks of one."""
        n = self._ones.size
        A = compressed_matrix("csr", (n, n), *self._all, values.ravel())
        return A if self._trans == "N" else A.T


def numbered(A: Any) -> Any:
    """Return a copy whose values count the entries, from 1: zeros might get lost."""
    A = A.copy()
    A.data = namespace(A.data).arange(1, A.nnz + 1, dtype=np.float64)
    return A


def _stacked(A: Any, k: int) -> tuple[Any, Any]:
    """Return the index arrays of a matrix whose k diagonal blocks have the pattern of A."""
    xp, dtype = namespace(A.data), np.int32 if k * max(A.nnz, A.shape[0]) < 2**31 else np.int64
    item = xp.arange(k, dtype=dtype)[:, np.newaxis]
    starts = (A.indptr[:-1].astype(dtype) + A.nnz * item).ravel()
    end = xp.full(1, k * A.nnz, dtype)
    return xp.concatenate([starts, end]), (A.indices + A.shape[0] * item).ravel()
