"""Sparse QR factorisations that know the rank: of a matrix B = Q R, and what B maps to zero.

The core leaves out dead columns, which are dependent on those before them: R = [R1 R2], R1
triangular, and B [-R1^-1 R2; I] = 0. Columns may depend on each other though none of them is
dead (Kahan's matrix), or though the dead one has hardly a part in it: then R1 has tiny singular
values, which inverse iteration finds. The columns that have most part in their vectors go to the
end of the order, where they are dead: Foster, Rank and null space calculations using matrix
decomposition without column interchanges (Linear Algebra Appl. 74, 1986). Columns are scaled to
norms of about 1 by powers of two, so that units do not count; null vectors are those of B as it is.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import qr

from sparsematch._engines.operations import QrOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import FloatArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import UpperTrapezoid

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
        self.scale = _column_scale(B)
        values = B.data * self.scale[B.indices]
        norms = np.sqrt(np.bincount(B.indices, np.abs(values) ** 2, minlength=B.shape[1]))
        self._ops = operations(QrOps, "numpy")
        graph = BipartiteCSR(B.shape[0], B.shape[1], B.indptr, B.indices, "numpy")
        last = np.zeros(B.shape[1], bool)
        for _ in range(_ROUNDS):
            # of a vector of n elements the largest is at least 1 / sqrt(n)
            tolerance = rcond * np.where(last, 2 * np.sqrt(B.shape[1]), 1) * norms
            self._split(self._ops.factorise(graph, values, right, tolerance, last))
            dependent = self._dependent(rcond * norms.max(initial=0))
            if not dependent.size:
                break
            last[dependent] = True

    def _split(self, found: UpperTrapezoid) -> None:
        columns, n = found.columns, self.scale.size
        #: Columns of B with a row of R, in its order; the others.
        self.live = columns[found.start[:-1]]
        place = np.full(n, -1, columns.dtype)
        place[self.live] = np.arange(self.live.size)
        self.dead = np.flatnonzero(place < 0)
        where = place[columns]
        is_live = where >= 0
        self._indptr = np.append(0, np.cumsum(is_live))[found.start].astype(place.dtype)
        self._indices, self._values = where[is_live], found.values[is_live]
        where = np.searchsorted(self.dead, columns[~is_live])
        rows = np.repeat(np.arange(self.live.size), np.diff(found.start))[~is_live]
        shape = self.live.size, self.dead.size
        self._beside = sp.csc_array((found.values[~is_live], (rows, where)), shape)
        self.top = found.top  #: Q^H applied to the right-hand sides.

    @property
    def rank(self) -> int:
        """The numerical rank."""
        return self.live.size

    @property
    def is_full(self) -> bool:
        """Whether all columns are independent."""
        return self.dead.size == 0

    def solve(self, x: Values, adjoint: bool = False) -> Values:
        """Solve with R1, or its conjugate transpose."""
        x = np.array(x, self._values.dtype, order="C")  # solved in place
        self._ops.solve_upper(self._indptr, self._indices, self._values, x, adjoint)
        return x

    def _dependent(self, least: float) -> IndexArray:
        """Return columns with most part in the singular vectors of R1 with values up to `least`."""
        n, width = self.live.size, _VECTORS
        rng = np.random.default_rng(0)
        while n:
            width = min(width, n)
            vectors = rng.standard_normal((n, width)).astype(self._values.dtype)
            with np.errstate(all="ignore"):
                for _ in range(_STEPS):
                    inverse = self.solve(_orthonormal(self.solve(vectors, True)))
                    if not np.isfinite(inverse).all():
                        return self.live[[int(np.argmax(~np.isfinite(inverse).all(axis=1)))]]
                    vectors = _orthonormal(inverse)
            # the singular values of R1^-1 on what is left of the space
            u, sizes, _ = np.linalg.svd(vectors.conj().T @ inverse)
            tiny = sizes * least >= 1
            if width == n or not tiny.all():
                largest = qr((vectors @ u[:, tiny]).conj().T, mode="r", pivoting=True)[1]
                return self.live[largest[: np.count_nonzero(tiny)]]
            width *= 4
        return self.live

    def null_vectors(self) -> Any:
        """Return a basis of what B maps to zero, sparse, shape (columns, columns - rank)."""
        pieces = [sp.csc_array((self.live.size, 0))]
        for first in range(0, self.dead.size, _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            pieces.append(sp.csc_array(-self.solve(self._beside[:, some].toarray())))
        above = sp.coo_array(sp.hstack(pieces))
        rows = np.concatenate([self.live[above.row], self.dead])
        cols = np.concatenate([above.col, np.arange(self.dead.size)])
        data = np.concatenate([above.data, np.ones(self.dead.size)]) * self.scale[rows]
        return sp.csc_array((data, (rows, cols)), (self.scale.size, self.dead.size))


class Complement:
    """Projects vectors onto the orthogonal complement of the columns of a sparse matrix N."""

    def __init__(self, N: Any) -> None:
        N = sp.csr_array(N)
        scale = _column_scale(N)
        N.data = N.data * scale[N.indices]
        self._basis = None
        if N.shape[0] * N.shape[1] <= _DENSE_ENTRIES:
            self._basis = _orthonormal(N.toarray())
        else:
            eps = float(np.finfo(np.float64).eps)
            self._factors = OrthogonalFactors(N, np.empty((N.shape[0], 0), N.dtype), eps)
            self._vectors = sp.csc_array(N)[:, self._factors.live]
            self._scale = self._factors.scale[self._factors.live, np.newaxis]

    def __call__(self, x: Values) -> Values:
        """Project; twice, since once leaves a rounding error times the condition of N."""
        for _ in range(2):
            if self._basis is not None:
                x = x - self._basis @ (self._basis.conj().T @ x)
            else:
                z = self._scale * (self._vectors.conj().T @ x)
                z = self._factors.solve(self._factors.solve(z, adjoint=True))
                x = x - self._vectors @ (self._scale * z)
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
    basis: Values = np.linalg.qr(x)[0]
    return basis
