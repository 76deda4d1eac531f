"""Sparse QR factorisations that know the rank: of a matrix B = Q R, and what B maps to zero.

The core leaves out dead columns, which are dependent on those before them: R = [R1 R2], R1
triangular, and B [-R1^-1 R2; I] = 0. Columns may depend on each other though none of them is
dead (Kahan's matrix): then R1 has tiny singular values, whose vectors are found by inverse
iteration and left out of every solve, as in Chan, Deflated decomposition of solutions of nearly
singular systems (SIAM J. Numer. Anal. 21, 1984). Columns are scaled to norms of about 1 by powers
of two, so that units do not count; null vectors are those of B as it is.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._engines.operations import QrOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import FloatArray
from sparsematch._types.bipartite import BipartiteCSR

Values = NDArray[Any]

#: Vectors of the first inverse iteration, and steps: each squares the ratio of singular values.
_VECTORS, _STEPS = 4, 3
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
        found = self._ops.factorise(graph, values, right, rcond * norms)
        #: Columns of B with a row of R, in its order; the others.
        self.live = found.columns[found.start[:-1]]
        place = np.full(B.shape[1], -1, B.indices.dtype)
        place[self.live] = np.arange(self.live.size)
        self.dead = np.flatnonzero(place < 0)
        self._split(found, place)
        self._left = self._right = np.empty((self.live.size, 0), values.dtype)
        self._deflate(rcond * norms.max(initial=0))
        #: R1^-1 applied to the top of Q^H `right`: columns of B in units of their scale.
        self.solution = self.solve(found.top)

    def _split(self, found: Any, place: Any) -> None:
        where = place[found.columns]
        is_live = where >= 0
        self._indptr = np.append(0, np.cumsum(is_live))[found.start].astype(place.dtype)
        self._indices, self._values = where[is_live], found.values[is_live]
        where = np.searchsorted(self.dead, found.columns[~is_live])
        rows = np.repeat(np.arange(self.live.size), np.diff(found.start))[~is_live]
        shape = self.live.size, self.dead.size
        self._beside = sp.csc_array((found.values[~is_live], (rows, where)), shape)

    @property
    def rank(self) -> int:
        """The numerical rank."""
        return self.live.size - self._right.shape[1]

    @property
    def is_full(self) -> bool:
        """Whether all columns are independent."""
        return self.rank == self.scale.size

    def _solve(self, x: Values, adjoint: bool) -> Values:
        x = np.array(x, self._values.dtype, order="C")  # solved in place
        self._ops.solve_upper(self._indptr, self._indices, self._values, x, adjoint)
        return x

    def solve(self, x: Values, adjoint: bool = False) -> Values:
        """Solve with R1, or its conjugate transpose, but for its tiny singular values."""
        before, after = (self._right, self._left) if adjoint else (self._left, self._right)
        return _without(after, self._solve(_without(before, x), adjoint))

    def _deflate(self, least: float) -> None:
        """Find the singular vectors of R1 with values up to `least`."""
        n, width = self.live.size, _VECTORS
        rng = np.random.default_rng(0)
        while n:
            width = min(width, n)
            right = _orthonormal(rng.standard_normal((n, width)).astype(self._values.dtype))
            with np.errstate(all="ignore"):
                for _ in range(_STEPS):
                    left = _orthonormal(self._solve(right, True))
                    inverse = self._solve(left, False)
                    right = _orthonormal(inverse)
            # inverse = right S: its singular values are those of R1^-1
            u, sizes, vh = np.linalg.svd(right.conj().T @ inverse)
            tiny = sizes * least >= 1
            if width == n or not tiny.all():
                self._right, self._left = (right @ u)[:, tiny], (left @ vh.conj().T)[:, tiny]
                return
            width *= 4

    def null_vectors(self) -> Any:
        """Return a basis of what B maps to zero, sparse, shape (columns, columns - rank)."""
        pieces = []
        for first in range(0, self.dead.size, _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            pieces.append(sp.csc_array(-self.solve(self._beside[:, some].toarray())))
        n, deficiency = self.scale.size, self.dead.size + self._right.shape[1]
        above = sp.coo_array(sp.hstack([*pieces, sp.csc_array(self._right)]))
        rows = np.concatenate([self.live[above.row], self.dead])
        cols = np.concatenate([above.col, np.arange(self.dead.size)])
        data = np.concatenate([above.data, np.ones(self.dead.size)]) * self.scale[rows]
        return sp.csc_array((data, (rows, cols)), (n, deficiency))


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
                x = _without(self._basis, x)
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


def _without(basis: Values, x: Values) -> Values:
    """Return vectors without their parts in an orthonormal basis."""
    if not basis.shape[1]:
        return x
    out: Values = x - basis @ (basis.conj().T @ x)
    return out
