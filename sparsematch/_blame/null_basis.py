"""A sparse basis of a null space: combinations of few rows that vanish.

A basis that is the identity on some rows, its pivots, consists of fundamental circuits: no member
of one can be spared (Coleman, Pothen, The null space problem I: complexity, SIAM J. Algebraic
Discrete Methods 7, 1986). Another pivot in a circuit leaves that circuit and changes the others;
pivots are exchanged as long as members become fewer. Members that rounding or noise brings in are
then dropped, by least squares, coefficients computed for those that are left, and every combination
is judged with the matrix itself, in long double, and named if it vanishes in two systems of units.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import csc_array

from sparsematch._base.arrays import Array, BoolArray, FloatArray, IndexArray
from sparsematch._base.tolerances import GOOD_ERROR, HALF_OF_THE_DIGITS, TINY, UNSTABLE
from sparsematch._blame.null_space import NullSpace, before_gap
from sparsematch._blame.singular_blocks import leading_rows
from sparsematch._numerics.foreign_calls import DENSE_ENTRIES, qr
from sparsematch._numerics.scaling import exponents_of, row_maxima, times_power
from sparsematch._types.singularity import Dependence

#: Coefficients below this share of a circuit's largest are no members while pivots are exchanged.
_ZERO = 1e-9
#: Share of the largest coefficient of a circuit that a pivot has at least.
_PIVOT = 0.01
#: Corrections of a residual, by one more solve each, at most.
_CORRECTIONS = 3
#: Members up to which coefficients are computed again by dense least squares.
_DENSE = 200
#: Elements of combinations that are judged at once: 8 MB.
_AT_ONCE = 1 << 20
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
#: Rounds in which pivots are exchanged, at most.
_ROUNDS = 100
#: Choices of all pivots by chance, of three circuits or more; that one is good is unlikely of many.
_DRAWS, _MOST_DRAWN = 16, 8
#: Rows that are asked for another pivot of a circuit.
_CANDIDATES = 32
#: Members of a circuit over those that it must lose to be easier to read.
_FEW = 16
#: Denominators of coefficients that are read easily.
_DENOMINATORS = np.arange(1, 13)
#: How near to such a fraction coefficients are made it, if the residual is no larger.
_NEAR = 1e-9, 1e-5, 1e-3


class Lines(NamedTuple):
    """A matrix whose rows are to be combined, or whose columns are, which are its rows then."""

    side: str
    scaled: Any  #: CSC, its columns being the rows: rows and columns scaled.
    factors: FloatArray  #: Those of the rows.
    units: tuple[IndexArray, ...]  #: Powers of two that columns are multiplied by, to be judged.


def sparse_basis(
    lines: Lines, space: NullSpace, tolerance: float, others: IndexArray | None = None
) -> list[Dependence]:
    """Return as many combinations as the null space has dimensions, those that fail left out."""
    # With `others` only the entries in these columns count, which are ascending. Of a null space
    # that is none in all units, the part before a gap of its singular values may be one.
    local = _LocalLines(lines, space.indices, tolerance, others)
    best: list[Dependence] = []
    count = space.values.size
    while count > len(best):
        best = max(best, _named(lines, space.first(count), local), key=len)
        count = before_gap(space.values[:count])
    return best


def _named(lines: Lines, space: NullSpace, local: "_LocalLines") -> list[Dependence]:
    circuits, pivots, shorter = _short_circuits(space)
    for vectors in (circuits, shorter):
        _correct(lines, space, local, vectors)
    circuits = _circuits(circuits, pivots)
    circuits[pivots] = np.eye(pivots.size)  # so no two can become the same
    found = local.name(circuits, pivots)
    if not shorter.shape[1] or len(found) < pivots.size:
        return found
    found += local.name(shorter, np.abs(shorter).argmax(axis=0))
    found.sort(key=lambda one: one.size)
    # the named ones on the pivots, which tell whether they are independent
    places = [np.searchsorted(one.indices, space.indices[pivots]) for one in found]
    coordinates = np.zeros((pivots.size, len(found)), circuits.dtype)
    for column, one, place in zip(coordinates.T, found, places, strict=True):
        has = one.indices[np.minimum(place, one.size - 1)] == space.indices[pivots]
        column[has] = in_units(one.coefficients, 1 / lines.factors[one.indices])[place[has]]
    return [found[k] for k in _first_independent(coordinates)]


def _first_independent(vectors: Array) -> list[int]:
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


def _correct(lines: Lines, space: NullSpace, local: "_LocalLines", circuits: Array) -> None:
    """Subtract from circuits what makes them vanish, as long as less is left each time."""
    if space.cancel is None or not circuits.shape[1]:
        return
    residuals = local.residuals(circuits)
    for _ in range(_CORRECTIONS):
        if not (bad := np.flatnonzero(~(residuals <= UNSTABLE))).size:
            break
        whole = np.zeros((lines.scaled.shape[1], bad.size), circuits.dtype)
        whole[space.indices] = circuits[:, bad]
        better = circuits[:, bad] - space.cancel(lines.scaled @ whole)
        left = local.residuals(better)
        less = left < residuals[bad]
        circuits[:, bad[less]], residuals[bad[less]] = better[:, less], left[less]
        residuals[bad[~less]] = 0


def _short_circuits(space: NullSpace) -> tuple[Array, IndexArray, Array]:
    """Return the basis that is the identity on its pivots, these chosen for few members."""
    # And shorter circuits, where independent ones of fewer members were met that share no pivots:
    # shifts of all points by x and by y, beside rotations.
    pivots = leading_rows(space.basis)
    circuits = _circuits(space.basis, pivots)
    if pivots.size <= 1:
        return circuits, pivots, circuits[:, :0]
    rows = _telling_rows(circuits, pivots)
    at = np.searchsorted(rows, pivots)
    place, met = _exchange_pivots(circuits[rows], at)
    met += _by_chance(circuits[rows], at)
    shorter = circuits @ _shortest(met, circuits[rows], at, place)
    if not np.array_equal(rows[place], pivots):
        pivots = rows[place]
        circuits = _circuits(circuits, pivots)
    return circuits, pivots, shorter


def _by_chance(circuits: Array, at: IndexArray) -> Iterator[Array]:
    """Yield circuits with other pivots, as what was met by exchanges of single ones."""
    # Of a vector that is zero on most rows no other need be a multiple on the rest.
    rng = np.random.default_rng(3)
    even = circuits / np.maximum(np.abs(circuits).max(axis=1, keepdims=True), TINY)
    for _ in range(_DRAWS if 2 < at.size <= _MOST_DRAWN else 0):
        weights = rng.random((even.shape[0], 1)) ** 8  # of any size
        other = _circuits(circuits, leading_rows(even * weights))
        yield np.vstack([_members(other).sum(axis=0), other[at]])


def _shortest(met: list[Array], circuits: Array, at: IndexArray, place: IndexArray) -> Array:
    """Return combinations of circuits that are shorter than some of those with the best pivots."""
    if not met:
        return circuits[at][:, :0]
    best = _circuits(circuits, place)
    sizes = np.concatenate([_members(best).sum(axis=0), *(each[0].real for each in met)])
    vectors = np.column_stack([best[at], *(each[1:] for each in met)])
    order = np.argsort(sizes, kind="stable")[: _CANDIDATES * at.size]
    vectors = vectors[:, order] / np.abs(vectors[:, order]).max(axis=0)
    chosen = np.array(_first_independent(vectors), np.intp)
    return vectors[:, chosen[order[chosen] >= at.size]]


def _circuits(basis: Array, pivots: IndexArray) -> Array:
    return basis @ np.linalg.inv(basis[pivots])


def _telling_rows(circuits: Array, pivots: IndexArray) -> IndexArray:
    """Return the rows of the short circuits and some of the others, ascending."""
    members = _members(circuits)
    short: BoolArray = np.any(members[:, members.sum(axis=0) <= _READABLE], axis=1)
    short[pivots] = True
    n = short.size
    short[np.random.default_rng(0).choice(n, min(n, _READABLE), replace=False)] = True
    return np.flatnonzero(short)


def _members(circuits: Array) -> BoolArray:
    size = np.abs(circuits)
    return size > _ZERO * size.max(axis=0)


def _exchange_pivots(circuits: Array, pivots: IndexArray) -> tuple[IndexArray, list[Array]]:
    """Exchange pivots as long as the circuits have fewer members after it."""
    # Also return what was met and shorter: their members, and what they are on the first pivots.
    first, met = pivots, list[Array]()
    pivots, improved = pivots.copy(), True
    sizes = _members(circuits).sum(axis=0)
    for _ in range(_ROUNDS):
        if not improved:
            break
        improved = False
        for k in np.argsort(sizes).tolist():
            better, row, short = _best_pivot(circuits, sizes, k, int(pivots[k]))
            if short.size:
                met.append(np.vstack([_members(short).sum(axis=0), short[first]]))
            if row >= 0:
                circuits, pivots[k], improved = better, row, True
                sizes = _members(circuits).sum(axis=0)
    return pivots, met


def _best_pivot(circuits: Array, sizes: IndexArray, k: int, at: int) -> tuple[Array, int, Array]:
    """Return the circuits with another pivot of circuit k, and that; -1 if none is better."""
    # What most rows of the circuit have in common cancels most; of many rows some tell. Last come
    # the circuits that become shorter with any pivot.
    own = circuits[:, k]
    rows = np.flatnonzero(np.abs(own) > _PIVOT * np.abs(own).max())
    rows = np.union1d(rows[:: 1 + rows.size // _CANDIDATES], at)
    ratios = circuits[rows] / own[rows, np.newaxis]
    ratios[:, k] = 0
    digits = np.round(ratios * 1e6)
    counts = (digits[:, np.newaxis] == digits).sum(axis=0)
    gains = np.where(digits == 0, 0, counts - (digits == 0).sum(axis=0))
    gains[(gains > 0) & (gains <= rows.size // _FEW)] = 0
    if not (gains > 0).any():
        return circuits, -1, circuits[:, :0]
    others, total = np.flatnonzero(gains.max(axis=0) > 0), gains.sum(axis=1)
    best = ratios[gains[:, others].argmax(axis=0), others]
    short = circuits[:, others] - np.outer(own, best)
    short = short[:, _members(short).sum(axis=0) < (sizes - sizes // _FEW)[others]]
    if total.max() > 0:
        trial = circuits - np.outer(own, ratios[total.argmax()])
        if _members(trial).sum() < sizes.sum() - sizes[k] // _FEW:
            return trial, int(rows[total.argmax()]), short
    return circuits, -1, short


class _LocalLines:
    """The rows on which a null space is, and the columns that they have entries in."""

    def __init__(
        self, lines: Lines, indices: IndexArray, tolerance: float, others: IndexArray | None
    ) -> None:
        self._side, self._indices, self._tolerance = lines.side, indices, tolerance
        self._factors = lines.factors[indices]
        self._scaled, used = _columns(lines.scaled, indices, others)
        self._units = np.array([np.ldexp(1.0, system[used]) for system in lines.units])
        terms = np.abs(self._scaled.data) * self._units[:, self._scaled.indices]
        self._largest = np.array([row_maxima(of, self._scaled.indptr) for of in terms])

    def residuals(self, vectors: Array) -> FloatArray:
        """Return the largest entry of each combination over the largest of its terms."""
        # In that system of units in which it is larger.
        left = np.abs(self._scaled @ vectors).astype(float)
        terms = np.abs(vectors).astype(float) * self._largest[..., np.newaxis]
        left = (left * self._units[..., np.newaxis]).max(axis=1, initial=0)
        left /= terms.max(axis=1, initial=0)
        worst: FloatArray = np.where(left == left, left, np.inf).max(axis=0)
        worst[~vectors[self._largest[0] > 0].any(axis=0)] = 0  # rows without entries
        return worst

    def residual(self, vector: Array) -> float:
        """Return that of one."""
        return float(self.residuals(vector[:, np.newaxis])[0])

    def name(self, vectors: Array, pivots: IndexArray) -> list[Dependence]:
        """Return combinations of few rows, the pivots among them, as far as these vanish."""
        # Of few members, as far as these can be told from rounding, none can be spared. One of many
        # is left as it is but for members that are rounding.
        found: list[Dependence] = []
        at_once = max(1, _AT_ONCE // self._indices.size)
        for first in range(0, pivots.size, at_once):
            some = slice(first, first + at_once)
            found += self._checked(self._fewest(vectors[:, some], pivots[some]))
        return found

    def _fewest(self, vectors: Array, pivots: IndexArray) -> Array:
        """Return the combinations without members that can be spared."""
        vectors = vectors / np.abs(vectors).max(axis=0)
        terms = np.abs(vectors) * self._largest[..., np.newaxis]
        # what each member contributes, of the largest contribution
        shares = (terms / np.maximum(terms.max(axis=1, keepdims=True), TINY)).max(axis=0)
        shares[pivots, np.arange(pivots.size)] = np.inf
        fewest = np.where(shares > _LARGE, vectors, 0)
        if (unsure := np.flatnonzero(self.residuals(fewest) > _ROUNDING)).size:
            goals = np.maximum(UNSTABLE, 2 * self.residuals(vectors))
            shorter = np.where(shares > goals / _MUCH, vectors, 0)
            shorter = np.where(self.residuals(shorter) <= goals, shorter, vectors)
        for k in unsure.tolist():
            fewest[:, k] = shorter[:, k]
            if goals[k] > UNSTABLE or (shares[:, k] > HALF_OF_THE_DIGITS).sum() <= _DENSE:
                fitted = self._fitted(vectors[:, k], shares[:, k])
                if self.residual(fitted) <= self._tolerance:
                    fewest[:, k] = fitted
        return fewest

    def _fitted(self, vector: Array, shares: FloatArray) -> Array:
        """Return a combination of the fewest first members that will do, with new coefficients."""
        # More are tried, twice as many each time, up to where dense matrices are too large; they
        # are members if they make the residual much smaller.
        order = np.argsort(-shares, kind="stable")
        order, count = order[vector[order] != 0], max(int((shares > _LARGE).sum()), 2)
        found, most = [], min(order.size, _DENSE)
        while count // 2 < most:
            if (fit := _Fit.of(self, vector, order[: min(count, most)])) is None:
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

    def terms(self, vector: Array, members: IndexArray) -> Array | None:
        """Return terms of members, dense, in units in which they count most; None if many."""
        rows, used = _columns(self._scaled, members)
        if members.size * used.size > DENSE_ENTRIES:
            return None
        most = np.maximum((np.abs(vector) * self._largest).max(axis=1, keepdims=True), TINY)
        weights = (self._units[:, used] / most).max(axis=0)
        return np.asarray(rows.toarray().T * vector[members, np.newaxis] * weights)

    def _checked(self, vectors: Array) -> list[Dependence]:
        """Return those that vanish in long double; with simple coefficients, if they do so too."""
        trials: list[tuple[int, IndexArray, Array]] = []
        for k, vector in enumerate(vectors.T[vectors.any(axis=0)]):
            members = np.flatnonzero(vector)
            size = np.abs(coefficients := in_units(vector[members], self._factors[members]))
            coefficients = coefficients / coefficients[(size > (1 - 1e-9) * size.max()).argmax()]
            trials += [(k, members, each) for each in (coefficients, *_simplified(coefficients))]
        wide = np.zeros((vectors.shape[0], len(trials)), np.result_type(vectors, np.longdouble))
        for column, (_, members, coefficients) in zip(wide.T, trials, strict=True):
            column[members] = in_units(coefficients, 1 / self._factors[members])
        best: dict[int, tuple[float, IndexArray, Array]] = {}
        for (k, *trial), new in zip(trials, self.residuals(wide).tolist(), strict=True):
            if new <= (max(best[k][0], GOOD_ERROR) if k in best else self._tolerance):
                best[k] = new, *trial
        return [
            Dependence(self._side, self._indices[members], coefficients, left)
            for left, members, coefficients in best.values()
        ]


class _Fit(NamedTuple):
    """The least combination of some members, that of the first being given."""

    members: IndexArray
    triangle: Array  #: R of their terms, each over `sizes`, the first member last.
    sizes: FloatArray
    factors: Array  #: By which the terms are multiplied; 1 of the first.

    @classmethod
    def of(cls, lines: _LocalLines, vector: Array, members: IndexArray) -> "_Fit | None":
        """Fit the members of a combination."""
        terms = lines.terms(vector, members)
        if terms is None or not np.isfinite(terms).all():
            return None
        sizes = np.maximum(np.abs(terms).max(axis=1, initial=0), TINY)
        columns = (terms / sizes[:, np.newaxis]).T[:, ::-1]
        # what is not determined stays small
        return cls._solved(members, np.vstack([columns, _SMALL * np.eye(members.size)]), sizes)

    @classmethod
    def _solved(cls, members: IndexArray, columns: Array, sizes: FloatArray) -> "_Fit":
        r = np.asarray(qr(columns, mode="r"))
        rest = solve_triangular(r[:-1, :-1], -r[:-1, -1] * sizes[0])
        return cls(members, r, sizes, np.append(rest, sizes[0])[::-1] / sizes)

    def on(self, vector: Array) -> Array:
        """Return the combination."""
        fitted = np.zeros_like(vector)
        fitted[self.members] = vector[self.members] * self.factors
        return fitted

    def without_spare(self, goal: float) -> "_Fit":
        """Return the combination without members that cost no more than a residual."""
        # Without a member the squared residual grows by (coefficient / norm of its row of R^-1)**2.
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


def in_units(coefficients: Array, factors: FloatArray) -> Array:
    """Return coefficients in the units of rows that have these factors, the largest 1."""
    # Factors are powers of two up to 2**1000 either way: half at a time keeps what counts in range.
    own = exponents_of(coefficients)
    exponents = np.log2(factors).astype(int) + own
    exponents -= exponents[coefficients != 0].max(initial=-5000)
    return times_power(times_power(coefficients, -own), exponents)


def _columns(
    matrix: Any, indices: IndexArray, others: IndexArray | None = None
) -> tuple[Any, IndexArray]:
    """Return columns of a CSC matrix without the rows that have no entries, and those that do."""
    part, n = matrix[:, indices], matrix.shape[0]
    if others is not None:
        part.data[~np.isin(part.indices, others)] = 0
        part.eliminate_zeros()
    rows = part.indices
    if rows.size < n // 16:
        used, rows = np.unique(rows, return_inverse=True)
    else:  # without sorting
        occurs = np.zeros(n, bool)
        occurs[rows] = True
        used, rows = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[rows]
    return csc_array((part.data, rows, part.indptr), (used.size, indices.size)), used


def _simplified(coefficients: Array) -> Iterator[Array]:
    """Yield fractions with small denominators where coefficients are near them, ever less so."""
    # Of many coefficients that nobody reads, whole numbers.
    parts = np.ascontiguousarray(coefficients).view(float)
    denominators = _DENOMINATORS[: None if parts.size <= _READABLE else 1]
    multiples = parts[:, np.newaxis] * denominators
    off = np.abs(multiples - np.round(multiples)) / denominators
    best = off.argmin(axis=1)
    at = np.arange(parts.size)
    simple, off = np.round(multiples[at, best]) / denominators[best], off[at, best]
    for near in _NEAR:
        is_near = (off > 0) & (off <= near) & (simple != 0)
        if is_near.any():
            yield np.where(is_near, simple, parts).view(coefficients.dtype)
