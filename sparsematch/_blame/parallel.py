"""Rows, or columns, of a sparse matrix that are parallel but for rounding.

Rounded to multiples of a small number, parallel vectors of length 1 are equal, and so are their
keys. Every pair that is named has been verified.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray
from sparsematch._numerics.scaling import exponents_of, times_power
from sparsematch._types.singularity import ParallelPair

#: To what vectors of length 1 are rounded: two that differ by 1e-16 in an entry fall apart there
#: with a probability of 2e-9.
_GRID = 2.0**-24
#: Vectors that others with the same key are compared with, one after the other: such differ, if at
#: all, in small entries.
_MAX_ROUNDS = 64
#: Where an entry is cut, in parts of the grid, and the share of the largest entry that the first
#: has by which vectors are turned: values of the users' hardly ever lie just there.
_OFFSET, _SHARE = 0.318, 0.618


def parallel_pairs(A: Any, side: str, tolerance: float) -> tuple[ParallelPair, ...]:
    """Find the rows or columns of a matrix that are parallel, or opposite, but for rounding.

    Pairs that differ by more than some 1e-9 may be left out, and are if by 1e-7. Each of k vectors
    is paired with the first of them: k - 1 pairs. Time: O(nnz + n log n).

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
    ids = np.flatnonzero(np.diff(unit.indptr))
    if not ids.size:
        return ()
    turning, keys = _keys(unit)
    firsts, seconds, rest = [], [], np.arange(ids.size)
    for _ in range(_MAX_ROUNDS):
        _, leader, group = np.unique(keys[rest], return_index=True, return_inverse=True)
        a, b = rest[leader[group]], rest
        a, b = a[a != b], b[a != b]
        near = _angles(unit, ids[a], ids[b]) <= tolerance
        firsts.append(a[near])
        seconds.append(b[near])
        if not (rest := b[~near]).size:
            break
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    at = unit.indices[turning[first]]
    first, second = ids[first], ids[second]
    angles = _angles(unit, first, second)
    vectors = sp.csr_array(vectors)
    with np.errstate(over="ignore"):
        factors = vectors[second, at] / vectors[first, at]
    factors = np.nan_to_num(np.asarray(factors).ravel())  # those beyond doubles: the largest
    columns = (first, second, factors, angles)
    order = np.lexsort((second, first, angles))
    return tuple(map(ParallelPair, *(column[order].tolist() for column in columns)))


def _keys(unit: Any) -> tuple[IndexArray, NDArray[np.uint64]]:
    """Return, of each row with entries, the place of one by which it is turned, and its key."""
    starts, counts = _segments(unit)
    sizes = np.abs(unit.data)
    large = sizes >= _SHARE * np.repeat(np.maximum.reduceat(sizes, starts), counts)
    turning = np.minimum.reduceat(np.where(large, np.arange(sizes.size), sizes.size), starts)
    turned = unit.data / np.repeat(unit.data[turning] / sizes[turning], counts)
    parts = turned.view(np.float64).reshape(sizes.size, -1)
    cells = np.floor(parts / _GRID + _OFFSET).astype(np.int64).view(np.uint64)
    rng = np.random.default_rng(0)
    weights = rng.integers(1 << 63, size=(unit.shape[1], cells.shape[1]), dtype=np.uint64)
    return turning, np.add.reduceat((cells * weights[unit.indices]).sum(axis=1), starts)


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
