"""A sparse basis of a null space: combinations of few rows that vanish.

A basis that is the identity on some rows, its pivots, consists of fundamental circuits: no member
of one can be spared (Coleman, Pothen, The null space problem I: complexity, SIAM J. Algebraic
Discrete Methods 7, 1986). Another pivot in a circuit leaves that circuit and changes the others;
pivots are exchanged as long as members become fewer. What contributes less than the tolerance is
then dropped, coefficients are computed for the members that are left, and every combination is
checked with the matrix itself.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.sparse import csr_array

from sparsematch._types.arrays import FloatArray, IndexArray
from sparsematch._types.singularity import Dependence
from sparsematch.solvers._null_space import NullSpace

Values = NDArray[Any]

#: Coefficients below this share of the largest of a circuit do not count as members while pivots
#: are exchanged.
_ZERO = 1e-9
#: Members up to which coefficients are computed again by a singular value decomposition.
_DENSE = 200
#: Entries of a dense matrix of members for that: 32 MB.
_DENSE_ENTRIES = 1 << 22
#: Exchanges of pivots stop at this many numbers to look at: some seconds.
_MAX_WORK = 1 << 28
#: Denominators of coefficients that are read easily.
_DENOMINATORS = np.arange(1, 13)


class Lines(NamedTuple):
    """A matrix whose rows are to be combined, or whose columns are, which are its rows then."""

    side: str
    scaled: Any  #: CSR: rows and columns scaled.
    given: Any  #: CSR: the user's rows, columns in units of their largest entry.
    factors: FloatArray  #: Those of the rows that are scaled.


def sparse_basis(lines: Lines, space: NullSpace, tolerance: float) -> list[Dependence]:
    """Return as many combinations as the null space has dimensions, those that fail left out."""
    if not space.values.size:
        return []
    found = []
    circuits = _exchange_pivots(_circuits(space.basis))
    local = _LocalLines(lines, space.indices, tolerance)
    for vector in circuits.T:
        dependence = local.shorten(vector)
        if dependence is not None:
            found.append(dependence)
    return found


def residual(lines: Any, indices: IndexArray, coefficients: Values) -> float:
    """Return the largest entry of a combination of rows over the largest of its terms."""
    terms = lines[indices].T.multiply(coefficients).tocsr()
    largest = float(np.abs(terms.data).max(initial=0))
    return float(np.abs(terms.sum(axis=1)).max()) / largest if largest > 0 else np.inf


def _circuits(basis: Values) -> Values:
    """Return the basis that is the identity on as many rows as there are vectors."""
    pivots = qr(basis.conj().T, mode="r", pivoting=True)[1][: basis.shape[1]]
    return np.linalg.solve(basis[pivots].T, basis.T).T


def _members(circuits: Values) -> NDArray[np.bool_]:
    size = np.abs(circuits)
    return size > _ZERO * size.max(axis=0)


def _exchange_pivots(circuits: Values) -> Values:
    """Exchange pivots as long as the circuits have fewer members after it."""
    d = circuits.shape[1]
    if d == 1:
        return circuits
    work, improved = 0, True
    while improved:
        improved = False
        for k in np.argsort(_members(circuits).sum(axis=0)).tolist():
            work += circuits.size * d
            if work > _MAX_WORK:
                return circuits
            better = _best_pivot(circuits, k)
            if better is not None:
                circuits, improved = better, True
    return circuits


def _best_pivot(circuits: Values, k: int) -> Values | None:
    """Return the circuits after the best exchange of the pivot of circuit k, if that is shorter."""
    own = circuits[:, k]
    others = np.delete(np.arange(circuits.shape[1]), k)
    best, shorter = _members(circuits).sum(), None
    rows = np.flatnonzero(np.abs(own) > 1e-3 * np.abs(own).max())
    ratios = circuits[np.ix_(rows, others)] / own[rows, np.newaxis]
    ratios[np.abs(ratios) < _ZERO] = 0
    digits = np.round(ratios.view(float) * 1e6)
    for row in np.unique(digits, axis=0, return_index=True)[1].tolist():
        if not ratios[row].any():
            continue
        trial = circuits.copy()
        trial[:, others] -= np.outer(own, ratios[row])
        if (count := _members(trial).sum()) < best:
            best, shorter = count, trial
    return shorter


class _LocalLines:
    """The rows on which a null space is, and the columns that they have entries in."""

    def __init__(self, lines: Lines, indices: IndexArray, tolerance: float) -> None:
        self._lines, self._indices, self._tolerance = lines, indices, tolerance
        self._scaled = _used_columns(lines.scaled[indices])
        # The same combination in the user's units has the coefficients of the scaled rows.
        given = lines.given[indices]
        given.data *= np.repeat(lines.factors[indices], np.diff(given.indptr))
        self._given = _used_columns(given)
        self._largest = [_largest_by_row(m) for m in (self._scaled, self._given)]

    def shorten(self, vector: Values) -> Dependence | None:
        """Return a combination of fewer rows, checked; None if it does not vanish."""
        size = np.abs(vector)
        order = np.argsort(-size, kind="stable")
        order = order[size[order] > 0]
        goal = self._goal(vector)
        low, high = 0, order.size  # members that are too few, and enough
        while high - low > 1:
            middle = (low + high) // 2
            if self._residual(self._refit(vector, order[:middle])) <= goal:
                high = middle
            else:
                low = middle
        members = order[:high]
        vector = self._refit(vector, members)
        vector = self._drop_members(vector, goal)
        return self._name(vector)

    def _goal(self, vector: Values) -> float:
        return min(self._tolerance, max(0.1 * self._tolerance, 2 * self._residual(vector)))

    def _residual(self, vector: Values) -> float:
        """Return the larger of the residuals scaled and in the user's units."""
        worst, size = 0.0, np.abs(vector)
        for matrix, largest in zip((self._scaled, self._given), self._largest, strict=True):
            term = float((size * largest).max(initial=0))
            left = float(np.abs(matrix.T @ vector).max(initial=0))
            worst = max(worst, left / term if term > 0 else np.inf)
        return worst

    def _refit(self, vector: Values, members: IndexArray) -> Values:
        """Return the best coefficients of some rows, computed again if they are few."""
        kept = np.zeros_like(vector)
        kept[members] = vector[members]
        rows = _used_columns(self._scaled[members])
        if not 0 < members.size <= _DENSE or rows.shape[0] * rows.shape[1] > _DENSE_ENTRIES:
            return kept
        if self._residual(kept) <= 1e-15:
            return kept
        fitted = np.zeros_like(vector)
        fitted[members] = np.linalg.svd(rows.toarray())[0][:, -1].conj()
        return fitted if self._residual(fitted) < self._residual(kept) else kept

    def _drop_members(self, vector: Values, goal: float) -> Values:
        """Return the combination without the members that can be spared one by one."""
        members = np.flatnonzero(vector)
        if members.size > _DENSE:
            return vector
        for i in members[np.argsort(np.abs(vector[members]))].tolist():
            rest = np.flatnonzero(vector)
            rest = rest[rest != i]
            shorter = self._refit(vector, rest)
            if rest.size == 0 or self._residual(shorter) > goal:
                break
            vector = shorter
        return vector

    def _name(self, vector: Values) -> Dependence | None:
        members = np.flatnonzero(vector)
        indices = self._indices[members]
        order = np.argsort(indices)
        members, indices = members[order], indices[order]
        coefficients = vector[members]
        factors = self._lines.factors[indices]
        coefficients = coefficients * (factors / factors.max())
        size = np.abs(coefficients)
        coefficients = coefficients / coefficients[(size > (1 - 1e-9) * size.max()).argmax()]
        given = self._lines.given
        left = residual(given, indices, coefficients)
        simple = _simplified(coefficients)
        if (of_simple := residual(given, indices, simple)) <= max(left, 1e-15):
            coefficients, left = simple, of_simple
        if not left <= self._tolerance:
            return None
        return Dependence(self._lines.side, indices, coefficients, left)


def _used_columns(rows: Any) -> Any:
    """Return a CSR matrix without the columns that have no entries."""
    used, indices = np.unique(rows.indices, return_inverse=True)
    return csr_array((rows.data, indices, rows.indptr), shape=(rows.shape[0], used.size))


def _largest_by_row(matrix: Any) -> FloatArray:
    return np.maximum.reduceat(np.abs(matrix.data), matrix.indptr[:-1])


def _simplified(coefficients: Values) -> Values:
    """Return fractions with small denominators where coefficients are near them."""
    parts = np.ascontiguousarray(coefficients).view(float)
    multiples = parts[:, np.newaxis] * _DENOMINATORS
    off = np.abs(multiples - np.round(multiples)) / _DENOMINATORS
    best = off.argmin(axis=1)
    at = np.arange(parts.size)
    simple = np.round(multiples[at, best]) / _DENOMINATORS[best]
    near = (off[at, best] <= 1e-9) & ((simple != 0) | (parts == 0))
    return np.where(near, simple, parts).view(coefficients.dtype)
