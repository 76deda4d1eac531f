"""A sparse basis of a null space: combinations of few rows that vanish.

A basis that is the identity on some rows, its pivots, consists of fundamental circuits: no member
of one can be spared (Coleman, Pothen, The null space problem I: complexity, SIAM J. Algebraic
Discrete Methods 7, 1986). Another pivot in a circuit leaves that circuit and changes the others;
pivots are exchanged as long as members become fewer. Members that rounding or noise brings in are
then dropped, by least squares, coefficients computed for those that are left, and every combination
is judged with the matrix itself, in long double and in two systems of units: one is named only if
it vanishes in both.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._base.tolerances import GOOD_ERROR, TINY, UNSTABLE
from sparsematch._blame.null_space import NullSpace
from sparsematch._blame.singular_blocks import distinct, leading_rows
from sparsematch._numerics.foreign_calls import DENSE_ENTRIES, qr
from sparsematch._numerics.scaling import exponents_of, times_power
from sparsematch._types.singularity import Dependence

Values = NDArray[Any]

#: Coefficients below this share of the largest of a circuit do not count as members while pivots
#: are exchanged.
_ZERO = 1e-9
#: Share of the largest coefficient of a circuit that a pivot has at least.
_PIVOT = 0.01
#: Corrections of a residual, by one more solve each, at most.
_CORRECTIONS = 3
#: Members up to which coefficients are computed again by dense least squares.
_DENSE = 200
#: Members up to which pivots are exchanged for a circuit.
_READABLE = 1000
#: A residual that no more members make smaller.
_ROUNDING = 1e-14
#: Share of the tolerance that noise may leave, and by how much more members must reduce more.
_NOISE, _MUCH = 0.1, 100
#: Share of a member's terms that an undetermined coefficient costs.
_SMALL = 1e-15
#: Coefficients that a large combination has many of.
_LARGE = 1e-3
#: Exchanges of pivots stop at this many numbers to look at: a second.
_MAX_WORK = 1 << 26
#: Pivots that are tried for a circuit.
_CANDIDATES = 32
#: Of singular values: a gap after which the larger ones may not be those of combinations that
#: vanish, and what counts as zero.
_GAP, _GAP_FLOOR = 100, 1e-16
#: Denominators of coefficients that are read easily.
_DENOMINATORS = np.arange(1, 13)
#: How near to such a fraction coefficients are made it, if the residual is no larger.
_NEAR = 1e-9, 1e-5, 1e-3


class Lines(NamedTuple):
    """A matrix whose rows are to be combined, or whose columns are, which are its rows then."""

    side: str
    scaled: Any  #: CSR: rows and columns scaled.
    factors: FloatArray  #: Those of the rows.
    units: tuple[IndexArray, ...]  #: Powers of two that columns are multiplied by, to be judged.


def sparse_basis(
    lines: Lines, space: NullSpace, tolerance: float, others: IndexArray | None = None
) -> list[Dependence]:
    """Return as many combinations as the null space has dimensions, those that fail left out.

    With `others` only the entries in these columns count, which are ascending. Of a null space that
    is none in all units, the part before a gap of its singular values may be one.
    """
    local = _LocalLines(lines, space.indices, tolerance, others)
    best: list[Dependence] = []
    count = space.values.size
    while count:
        found = _named(lines, space.first(count), local)
        best = max(best, found, key=len)
        if len(best) >= count:
            break
        count = before_gap(space.values[:count])
    return best


def before_gap(values: FloatArray) -> int:
    """Return how many values are before the widest gap; 0 if none is wide."""
    ratios = values[1:] / np.maximum(values[:-1], _GAP_FLOOR)
    if not ratios.size or ratios.max() < _GAP:
        return 0
    return int(ratios.argmax()) + 1


def _named(lines: Lines, space: NullSpace, local: "_LocalLines") -> list[Dependence]:
    circuits, pivots, shorter = _short_circuits(space.basis)
    if space.cancel is not None:
        for circuit in (*circuits.T, *shorter.T):
            _correct(lines, space, local, circuit)
    circuits[pivots] = np.diag(circuits[pivots].diagonal())  # so no two can become the same
    named = [local.name(*pair) for pair in zip(circuits.T, pivots.tolist(), strict=True)]
    found = [dependence for dependence in named if dependence is not None]
    if not shorter.shape[1] or len(found) < pivots.size:
        return found
    found += [one for each in shorter.T if (one := local.name(each, int(np.abs(each).argmax())))]
    found.sort(key=lambda one: one.size)
    # the named ones on the pivots, which tell whether they are independent
    places = [np.searchsorted(one.indices, space.indices[pivots]) for one in found]
    coordinates = np.zeros((pivots.size, len(found)), circuits.dtype)
    for column, one, place in zip(coordinates.T, found, places, strict=True):
        has = one.indices[np.minimum(place, one.size - 1)] == space.indices[pivots]
        scaled = in_units(one.coefficients, 1 / lines.factors[one.indices])
        column[has] = scaled[place[has]]
    return [found[k] for k in _first_independent(coordinates)]


def _first_independent(vectors: Values) -> list[int]:
    """Return the first columns that are independent of those before, by a clear margin."""
    basis, chosen = np.empty((vectors.shape[0], 0), vectors.dtype), []
    for k, vector in enumerate(vectors.T):
        left = vector - basis @ (basis.conj().T @ vector)
        if (size := np.linalg.norm(left)) > _PIVOT * np.linalg.norm(vector):
            basis = np.column_stack([basis, left / size])
            chosen.append(k)
        if len(chosen) == vectors.shape[0]:
            break
    return chosen


def _correct(lines: Lines, space: NullSpace, local: "_LocalLines", circuit: Values) -> None:
    """Subtract from a circuit what makes it vanish, as long as less is left each time."""
    assert space.cancel is not None
    residual = local.residual(circuit)
    for _ in range(_CORRECTIONS):
        if residual <= UNSTABLE:
            break
        whole = np.zeros((lines.scaled.shape[0], 1), circuit.dtype)
        whole[space.indices, 0] = circuit
        better = circuit - space.cancel(lines.scaled.T @ whole)[:, 0]
        if not (left := local.residual(better)) < residual:
            break
        circuit[:], residual = better, left


def _short_circuits(basis: Values) -> tuple[Values, IndexArray, Values]:
    """Return the basis that is the identity on its pivots, these chosen for few members.

    And shorter circuits, where independent ones of fewer members were met that share no pivots:
    shifts of all points by x and by y, beside rotations.
    """
    pivots = leading_rows(basis)
    circuits = _circuits(basis, pivots)
    if pivots.size <= 1:
        return circuits, pivots, circuits[:, :0]
    rows = _telling_rows(circuits, pivots)
    at = np.searchsorted(rows, pivots)
    place, met = _exchange_pivots(circuits[rows], at)
    shorter = circuits @ _shortest(met, circuits[rows], at, place)
    if not np.array_equal(rows[place], pivots):
        pivots = rows[place]
        circuits = _circuits(basis, pivots)
    return circuits, pivots, shorter


def _shortest(met: list[Values], circuits: Values, at: IndexArray, place: IndexArray) -> Values:
    """Return combinations of circuits that are shorter than some of those with the best pivots."""
    best = _circuits(circuits, place)
    sizes = np.concatenate([_members(best).sum(axis=0), *(each[0].real for each in met)])
    vectors = np.column_stack([best[at], *(each[1:] for each in met)])
    order = np.argsort(sizes, kind="stable")[: _CANDIDATES * at.size]
    vectors = vectors[:, order] / np.abs(vectors[:, order]).max(axis=0)
    chosen = np.array(_first_independent(vectors), np.intp)
    return vectors[:, chosen[order[chosen] >= at.size]]


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


def _exchange_pivots(circuits: Values, pivots: IndexArray) -> tuple[IndexArray, list[Values]]:
    """Exchange pivots as long as the circuits have fewer members after it.

    Also return what was met and shorter than before: their members, and what they are on the first
    pivots.
    """
    first, met = pivots, list[Values]()
    pivots, work, improved = pivots.copy(), 0, True
    while improved:
        improved = False
        for k in np.argsort(_members(circuits).sum(axis=0)).tolist():
            if work > _MAX_WORK:
                return pivots, met
            better, row, tried, short = _best_pivot(circuits, k)
            met += [np.vstack([_members(each).sum(axis=0), each[first]]) for each in short]
            work += (1 + tried) * circuits.size
            if row >= 0:
                circuits, pivots[k], improved = better, row, True
    return pivots, met


def _best_pivot(circuits: Values, k: int) -> tuple[Values, int, int, list[Values]]:
    """Return the circuits with the best other pivot of circuit k, that pivot, and all trials.

    It is -1 if none makes them shorter. What most rows of the circuit have in common cancels most.
    Last come the circuits that any trial makes shorter.
    """
    own = circuits[:, k]
    others = np.delete(np.arange(circuits.shape[1]), k)
    sizes = _members(circuits).sum(axis=0)
    best, shortest, pivot, tried, short = sizes.sum(), circuits, -1, 0, []
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
        if ((members := _members(trial).sum(axis=0)) < sizes).any():
            short.append(trial[:, members < sizes])
        if members.sum() < best:
            best, shortest, pivot = members.sum(), trial, int(rows[place])
    return shortest, pivot, tried, short


class _LocalLines:
    """The rows on which a null space is, and the columns that they have entries in."""

    def __init__(
        self, lines: Lines, indices: IndexArray, tolerance: float, others: IndexArray | None
    ) -> None:
        self._side, self._indices, self._tolerance = lines.side, indices, tolerance
        self._factors = lines.factors[indices]
        self._scaled, used = _rows(lines.scaled, indices, others)
        self._units = [np.ldexp(1.0, system[used]) for system in lines.units]
        self._transposed, size = self._scaled.T, abs(self._scaled)
        self._largest = [_largest_by_row(size, units) for units in self._units]

    def residual(self, vector: Values) -> float:
        """Return the largest entry of a combination over the largest of its terms.

        In that system of units in which it is larger.
        """
        left, size, worst = np.abs(self._transposed @ vector), np.abs(vector), 0.0
        if not self._largest[0][vector != 0].any():
            return 0.0
        for units, largest in zip(self._units, self._largest, strict=True):
            term = float((size * largest).max())
            worst = max(worst, float((left * units).max(initial=0)) / term if term > 0 else np.inf)
        return worst if worst == worst else np.inf

    def name(self, vector: Values, pivot: int) -> Dependence | None:
        """Return a combination of few rows, the pivot among them; None if it does not vanish.

        Of few members, as far as these can be told from rounding, none can be spared. One of many
        is left as it is but for members that are rounding.
        """
        vector = vector / np.abs(vector).max()
        if not self._largest[0][vector != 0].any():  # a row without entries
            return self._checked(_on(np.array([pivot]), vector))
        shares = self._shares(vector)
        shares[pivot] = np.inf
        order = np.argsort(-shares, kind="stable")
        order = order[vector[order] != 0]
        fewest = self._fitted(vector, order, int((shares > _LARGE).sum()))
        if self.residual(fewest) > self._tolerance:
            fewest = self._shortened(vector, order)
        return self._checked(fewest)

    def _shares(self, vector: Values) -> FloatArray:
        """Return what each member contributes, of the largest contribution."""
        size = np.abs(vector)
        terms = [size * largest for largest in self._largest]
        shares: FloatArray = np.max([term / max(term.max(), TINY) for term in terms], axis=0)
        return shares

    def _shortened(self, vector: Values, order: IndexArray) -> Values:
        """Return a combination without the last members, which may be spared."""
        goal = max(UNSTABLE, 2 * self.residual(vector))
        low, high = 0, order.size  # members that are too few, and enough
        while high - low > 1 + high // 1000:
            middle = (low + high) // 2
            if self.residual(_on(order[:middle], vector)) <= goal:
                high = middle
            else:
                low = middle
        return _on(order[:high], vector)

    def _fitted(self, vector: Values, order: IndexArray, count: int) -> Values:
        """Return a combination of the fewest first members that will do, with new coefficients.

        More are tried, twice as many each time, up to where dense matrices are too large; they are
        members if they make the residual much smaller.
        """
        found, most = [], min(order.size, _DENSE)
        count = max(count, 2)
        while count // 2 < most:
            fit = _Fit.of(self, vector, order[: min(count, most)])
            if fit is None:
                break
            found.append((self.residual(one := fit.on(vector)), fit, one))
            if found[-1][0] <= _ROUNDING:
                break
            count *= 2
        if not found:
            return vector
        good = max(_NOISE * self._tolerance, _MUCH * min(residual for residual, *_ in found))
        residual, fit, one = next(each for each in found if each[0] <= good)
        if residual <= self._tolerance:
            shorter = fit.without_spare(max(UNSTABLE, 2 * residual)).on(vector)
            if self.residual(shorter) <= max(UNSTABLE, 4 * residual):
                return shorter
        return one

    def terms(self, vector: Values, members: IndexArray) -> Values | None:
        """Return the terms of members, dense, in the units in which they count most.

        None if they are too many.
        """
        rows, used = _used_columns(self._scaled[members])
        if rows.shape[0] * rows.shape[1] > DENSE_ENTRIES:
            return None
        size = np.abs(vector)
        weights = [
            units[used] / max((size * largest).max(), TINY)
            for units, largest in zip(self._units, self._largest, strict=True)
        ]
        return np.asarray(rows.toarray() * vector[members, np.newaxis] * np.max(weights, axis=0))

    def _checked(self, vector: Values) -> Dependence | None:
        members = np.flatnonzero(vector)
        members = members[np.argsort(self._indices[members])]
        rows, factors = self._scaled[members], self._factors[members]
        size = np.abs(coefficients := in_units(vector[members], factors))
        coefficients = coefficients / coefficients[(size > (1 - 1e-9) * size.max()).argmax()]
        left = np.inf
        for each in (coefficients, *(_simplified(coefficients, near) for near in _NEAR)):
            new = residual(rows, in_units(each, 1 / factors), self._units)
            if new <= max(left, GOOD_ERROR):
                coefficients, left = each, new
        if not left <= self._tolerance:
            return None
        return Dependence(self._side, self._indices[members], coefficients, left)


class _Fit(NamedTuple):
    """The least combination of some members, that of the first being given."""

    members: IndexArray
    triangle: Values  #: R of their terms, each over `sizes`, the first member last.
    sizes: FloatArray
    factors: Values  #: By which the terms are multiplied; 1 of the first.

    @classmethod
    def of(cls, lines: _LocalLines, vector: Values, members: IndexArray) -> "_Fit | None":
        """Fit the members of a combination."""
        terms = lines.terms(vector, members)
        if terms is None:
            return None
        sizes = np.maximum(np.abs(terms).max(axis=1, initial=0), TINY)
        columns = (terms / sizes[:, np.newaxis]).T[:, ::-1]
        # what is not determined stays small
        return cls._solved(members, np.vstack([columns, _SMALL * np.eye(members.size)]), sizes)

    @classmethod
    def _solved(cls, members: IndexArray, columns: Values, sizes: FloatArray) -> "_Fit":
        r = np.asarray(qr(columns, mode="r"))
        rest = solve_triangular(r[:-1, :-1], -r[:-1, -1] * sizes[0])
        return cls(members, r, sizes, np.append(rest, sizes[0])[::-1] / sizes)

    def on(self, vector: Values) -> Values:
        """Return the combination."""
        fitted = np.zeros_like(vector)
        fitted[self.members] = vector[self.members] * self.factors
        return fitted

    def without_spare(self, goal: float) -> "_Fit":
        """Return the combination without members that cost no more than a residual.

        Without a member the square of the residual is larger by that of its coefficient over the
        norm of its row of the inverse of R.
        """
        fit, at_once = self, self.members.size
        while fit.members.size > 2 and at_once:
            r = fit.triangle[:-1, :-1]
            norms = np.linalg.norm(solve_triangular(r, np.eye(r.shape[0], dtype=r.dtype)), axis=1)
            costs = (np.abs(fit.factors * fit.sizes)[:0:-1] / norms)[::-1]
            order = np.argsort(costs)
            total = np.sqrt(np.cumsum(costs[order] ** 2) + fit.residual**2)
            spared = order[: min(int((total <= goal).sum()), at_once)] + 1
            if not spared.size:
                break
            kept = np.delete(np.arange(fit.members.size), spared)
            columns = fit.triangle[:, (fit.members.size - 1 - kept)[::-1]]
            trial = _Fit._solved(fit.members[kept], columns, fit.sizes[kept])
            if trial.residual <= goal:
                fit = trial
            else:
                at_once = spared.size // 2
        return fit

    @property
    def residual(self) -> float:
        """The norm of what is left."""
        return float(abs(self.triangle[-1, -1]) * self.sizes[0])


def in_units(coefficients: Values, factors: FloatArray) -> Values:
    """Return coefficients in the units of rows that have these factors, the largest 1.

    Factors are powers of two up to 2**1000, either way: by half of them at a time, nothing that
    counts leaves the range of doubles.
    """
    own = exponents_of(coefficients)
    exponents = np.log2(factors).astype(int) + own
    exponents -= exponents[coefficients != 0].max(initial=-5000)
    return times_power(times_power(coefficients, -own), exponents)


def residual(rows: Any, coefficients: Values, systems: Sequence[FloatArray]) -> float:
    """Return the largest entry of a combination of CSR rows over the largest of its terms.

    In long double, and in that system of units in which it is largest: the factors of columns.
    """
    wide = np.clongdouble if np.iscomplexobj(rows.data) else np.longdouble
    terms = rows.data.astype(wide) * np.repeat(coefficients, np.diff(rows.indptr))
    order = np.argsort(rows.indices, kind="stable")
    starts = np.flatnonzero(np.diff(rows.indices[order], prepend=-1))
    if not starts.size:
        return 0.0
    left = np.abs(np.add.reduceat(terms[order], starts))
    largest = np.maximum.reduceat(np.abs(terms[order]), starts)
    cols, worst = rows.indices[order][starts], 0.0
    for units in systems:
        term = (largest * units[cols]).max()
        worst = max(worst, float((left * units[cols]).max() / term) if term > 0 else np.inf)
    return worst if worst == worst else np.inf


def _rows(matrix: Any, indices: IndexArray, others: IndexArray | None) -> tuple[Any, IndexArray]:
    """Return rows of a CSR matrix without the columns that have no entries, and those that do."""
    rows = matrix[indices]
    if others is not None:
        place = np.minimum(np.searchsorted(others, rows.indices), others.size - 1)
        keep = others[place] == rows.indices
        indptr = np.concatenate([[0], np.cumsum(keep)])[rows.indptr]
        rows = csr_array((rows.data[keep], rows.indices[keep], indptr), shape=rows.shape)
    return _used_columns(rows)


def _used_columns(rows: Any) -> tuple[Any, IndexArray]:
    used = distinct(rows.indices, rows.shape[1])
    if rows.indices.size < rows.shape[1] // 16:
        indices = np.searchsorted(used, rows.indices)
    else:
        place = np.empty(rows.shape[1], np.intp)
        place[used] = np.arange(used.size)
        indices = place[rows.indices]
    return csr_array((rows.data, indices, rows.indptr), shape=(rows.shape[0], used.size)), used


def _largest_by_row(size: Any, units: FloatArray) -> FloatArray:
    largest = np.zeros(size.shape[0])
    filled = np.flatnonzero(np.diff(size.indptr))
    if filled.size:
        entries = size.data * units[size.indices]
        largest[filled] = np.maximum.reduceat(entries, size.indptr[filled])
    return largest


def _on(members: IndexArray, vector: Values) -> Values:
    """Return a vector with zeros elsewhere."""
    kept = np.zeros_like(vector)
    kept[members] = vector[members]
    return kept


def _simplified(coefficients: Values, near: float) -> Values:
    """Return fractions with small denominators where coefficients are as near them."""
    parts = np.ascontiguousarray(coefficients).view(float)
    multiples = parts[:, np.newaxis] * _DENOMINATORS
    off = np.abs(multiples - np.round(multiples)) / _DENOMINATORS
    best = off.argmin(axis=1)
    at = np.arange(parts.size)
    simple = np.round(multiples[at, best]) / _DENOMINATORS[best]
    is_near = (off[at, best] <= near) & ((simple != 0) | (parts == 0))
    return np.where(is_near, simple, parts).view(coefficients.dtype)
