"""Rows, or columns, of a sparse matrix that are parallel or nearly so.

Candidates by random projections, whose absolute values parallel vectors of length 1 have in common:
each pair is in the same cell of one of eight grids (locality-sensitive hashing: Indyk,
Motwani, STOC 1998; Datar et al., SCG 2004). Every pair that is named has been verified.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._types.arrays import BoolArray, IndexArray
from sparsematch._types.singularity import ParallelPair
from sparsematch.solvers._scaling import exponents_of, times_power

#: Projections of a vector: with three, a million rows and 1e-4 a cell rarely has two by chance.
_PROJECTIONS = 3
#: Standard deviations by which a projection of a difference may miss its window: 1e-15.
_DEVIATIONS = 8.0
#: Vectors of a cell that are compared with all the others. A cell of more has most of them parallel
#: to its first, or the tolerance is so wide that pairs say little.
_MAX_LEADERS = 64


def parallel_pairs(A: Any, side: str, tolerance: float) -> tuple[ParallelPair, ...]:
    """Find the rows or columns of a matrix that are parallel, or opposite, or nearly so.

    A pair is left out if both are parallel to an earlier row: k equal ones make k - 1 pairs, each
    with the first. Nearly O(nnz log nnz). Bounded: of the vectors whose three projections agree
    within 16 tolerances, 64 are compared with all, and the others with the first.

    Parameters
    ----------
    A : csc_array, shape (m, n)
        Canonical, of float64 or complex128, finite.
    side : {"rows", "columns"}
        Of which.
    tolerance : float
        The largest angle, in radians; columns (rows) are in units of their largest entry.

    Returns
    -------
    tuple of ParallelPair
        The smallest angle first. Zero rows (columns) are in none.
    """
    vectors = sp.csc_array(A) if side == "rows" else A.T
    unit = _normalised(vectors)
    lengths = np.diff(unit.indptr)
    window = _DEVIATIONS * (tolerance + 4 * np.finfo(float).eps * np.sqrt(lengths.max(initial=1)))
    shadows = _projections(unit)
    search = _Search(unit, shadows, window, tolerance)
    ids = np.flatnonzero(lengths)
    ids = ids[shadows[ids, 0].argsort(kind="stable")]
    search.by_grids(ids, np.zeros(ids.size, np.intp), 0)
    return _as_pairs(vectors, unit, *search.found())


def _normalised(vectors: Any) -> Any:
    """Return the rows of a matrix with length 1, columns in units of their largest entry.

    With exponents apart, so that nothing that counts overflows or underflows.
    """
    unit = sp.csc_array(vectors, copy=True)
    unit.eliminate_zeros()
    if not unit.nnz:
        return sp.csr_array(unit)
    data, (starts, counts) = unit.data, _segments(unit)
    exponents = exponents_of(data)
    shift = np.repeat(np.maximum.reduceat(exponents, starts), counts)
    largest = np.maximum.reduceat(np.abs(times_power(data, -shift)), starts)
    data = times_power(data, -exponents) / np.repeat(largest, counts)
    exponents = exponents - shift
    unit.data = np.arange(data.size)
    unit = sp.csr_array(unit)
    data, exponents, (starts, counts) = data[unit.data], exponents[unit.data], _segments(unit)
    shift = np.repeat(np.maximum.reduceat(exponents, starts), counts)
    data = times_power(data, exponents - shift)
    unit.data = data / np.repeat(np.sqrt(np.add.reduceat(np.abs(data) ** 2, starts)), counts)
    return unit


def _segments(compressed: Any) -> tuple[IndexArray, IndexArray]:
    """Return where the rows (columns) that are not empty begin, and their numbers of entries."""
    lengths = np.diff(compressed.indptr)
    return compressed.indptr[:-1][lengths > 0], lengths[lengths > 0]


def _projections(unit: Any) -> NDArray[np.float64]:
    """Return the absolute values of random projections of rows, shape (rows, 3)."""
    rng = np.random.default_rng(0)
    shape = unit.shape[1], _PROJECTIONS
    directions = rng.standard_normal(shape)
    if unit.dtype.kind == "c":
        directions = directions + 1j * rng.standard_normal(shape)
    shadows: NDArray[np.float64] = np.abs(unit @ directions)
    return shadows


class _Search:
    """The pairs found so far."""

    def __init__(
        self, unit: Any, shadows: NDArray[np.float64], window: float, tolerance: float
    ) -> None:
        self._unit, self._shadows = unit, shadows
        self._window, self._tolerance = window, tolerance
        none = np.empty(0, np.intp)
        self._firsts: list[IndexArray] = [none]
        self._seconds: list[IndexArray] = [none]
        #: The vector to which all in a cell were parallel, itself otherwise.
        self._leader = np.arange(unit.shape[0])

    def by_grids(self, ids: IndexArray, cell: IndexArray, axis: int) -> None:
        """Cut cells along an axis by either of two grids, and so on; compare what shares one."""
        if not ids.size or axis == _PROJECTIONS:
            self._compare(ids, cell)
            return
        for shift in (0.0, self._window):
            place = np.floor((self._shadows[ids, axis] + shift) / (2 * self._window))
            order = np.lexsort((place, cell))
            place = place[order]
            new = (np.diff(cell[order], prepend=-1) != 0) | (np.diff(place, prepend=-1) != 0)
            self.by_grids(*_larger_cells(ids[order], np.cumsum(new) - 1), axis + 1)

    def _compare(self, ids: IndexArray, cell: IndexArray) -> None:
        order = np.lexsort((ids, cell))
        ids, cell = ids[order], cell[order]
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        if ids.size:  # what one vector accounted for already
            leader = self._leader[ids]
            known = np.maximum.reduceat(leader, starts) == np.minimum.reduceat(leader, starts)
            ids, cell = _larger_cells(ids, cell, ~known)
        self._compare_cells(ids, cell)

    def _compare_cells(self, ids: IndexArray, cell: IndexArray) -> None:
        covered = np.zeros(ids.size, bool)  # parallel to the first of the cell
        for step in range(_MAX_LEADERS):
            if not ids.size:
                return
            order = np.lexsort((ids, covered, cell))
            ids, cell, covered = ids[order], cell[order], covered[order]
            is_leader = np.diff(cell, prepend=-1) != 0
            leader = ids[is_leader][cell]
            others = np.flatnonzero(~is_leader)
            near = self._verify(leader[others], ids[others])
            if step == 0:
                covered[others] = near
                whole = np.logical_and.reduceat(covered | is_leader, np.flatnonzero(is_leader))
                inside = whole[cell]
                self._leader[ids[inside]] = leader[inside]
            open_cells = np.logical_or.reduceat(~covered & ~is_leader, np.flatnonzero(is_leader))
            keep = open_cells[cell] & ~is_leader
            ids, covered = ids[keep], covered[keep]
            cell = (np.cumsum(open_cells) - 1)[cell[keep]]

    def _verify(self, a: IndexArray, b: IndexArray) -> BoolArray:
        """Record the pairs that are parallel; return which they are."""
        near: BoolArray = np.abs(self._shadows[a] - self._shadows[b]).max(axis=1) <= self._window
        near[near] = _angles(self._unit, a[near], b[near]) <= self._tolerance
        self._firsts.append(np.minimum(a, b)[near])
        self._seconds.append(np.maximum(a, b)[near])
        return near

    def found(self) -> tuple[IndexArray, IndexArray]:
        """Return the pairs, but those both of which an earlier vector is paired with."""
        n = self._unit.shape[0]
        code = np.unique(
            np.concatenate(self._firsts).astype(np.int64) * n + np.concatenate(self._seconds)
        )
        first, second = code // n, code % n
        earlier = sp.csr_array((np.ones(code.size), (second, first)), shape=(n, n))
        common = np.asarray(earlier[first].multiply(earlier[second]).sum(axis=1)).ravel()
        return first[common == 0], second[common == 0]


def _larger_cells(
    ids: IndexArray, cell: IndexArray, wanted: BoolArray | None = None
) -> tuple[IndexArray, IndexArray]:
    """Return what is in cells of two at least, or in those wanted, the cells renumbered."""
    if wanted is None:
        wanted = np.bincount(cell, minlength=1) > 1
    keep = wanted[cell]
    return ids[keep], (np.cumsum(wanted) - 1)[cell[keep]]


def _phases(a: Any, b: Any) -> NDArray[Any]:
    """Return the factors of absolute value 1 that bring the rows of b nearest to those of a."""
    inner = np.asarray(a.multiply(b.conj()).sum(axis=1)).ravel()
    size = np.abs(inner)
    return np.where(size > 0, inner / np.where(size > 0, size, 1), 1)


def _angles(unit: Any, first: IndexArray, second: IndexArray) -> NDArray[np.float64]:
    """Return the angles between lines, accurate where they are tiny."""
    a, b = unit[first], unit[second]
    b.data *= np.repeat(_phases(a, b), np.diff(b.indptr))
    difference = abs(a - b)
    chord = np.sqrt(np.asarray(difference.multiply(difference).sum(axis=1)).ravel())
    angles: NDArray[np.float64] = 2 * np.arcsin(np.minimum(chord / 2, 1))
    return angles


def _as_pairs(
    vectors: Any, unit: Any, first: IndexArray, second: IndexArray
) -> tuple[ParallelPair, ...]:
    """Name pairs, the smallest angle first, with the factor at the largest entry of the first."""
    if not first.size:
        return ()
    angles = _angles(unit, first, second)
    order = np.lexsort((second, first, angles))
    first, second, angles = first[order], second[order], angles[order]
    lengths = np.diff(unit.indptr)
    sizes = np.abs(unit.data)
    row = np.repeat(np.arange(unit.shape[0]), lengths)
    last = np.lexsort((sizes, row))[unit.indptr[1:][lengths > 0] - 1]
    at = np.zeros(unit.shape[0], np.intp)
    at[lengths > 0] = unit.indices[last]
    vectors = sp.csr_array(vectors)
    with np.errstate(over="ignore"):
        factors = vectors[second, at[first]] / vectors[first, at[first]]
    factors = np.nan_to_num(np.asarray(factors).ravel())  # those beyond doubles: the largest
    return tuple(
        map(
            ParallelPair,
            first.tolist(),
            second.tolist(),
            factors.tolist(),
            angles.tolist(),
        )
    )
