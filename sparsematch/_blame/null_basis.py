"""A sparse basis of a null space: combinations of few rows that vanish.

A basis that is the identity on some rows, its pivots, consists of fundamental circuits: no member
of one can be spared (Coleman, Pothen, The null space problem I: complexity, SIAM J. Algebraic
Discrete Methods 7, 1986). Another pivot in a circuit leaves that circuit and changes the others;
pivots are exchanged as long as members become fewer. What contributes less than the tolerance is
then dropped, coefficients are computed for the members that are left, and every combination is
checked with the matrix itself.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._blame.null_space import NullSpace
from sparsematch._blame.singular_blocks import distinct, leading_rows
from sparsematch._numerics.foreign_calls import qr, svd
from sparsematch._numerics.scaling import exponents_of, times_power
from sparsematch._types.singularity import Dependence, ParallelPair

Values = NDArray[Any]

#: Coefficients below this share of the largest of a circuit do not count as members while pivots
#: are exchanged.
_ZERO = 1e-9
#: Share of the largest coefficient of a circuit that a pivot has at least.
_PIVOT = 0.01
#: Residuals above this are worth a correction, by one more solve.
_GOOD = 1e-12
#: Members up to which coefficients are computed again by a singular value decomposition.
_DENSE = 200
#: Entries of a dense matrix of members for that: 32 MB.
_DENSE_ENTRIES = 1 << 22
#: Members of a combination that somebody may read: larger ones are left as they are.
_READABLE = 1000
#: Coefficients of scaled rows below this share of the largest of a combination are rounding.
_ROUNDING = 1e-14
#: Coefficients that a large combination has many of.
_LARGE = 1e-3
#: Exchanges of pivots stop at this many numbers to look at: a second.
_MAX_WORK = 1 << 26
#: Pivots that are tried for a circuit.
_CANDIDATES = 32
#: Shares of the tolerance that members which are left out may cost, the next if one will not do.
_SHARES = 0.5, 0.01
#: Denominators of coefficients that are read easily.
_DENOMINATORS = np.arange(1, 13)


class Lines(NamedTuple):
    """A matrix whose rows are to be combined, or whose columns are, which are its rows then."""

    side: str
    scaled: Any  #: CSR: rows and columns scaled.
    factors: FloatArray  #: Those of the rows.


def sparse_basis(
    lines: Lines,
    space: NullSpace,
    tolerance: float,
    solve: Callable[[Values], Values] | None = None,
    others: IndexArray | None = None,
) -> list[Dependence]:
    """Return as many combinations as the null space has dimensions, those that fail left out.

    With `others` only the entries in these columns count, which are ascending. `solve` maps what is
    left of combinations to the change of coefficients that cancels it.
    """
    if not space.values.size:
        return []
    circuits, pivots = _short_circuits(space.basis)
    local = _LocalLines(lines, space.indices, tolerance, others)
    if solve is not None and max(map(local.residual, circuits.T)) > _GOOD:
        better = circuits - _correction(lines, space.indices, circuits, solve, others)
        for one, other in zip(circuits.T, better.T, strict=True):
            if local.residual(other) < local.residual(one):
                one[:] = other
    circuits[pivots] = np.diag(circuits[pivots].diagonal())  # so no two can become the same
    found = (local.name(*pair) for pair in zip(circuits.T, pivots.tolist(), strict=True))
    return [dependence for dependence in found if dependence is not None]


def of_pair(lines: Lines, pair: ParallelPair, tolerance: float) -> Dependence | None:
    """Return two rows that are multiples of each other; None if the difference is too large."""
    indices = np.array([pair.first, pair.second], np.intp)
    local = _LocalLines(lines, indices, tolerance, None)
    vector = in_units(np.array([pair.factor, -1.0]), 1 / lines.factors[indices])
    return local.name(vector.astype(lines.scaled.dtype), 1)


def _correction(
    lines: Lines,
    indices: IndexArray,
    circuits: Values,
    solve: Callable[[Values], Values],
    others: IndexArray | None,
) -> Values:
    """Return what is to be subtracted so that every column vanishes beside its own terms."""
    changes = np.empty_like(circuits)
    whole = np.zeros((lines.scaled.shape[0], 1), circuits.dtype)
    for k in range(circuits.shape[1]):
        whole[indices, 0] = circuits[:, k]
        left = lines.scaled.T @ whole
        if others is not None:
            inside = np.zeros_like(left)
            inside[others] = left[others]
            left = inside
        changes[:, k] = solve(left)[indices, 0]
    return changes


def _short_circuits(basis: Values) -> tuple[Values, IndexArray]:
    """Return the basis that is the identity on its pivots, these chosen for few members."""
    pivots = leading_rows(basis)
    circuits = _circuits(basis, pivots)
    if pivots.size > 1:
        rows = _telling_rows(circuits, pivots)
        place = _exchange_pivots(circuits[rows], np.searchsorted(rows, pivots))
        if not np.array_equal(rows[place], pivots):
            pivots = rows[place]
            circuits = _circuits(basis, pivots)
    return circuits, pivots


def _circuits(basis: Values, pivots: IndexArray) -> Values:
    return np.linalg.solve(basis[pivots].T, basis.T).T


def _telling_rows(circuits: Values, pivots: IndexArray) -> IndexArray:
    """Return the rows of the short circuits and some of the others, ascending."""
    members = _members(circuits)
    short: NDArray[np.bool_] = np.any(members[:, members.sum(axis=0) <= _READABLE], axis=1)
    short[pivots] = True
    n = short.size
    short[np.random.default_rng(0).choice(n, min(n, _READABLE), replace=False)] = True
    return np.flatnonzero(short)


def _members(circuits: Values) -> NDArray[np.bool_]:
    size = np.abs(circuits)
    return size > _ZERO * size.max(axis=0)


def _exchange_pivots(circuits: Values, pivots: IndexArray) -> IndexArray:
    """Exchange pivots as long as the circuits have fewer members after it."""
    pivots, work, improved = pivots.copy(), 0, True
    while improved:
        improved = False
        for k in np.argsort(_members(circuits).sum(axis=0)).tolist():
            if work > _MAX_WORK:
                return pivots
            better, row, tried = _best_pivot(circuits, k)
            work += (1 + tried) * circuits.size
            if row >= 0:
                circuits, pivots[k], improved = better, row, True
    return pivots


def _best_pivot(circuits: Values, k: int) -> tuple[Values, int, int]:
    """Return the circuits with the best other pivot of circuit k, that pivot, and all trials.

    It is -1 if none makes them shorter. What most rows of the circuit have in common cancels most.
    """
    own = circuits[:, k]
    others = np.delete(np.arange(circuits.shape[1]), k)
    best, shortest, pivot, tried = _members(circuits).sum(), circuits, -1, 0
    rows = np.flatnonzero(np.abs(own) > _PIVOT * np.abs(own).max())
    ratios = circuits[np.ix_(rows, others)] / own[rows, np.newaxis]
    ratios[np.abs(ratios) < _ZERO] = 0
    digits = np.round(ratios.view(float) * 1e6)
    _, first, count = np.unique(digits, axis=0, return_index=True, return_counts=True)
    for place in first[np.argsort(-count, kind="stable")][:_CANDIDATES].tolist():
        if not ratios[place].any():
            continue
        tried += 1
        trial = circuits.copy()
        trial[:, others] -= np.outer(own, ratios[place])
        if (members := _members(trial).sum()) < best:
            best, shortest, pivot = members, trial, int(rows[place])
    return shortest, pivot, tried


class _LocalLines:
    """The rows on which a null space is, and the columns that they have entries in."""

    def __init__(
        self, lines: Lines, indices: IndexArray, tolerance: float, others: IndexArray | None
    ) -> None:
        self._side, self._indices, self._tolerance = lines.side, indices, tolerance
        self._factors = lines.factors[indices]
        self._scaled = _rows(lines.scaled, indices, others)
        self._transposed, self._largest = self._scaled.T, _largest_by_row(self._scaled)

    def name(self, vector: Values, pivot: int) -> Dependence | None:
        """Return a combination of as few rows as the tolerance allows, the pivot among them.

        One of many rows is left as it is but for rounding, and so is one that would hardly be
        shorter for a larger residual. None if that is above the tolerance.
        """
        size = np.abs(vector)
        cut = np.where(size > _ROUNDING * size.max(), vector, 0)
        cut[pivot] = vector[pivot]
        shares = _SHARES if (size > _LARGE * size.max()).sum() <= _READABLE else ()
        shorter = (self._shorten(cut, pivot, share * self._tolerance) for share in shares)
        best: Dependence | None = None
        for one in chain(shorter, [cut, vector]):
            keeps_pivot = np.abs(one[pivot]) > _ZERO * np.abs(one).max()
            if not keeps_pivot or (found := self._checked(one)) is None:
                continue
            if best is None or (found.residual < best.residual and found.size <= 1.25 * best.size):
                best = found
            if best.residual <= _GOOD:
                break
        return best

    def _shorten(self, vector: Values, pivot: int, goal: float) -> Values:
        size = np.abs(vector)
        size[pivot] = np.inf
        order = np.argsort(-size, kind="stable")
        order = order[vector[order] != 0]
        goal = min(self._tolerance, max(goal, 2 * self.residual(vector)))
        low, high = 0, order.size  # members that are too few, and enough
        while high - low > 1 + high // 1000:
            middle = (low + high) // 2
            if self.residual(_on(order[:middle], vector)) <= goal:
                high = middle
            else:
                low = middle
        return self._polish(self._refit(order[:high], _on(order[:high], vector), goal))

    def residual(self, vector: Values) -> float:
        """Return the largest entry of a combination over the largest of its terms."""
        term = float((np.abs(vector) * self._largest).max())
        left = float(np.abs(self._transposed @ vector).max())
        return left / term if term > 0 else np.inf

    def _refit(self, order: IndexArray, vector: Values, goal: float) -> Values:
        """Return a combination of the fewest first members that will do, with new coefficients.

        Twice as many are tried each time, up to where dense matrices are too large.
        """
        count = 1
        while count < order.size and count < _DENSE:
            count = min(2 * count, order.size, _DENSE)
            r = self._triangle(order[:count])
            if r is None:
                return vector
            best = _least(r, order[:count], vector)[0]
            if count == order.size:
                best = self._better(vector, best)
            if self.residual(best) <= goal:
                return self._spare(r, order[:count], best, goal)
        return vector

    def _triangle(self, members: IndexArray) -> Values | None:
        """Return R of the transposed rows: as long as these are, combined; None if too large."""
        rows = _used_columns(self._scaled[members])
        if rows.shape[0] * rows.shape[1] > _DENSE_ENTRIES:
            return None
        return _triangle(rows.toarray())

    def _spare(self, r: Values, order: IndexArray, best: Values, goal: float) -> Values:
        """Return the combination without members at the end, then without any to be spared."""
        low, high = order.size // 2, order.size
        while high - low > 1:
            middle = (low + high) // 2
            trial = _least(r[:middle, :middle], order[:middle], best)[0]
            if self.residual(trial) <= goal:
                best, high = trial, middle
            else:
                low = middle
        members, kept = order[:high], np.arange(high)
        _, second = _least(r[:, kept], members, best)
        # Without member i no combination has less than its share of the second singular value.
        size = np.abs(best[members]) / np.linalg.norm(best)
        for i in kept[np.argsort(size)][: int((size * second <= 10 * goal).sum())].tolist():
            rest = kept[kept != i]
            if i == 0:  # the pivot
                continue
            trial = _least(r[:, rest], order[rest], best)[0]
            if self.residual(trial) <= goal:
                best, kept = trial, rest
        return best

    def _polish(self, vector: Values) -> Values:
        """Compute coefficients in units of their contributions: small ones are right, too."""
        members = np.flatnonzero(vector)
        rows = _used_columns(self._scaled[members])
        if members.size > _DENSE or rows.shape[0] * rows.shape[1] > _DENSE_ENTRIES:
            return vector
        terms = rows.toarray() * vector[members, np.newaxis]
        largest = np.abs(terms).max(axis=0)
        terms /= np.where(largest > 0, largest, 1)
        factors = _least(_triangle(terms), np.arange(members.size), vector[members])
        polished = vector.copy()
        polished[members] *= factors[0]
        return self._better(vector, polished)

    def _better(self, vector: Values, other: Values) -> Values:
        return other if self.residual(other) < self.residual(vector) else vector

    def _checked(self, vector: Values) -> Dependence | None:
        members = np.flatnonzero(vector)
        members = members[np.argsort(self._indices[members])]
        rows, factors = self._scaled[members], self._factors[members]
        size = np.abs(coefficients := in_units(vector[members], factors))
        coefficients = coefficients / coefficients[(size > (1 - 1e-9) * size.max()).argmax()]
        left, simple = np.inf, _simplified(coefficients)
        for each in (coefficients, simple):
            if (new := residual(rows, in_units(each, 1 / factors))) <= max(left, 1e-15):
                coefficients, left = each, new
        if not left <= self._tolerance:
            return None
        return Dependence(self._side, self._indices[members], coefficients, left)


def in_units(coefficients: Values, factors: FloatArray) -> Values:
    """Return coefficients in the units of rows that have these factors, the largest 1.

    Factors are powers of two up to 2**1000, either way: by half of them at a time, nothing that
    counts leaves the range of doubles.
    """
    own = exponents_of(coefficients)
    exponents = np.log2(factors).astype(int) + own
    exponents -= exponents[coefficients != 0].max(initial=-5000)
    return times_power(times_power(coefficients, -own), exponents)


def residual(rows: Any, coefficients: Values) -> float:
    """Return the largest entry of a combination of CSR rows over the largest of its terms."""
    terms = rows.data * np.repeat(coefficients, np.diff(rows.indptr))
    largest = float(np.abs(terms).max(initial=0))
    combined = csr_array((terms, rows.indices, rows.indptr), shape=rows.shape).sum(axis=0)
    return float(np.abs(combined).max()) / largest if largest > 0 else np.inf


def _rows(matrix: Any, indices: IndexArray, others: IndexArray | None) -> Any:
    """Return rows of a CSR matrix without the columns that have no entries."""
    rows = matrix[indices]
    if others is not None:
        place = np.minimum(np.searchsorted(others, rows.indices), others.size - 1)
        keep = others[place] == rows.indices
        indptr = np.concatenate([[0], np.cumsum(keep)])[rows.indptr]
        rows = csr_array((rows.data[keep], rows.indices[keep], indptr), shape=rows.shape)
    return _used_columns(rows)


def _used_columns(rows: Any) -> Any:
    used = distinct(rows.indices, rows.shape[1])
    if rows.indices.size < rows.shape[1] // 16:
        indices = np.searchsorted(used, rows.indices)
    else:
        place = np.empty(rows.shape[1], np.intp)
        place[used] = np.arange(used.size)
        indices = place[rows.indices]
    return csr_array((rows.data, indices, rows.indptr), shape=(rows.shape[0], used.size))


def _largest_by_row(matrix: Any) -> FloatArray:
    largest = np.zeros(matrix.shape[0])
    filled = np.flatnonzero(np.diff(matrix.indptr))
    largest[filled] = np.maximum.reduceat(np.abs(matrix.data), matrix.indptr[filled])
    return largest


def _on(members: IndexArray, vector: Values) -> Values:
    """Return a vector with zeros elsewhere."""
    kept = np.zeros_like(vector)
    kept[members] = vector[members]
    return kept


def _triangle(rows: Values) -> Values:
    return np.asarray(qr(rows.T, mode="r"))


def _least(r: Values, members: IndexArray, like: Values) -> tuple[Values, float]:
    """Return the coefficients of the members that combine to least, and the second least value."""
    values, vh = svd(r, full_matrices=False)[1:]
    best = np.zeros_like(like)
    if r.shape[0] < r.shape[1]:  # more members than columns: some combination vanishes
        vh = svd(r)[2]
        values = np.append(values, np.zeros(r.shape[1] - values.size))
    best[members] = vh[-1].conj()
    return best, float(values[-2]) if values.size > 1 else np.inf


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
