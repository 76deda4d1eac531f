"""Sparse QR factorisations that know the rank: of a matrix B = Q R, and what B maps to zero.

The core leaves out dead columns, which are dependent on those before them: R = [R1 R2], R1
triangular, and B [-R1^-1 R2; I] = 0. Columns may depend on each other though none of them is
dead (Kahan's matrix), or though the dead one has hardly a part in it: then R1 has tiny singular
values, which inverse iteration finds. The columns that have most part in their vectors go to the
end of the order, where they are dead: Foster, Rank and null space calculations using matrix
decomposition without column interchanges (Linear Algebra Appl. 74, 1986). Columns are scaled to
norms of about 1 by powers of two, so that units do not count. All this is of B with its dense rows
cut in pieces, which adds columns; what goes in and comes out is of B as it is.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._engines.operations import QrOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import FloatArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import UpperTrapezoid
from sparsematch.solvers._condition import SINGULAR
from sparsematch.solvers._dense_rows import cut_dense_rows
from sparsematch.solvers._foreign_calls import pivots, qr, svd

Values = NDArray[Any]

#: Vectors of the first inverse iteration, and steps: each squares the ratio of singular values.
_VECTORS, _STEPS = 4, 3
#: Factorisations at most, each with more columns at the end of the order.
_ROUNDS = 10
#: Right-hand sides that are solved for at once.
_AT_ONCE = 64
#: Entries of null vectors up to which these are made orthonormal by LAPACK.
_DENSE_ENTRIES = 1 << 20


class OrthogonalFactors:
    """R of a matrix B given by rows, and Q^H applied to right-hand sides, shape (rows, k)."""

    def __init__(self, B: Any, right: Values, rcond: float) -> None:
        self._rows, self._n_columns = B, B.shape[1]
        B, right = cut_dense_rows(B, right)
        self._scale = _column_scale(B)
        values = B.data * self._scale[B.indices]
        norms = np.sqrt(np.bincount(B.indices, np.abs(values) ** 2, minlength=B.shape[1]))
        self._ops = operations(QrOps, "numpy")
        graph = BipartiteCSR(B.shape[0], B.shape[1], B.indptr, B.indices, "numpy")
        factorise = partial(self._ops.factorise, graph, values)
        last = np.zeros(B.shape[1], bool)
        for _ in range(_ROUNDS):
            # of a vector of n elements the largest is at least 1 / sqrt(n)
            tolerance = rcond * np.where(last, 2 * np.sqrt(B.shape[1]), 1) * norms
            self._split(factorise(right, tolerance, last))
            dependent = self._dependent(rcond * norms.max(initial=0))
            if not dependent.size:
                break
            last[dependent] = True
        self._again = partial(factorise, tolerance=tolerance, last=last)

    def _split(self, found: UpperTrapezoid) -> None:
        columns, n = found.columns, self._scale.size
        # columns with a row of R, in its order, and the others
        self._live = columns[found.start[:-1]]
        place = np.full(n, -1, columns.dtype)
        place[self._live] = np.arange(self._live.size)
        self._dead = np.flatnonzero(place < 0)
        where = place[columns]
        beside = np.flatnonzero(where < 0)  # entries of R2
        self._indptr = (found.start - np.searchsorted(beside, found.start)).astype(place.dtype)
        self._indices, self._values = np.delete(where, beside), np.delete(found.values, beside)
        rows = np.searchsorted(found.start, beside, "right") - 1
        where = np.searchsorted(self._dead, columns[beside])
        shape = self._live.size, self._dead.size
        self._beside = sp.csc_array((found.values[beside], (rows, where)), shape)
        self.top = found.top  #: Q^H applied to the right-hand sides.

    @property
    def rank(self) -> int:
        """The numerical rank of B."""
        return self._live.size - (self._scale.size - self._n_columns)

    @property
    def is_full(self) -> bool:
        """Whether all columns are independent."""
        return self._dead.size == 0

    def apply_adjoint(self, y: Values) -> Values:
        """Return Q^H y to a rounding error of y, by another factorisation.

        R^-H makes it of B^H y with a rounding error times the condition.
        """
        found = self._again(cut_dense_rows(self._rows, y)[1])
        if not np.array_equal(found.columns[found.start[:-1]], self._live):  # threads of a BLAS
            return self.to_rows(sp.csr_array(self._rows.conj().T) @ y)
        top: Values = found.top
        return top

    def to_rows(self, c: Values) -> Values:
        """Return R^-H c: of B^H r, what the range of B has of r, Q^H r."""
        out = np.zeros((self._scale.size, c.shape[1]), self._values.dtype)
        out[: self._n_columns] = self._scale[: self._n_columns, np.newaxis] * c
        return self._solve(out[self._live], True)

    def to_columns(self, c: Values) -> Values:
        """Return R^-1 c: of Q^H b, the solution; elements of dead columns are zero."""
        out = np.zeros((self._scale.size, c.shape[1]), self._values.dtype)
        out[self._live] = self._scale[self._live, np.newaxis] * self._solve(c, False)
        return out[: self._n_columns]

    def _solve(self, x: Values, adjoint: bool) -> Values:
        x = np.array(x, self._values.dtype, order="C")  # solved in place
        self._ops.solve_upper(self._indptr, self._indices, self._values, x, adjoint)
        return x

    def _dependent(self, least: float) -> IndexArray:
        """Return columns with most part in the singular vectors of R1 with values up to `least`."""
        n, width = self._live.size, _VECTORS
        rng = np.random.default_rng(0)
        while n:
            width = min(width, n)
            vectors = rng.standard_normal((n, width)).astype(self._values.dtype)
            with np.errstate(all="ignore"):
                for _ in range(_STEPS):
                    inverse = self._solve(_orthonormal(self._solve(vectors, True)), False)
                    if not np.isfinite(inverse).all():
                        return self._live[[int(np.argmax(~np.isfinite(inverse).all(axis=1)))]]
                    vectors = _orthonormal(inverse)
            # the singular values of R1^-1 on what is left of the space
            u, sizes, _ = svd(vectors.conj().T @ inverse)
            tiny = sizes * least >= 1
            if width == n or not tiny.all():
                largest = pivots((vectors @ u[:, tiny]).conj().T)
                return self._live[largest[: np.count_nonzero(tiny)]]
            width *= 4
        return self._live

    def null_vectors(self) -> Any:
        """Return a basis of what B maps to zero, sparse, shape (columns, columns - rank)."""
        pieces = [sp.csc_array((self._live.size, 0))]
        for first in range(0, self._dead.size, _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            pieces.append(sp.csc_array(-self._solve(self._beside[:, some].toarray(), False)))
        above = sp.coo_array(sp.hstack(pieces))
        rows = np.concatenate([self._live[above.row], self._dead])
        cols = np.concatenate([above.col, np.arange(self._dead.size)])
        data = np.concatenate([above.data, np.ones(self._dead.size)]) * self._scale[rows]
        null = sp.csr_array((data, (rows, cols)), (self._scale.size, self._dead.size))
        return null[: self._n_columns]


class Complement:
    """Projects vectors onto the orthogonal complement of the columns of a sparse matrix N."""

    def __init__(self, N: Any) -> None:
        scale = _column_scale(N)
        self._vectors = N.copy()
        self._vectors.data *= scale[N.indices]
        self._basis = None
        if N.shape[0] * N.shape[1] <= _DENSE_ENTRIES:
            self._basis = _orthonormal(self._vectors.toarray())
        else:
            nothing = np.empty((N.shape[0], 0), N.dtype)
            self._factors = OrthogonalFactors(self._vectors, nothing, SINGULAR)
            self._adjoint = sp.csr_array(self._vectors.conj().T)

    def __call__(self, x: Values) -> Values:
        """Project; twice, since once leaves a rounding error times the condition of N."""
        for _ in range(2):
            if self._basis is not None:
                x = x - self._basis @ (self._basis.conj().T @ x)
            else:
                factors = self._factors
                x = x - self._vectors @ factors.to_columns(factors.to_rows(self._adjoint @ x))
        return x


def _column_scale(B: Any) -> FloatArray:
    """Return powers of two that bring the largest entry of each column to between 1 and 2."""
    largest = np.zeros(B.shape[1])
    size = np.maximum(np.abs(B.data.real), np.abs(B.data.imag))
    np.maximum.at(largest, B.indices, size)
    exponents = np.where(largest > 0, np.frexp(largest)[1] - 1, 0)
    scale: FloatArray = np.ldexp(1.0, np.minimum(-exponents, 1023))
    return scale


def _orthonormal(x: Values) -> Values:
    basis: Values = qr(x)[0]
    return basis
