"""Sparse QR factorisations that know the rank: of a matrix B = Q R, and what B maps to zero.

The core leaves out dead columns, which are dependent on those before them: R = [R1 R2], R1
triangular, and B [-R1^-1 R2; I] = 0. Columns may depend on each other though none of them is
dead (Kahan's matrix), or though the dead one has hardly a part in it: then R1 has tiny singular
values, which inverse iteration finds. The columns that have most part in their vectors go to the
end of the order, where they are dead: Foster, Rank and null space calculations using matrix
decomposition without column interchanges (Linear Algebra Appl. 74, 1986). So do those with most
part in null vectors with large entries, which are nearly parallel: R1 is then worse conditioned
than B. Columns are scaled to norms of about 1 by powers of two, so that units do not count. All
this is of B with its dense rows cut in pieces, which adds columns; what goes in and comes out is of
B as it is.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from sparsematch._base.arrays import Array, BoolArray, FloatArray, IndexArray
from sparsematch._base.lazy import lazy_attribute
from sparsematch._base.tolerances import EPSILON, HALF_OF_THE_DIGITS, SINGULAR
from sparsematch._engines.operations import QrOps
from sparsematch._engines.registry import operations
from sparsematch._input.assembled import compressed_matrix
from sparsematch._numerics.foreign_calls import interruptible, pivots
from sparsematch._numerics.inverse_iteration import NotFinite, SmallValues, iterate_inverse
from sparsematch._numerics.scaling import exponents_of, times_power
from sparsematch._systems.dense_rows import cut_dense_rows
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import UpperTrapezoid
from sparsematch._types.least_squares import WORTH_SAYING

#: Vectors of the first inverse iteration, and steps: each squares the ratio of singular values.
_VECTORS, _STEPS = 4, 3
#: Factorisations at most, each with more columns at the end of the order.
_ROUNDS = 10
#: Right-hand sides that are solved for at once.
_AT_ONCE = 64
#: Largest entry of a null vector, the least being 1, above which another column had better be dead:
#: the space of null vectors is known to a rounding error times their condition.
_LARGEST = 100
#: Elements of null vectors that are rounding errors of R; without these, vectors are sparse.
_ROUNDING = 2 * EPSILON
#: Seconds that `lstsq` takes, for an entry of R, and for each product of two of a row; and those of
#: a step of SciPy's lsmr, for an entry of B; steps to ten digits, times the least singular value.
#: Quotients of both times, on 12 problems of 300 to 12,000 rows: 0.3 to 1.5 times those measured,
#: on another whose fronts are dense 5, on one of half the rank 0.05.
_OURS, _LSMR, _LSMR_STEPS = (2e-3, 2e-7, 9e-10), (60e-6, 3e-9), 12
#: Entries of null vectors up to which these are factorised by LAPACK.
_DENSE_ENTRIES = 1 << 20


class OrthogonalFactors:
    """R of a matrix B given by rows, and Q^H applied to right-hand sides, shape (rows, k)."""

    # The largest entry of each column is about 1: `scaled_columns`.
    def __init__(self, B: Any, right: Array, rcond: float, is_basic: bool = False) -> None:
        self._given, self._n_columns = B, B.shape[1]
        self._rows, right = cut_dense_rows(B, right)
        (m, n), values, indices = self._rows.shape, self._rows.data, self._rows.indices
        norms = norms_of_columns(self._rows)
        self._largest = norms.max(initial=0)
        self._least = rcond * self._largest
        self._ops = operations(QrOps, "numpy")
        graph = BipartiteCSR(m, n, self._rows.indptr, indices, "numpy")
        factorise = partial(self._ops.factorise, graph, values)
        tolerance, last = rcond * norms, np.zeros(n, bool)
        #: Whether R1 has no tiny singular value, and B maps the null vectors to as good as nothing.
        self.is_settled, may_exchange, better_last = False, True, last
        for _ in range(_ROUNDS):
            self.is_settled = False
            self._again = partial(factorise, tolerance=tolerance, last=last)
            self._split(self._again(right))
            decided, decreed = tolerance.copy(), np.isinf(tolerance[self.dead])
            if (dependent := self._dependent()).size:
                decided[dependent] = decided[self._depend_on(dependent)] = np.inf
            elif decreed.any() and (wrong := self._wrongly_dead(decreed))[0].size:
                decided[wrong[0]] = wrong[1]
                if not may_exchange:  # else the selection before the exchange would come back
                    better_last = last
            else:
                self.is_settled = True
                can_exchange = may_exchange and self.dead.size
                if not can_exchange or not (better := self._better_dead(is_basic)).size:
                    break
                may_exchange, decided = False, rcond * norms
                decided[better] = np.inf
            tolerance, last = decided, np.isinf(decided) | better_last

    def _split(self, found: UpperTrapezoid) -> None:
        columns, start, values = found.columns, found.start, found.values
        # columns with a row of R, in its order, and the others
        self._live = columns[start[:-1]]
        place = np.full(self._rows.shape[1], -1, columns.dtype)
        place[self._live] = np.arange(self._live.size)
        #: The columns that depend on others, ascending.
        self.dead = np.flatnonzero(place < 0)
        self._lengths, where, beside = start[1:] - start[:-1], place[columns], columns[:0]
        if self.dead.size:
            is_live = where >= 0
            beside = np.flatnonzero(~is_live)  # entries of R2
            where, values = where[is_live], values[is_live]
        before = beside.searchsorted(start)
        indptr = (start - before).astype(place.dtype)
        self._upper = (indptr.size - 1, indptr, where), values
        of, shape = self.dead.searchsorted(columns[beside]), (self._live.size, self.dead.size)
        self._beside = compressed_matrix("csr", shape, before, of, found.values[beside])
        # R1^-1 is entrywise at most the inverse of what has -|r| beside |r| on the diagonal:
        # Higham, A survey of condition number estimation for triangular matrices (SIAM Review 29,
        # 1987). So these bound its n row sums, and the 2-norm is at most sqrt(n) times the largest.
        sums, least = np.ones(self._live.size), -np.abs(values)
        least[indptr[:-1]] *= -1
        self._ops.solve_upper(self._upper[0], least, sums, 1, False)
        self._inverse = sums.size**0.5 * sums.max(initial=0)
        self.top = found.top  #: Q^H applied to the right-hand sides.

    @lazy_attribute
    def smallest(self) -> FloatArray:
        """The smallest singular values of R1, of the largest norm of a column, ascending."""
        if not (width := min(_VECTORS, self._live.size)):
            return np.full(1, np.inf)
        try:
            return 1 / (self._iterated(width).inverse * self._largest)
        except NotFinite:
            return np.zeros(1)

    @property
    def rank(self) -> int:
        """The numerical rank of B."""
        return self._live.size - (self._rows.shape[1] - self._n_columns)

    def seconds(self) -> tuple[float, float]:
        """Predict how long this takes with its solutions, and SciPy's lsmr; 0 if not much less."""
        entries, squares = float(self._lengths.sum()), float(self._lengths @ self._lengths)
        ours = _OURS[0] + _OURS[1] * entries + _OURS[2] * squares
        # where no singular value is small
        lsmr = _LSMR_STEPS * (_LSMR[0] + _LSMR[1] * self._rows.nnz)
        if ours < WORTH_SAYING * lsmr:
            return 0.0, 0.0
        # those of R1 and of B lie between each other
        return ours, float(lsmr / self.smallest[: self.dead.size + 1][-1])

    def apply_adjoint(self, y: Array) -> Array:
        """Return Q^H y to a rounding error of y, by another factorisation."""
        # R^-H makes it of B^H y with a rounding error times the condition.
        found = self._again(cut_dense_rows(self._given, y)[1])
        if not np.array_equal(found.columns[found.start[:-1]], self._live):  # threads of a BLAS
            return self.to_rows(self._given.conj().T @ y)
        return found.top

    def to_rows(self, c: Array) -> Array:
        """Return R^-H c: of B^H r, what the range of B has of r, Q^H r."""
        out = np.zeros((self._rows.shape[1], c.shape[1]), self._rows.dtype)
        out[: self._n_columns] = c
        return self._solve(out[self._live], True)

    def to_columns(self, c: Array) -> Array:
        """Return R^-1 c: of Q^H b, the solution; elements of dead columns are zero."""
        out = np.zeros((self._rows.shape[1], c.shape[1]), self._rows.dtype)
        out[self._live] = self._solve(c, False)
        return out[: self._n_columns]

    def _solve(self, x: Array, adjoint: bool) -> Array:
        x = np.array(x, self._rows.dtype, order="C")  # solved in place
        self._ops.solve_upper(*self._upper, x.ravel(), x.shape[1], adjoint)
        return x

    def _iterated(self, width: int) -> SmallValues:
        start = np.random.default_rng(0).standard_normal((self._live.size, width))
        return iterate_inverse(self._solve, start.astype(self._rows.dtype), _STEPS)

    def _dependent(self) -> IndexArray:
        """Return columns with most part in the singular vectors of R1 with tiny values."""
        live, width = self._live, _VECTORS
        while not self._inverse * self._least < 1:  # which would prove that there are none
            width = min(width, live.size)
            try:
                found = self._iterated(width)
            except NotFinite as error:
                return live[[error.row]]
            tiny = found.inverse * self._least >= 1
            if not tiny.any():
                self.smallest = 1 / (found.inverse * self._largest)
                break
            if width == live.size or not tiny.all():
                return live[pivots(found.right[:, tiny].conj().T)[: np.count_nonzero(tiny)]]
            width *= 4
        return live[:0]

    def _depend_on(self, columns: IndexArray) -> IndexArray:
        """Return the dead columns whose null vectors have a part of these live ones."""
        units = (self._live[:, np.newaxis] == columns).astype(self._rows.dtype)
        with np.errstate(all="ignore"):
            parts = self._beside.conj().T @ self._solve(units, True)
        return self.dead[(parts != 0).any(axis=1)]

    def _wrongly_dead(self, decreed: BoolArray) -> tuple[IndexArray, FloatArray]:
        """Return dead columns that are so by decree only, with tolerances by which they are not."""
        # What is left of a column is a rounding error if it is one beside its null vector.
        null = self._null(self.dead[decreed], self._beside[:, decreed])
        size, left = norms_of_columns(null), norms_of_columns(self._rows @ null)
        wrong = ~(left <= 2 * np.sqrt(self._rows.shape[1]) * self._least * size)
        return self.dead[decreed][wrong], self._least * size[wrong]

    def _better_dead(self, is_basic: bool) -> IndexArray:
        """Return the columns that had better be dead, none if those that are may stay so."""
        # In place of those with large null vectors, as far as these are few, and, if dead columns
        # are to be zero, of added ones, which are not: columns with most part in their null
        # vectors, of which smaller elements decide nothing.
        null = self._null(self.dead, self._beside, HALF_OF_THE_DIGITS)[: self._n_columns]
        size = np.zeros(self.dead.size)
        np.maximum.at(size, null.indices, np.abs(null.data))
        few = np.argsort(-size, kind="stable")[: _DENSE_ENTRIES // max(1, self._n_columns)]
        is_poor = is_basic & (self.dead >= self._n_columns)
        is_poor[few] |= size[few] > _LARGEST
        if not is_poor.any():
            return self.dead[:0]
        largest = pivots(null[:, is_poor].toarray().conj().T)[: is_poor.sum()]
        return np.concatenate([self.dead[~is_poor], largest])

    def null_vectors(self, drop: float = _ROUNDING) -> Any:
        """Return a basis of what B maps to zero, sparse, shape (columns, columns - rank)."""
        # Elements up to `drop` are zero, beside the 1 of a dead column.
        return self._null(self.dead, self._beside, drop)[: self._n_columns]

    def _null(self, dead: IndexArray, beside: Any, drop: float = _ROUNDING) -> Any:
        live, ((n, indptr, indices), values) = self._live, self._upper
        upper = compressed_matrix("csr", (n, n), indptr, indices, values)
        above = self._ops.solve_upper_sparse(upper.tocsc(), -beside.tocsc(), drop)
        column = np.repeat(np.arange(dead.size), np.diff(above.indptr))
        rows = np.concatenate([live[above.indices], dead])
        cols = np.concatenate([column, np.arange(dead.size)])
        data = np.concatenate([above.data, np.ones(dead.size)])
        return sp.csr_array((data, (rows, cols)), (self._rows.shape[1], dead.size))


def norms_of_columns(B: Any) -> FloatArray:
    """Return the 2-norms of the columns of a matrix by rows."""
    return np.sqrt(np.bincount(B.indices, np.abs(B.data) ** 2, minlength=B.shape[1]))


class Complement:
    """Projects vectors onto the orthogonal complement of the columns of N, in units of its rows."""

    # N is sparse, by rows; their units are 2^-unit.
    def __init__(self, N: Any, unit: IndexArray) -> None:
        exponents = -np.repeat(unit, np.diff(N.indptr))
        largest = np.full(N.shape[1], np.iinfo(np.int32).min)
        np.maximum.at(largest, N.indices, exponents_of(N.data) + exponents)
        N.data = times_power(N.data, exponents - largest[N.indices])
        self._vectors = N
        if N.shape[0] * N.shape[1] <= _DENSE_ENTRIES:
            self._coefficients = _by_reflections(N.toarray())
        else:
            factors = OrthogonalFactors(N, np.empty((N.shape[0], 0), N.dtype), SINGULAR)
            adjoint = sp.csr_array(N.conj().T)
            self._coefficients = lambda x: factors.to_columns(factors.to_rows(adjoint @ x))

    def __call__(self, x: Array) -> Array:
        """Project; twice, since once leaves a rounding error times the condition of N."""
        for _ in range(2):
            x = x - self._vectors @ self._coefficients(x)
        return x


def _by_reflections(N: Array) -> Callable[[Array], Array]:
    """Return what finds the combination of the columns of a dense matrix that is nearest to `x`."""
    # With rows in descending order and pivots among the columns, errors are relative to each row,
    # which may differ by many orders: Cox, Higham, Stability of Householder QR factorization for
    # weighted least squares problems (Numerical Analysis 1997, Pitman 380).
    order, k = np.argsort(-np.abs(N).max(axis=1), kind="stable"), N.shape[1]
    how: dict[str, Any] = {"mode": "raw", "pivoting": True, "check_finite": False}
    reflections, r, places = interruptible(2.0 * N.size * k, linalg.qr, N[order], **how)
    name, side = ("unmqr", "C") if N.dtype.kind == "c" else ("ormqr", "T")
    (multiply,), (solve,) = get_lapack_funcs((name,), (N,)), get_blas_funcs(("trsm",), (N,))

    def coefficients(x: Array) -> Array:
        top = multiply("L", side, *reflections, x[order], _AT_ONCE * max(1, x.shape[1]))[0]
        found = np.empty((k, x.shape[1]), x.dtype)
        found[places] = solve(1, r[:k], top[:k])
        return found

    return coefficients
