"""Matrices that are generated on the device, slice by slice: `xp` is NumPy or CuPy.

A row depends on the seed and its number alone, so the matrix is the same however its rows are
shared. Each function returns int64 row pointers and int32 indices of the rows from `begin` to
`end`.
"""

import numpy as np

#: Entries that are made at a time.
SLICE = 1 << 25


def mixed(xp, x):
    """Scramble the bits of an array of unsigned 64-bit numbers."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def draws(xp, rows, number, seed):
    """Numbers below 2**32, one for each pair of a row and the number of an entry."""
    key = rows.astype(np.uint64) * np.uint64(1 << 24) + number.astype(np.uint64)
    return mixed(xp, key ^ np.uint64(seed * 0xD6E8FEB86659FD93 & (1 << 63) - 1)) >> np.uint64(32)


def slices(xp, begin, indptr):
    """Yield ranges of entries, and the row and the number within the row of each."""
    n = indptr.size - 1
    step = max(1, int(SLICE / max(1.0, float(indptr[-1]) / max(n, 1))))
    for first in range(0, n, step):
        bounds = indptr[first : first + step + 1]
        low, high = int(bounds[0]), int(bounds[-1])
        places = xp.arange(low, high, dtype=np.int64)
        local = xp.searchsorted(bounds[1:], places, side="right")
        yield slice(low, high), local + first + begin, places - bounds[local]


def uniform(xp, n, mean, begin, end, seed=1):
    """So many entries in each row, in any of n columns."""
    indptr = xp.arange(end - begin + 1, dtype=np.int64) * mean
    indices = xp.empty((end - begin) * mean, np.int32)
    for part, rows, number in slices(xp, begin, indptr):
        columns = draws(xp, rows, number, seed) * np.uint64(n) >> np.uint64(32)
        indices[part] = columns.astype(np.int32)
    return indptr, indices


def skewed(xp, n, mean, begin, end, seed=1):
    """A power law on both sides: exponents about 2.2 of the rows, 1.5 of the columns.

    n must be a power of two: columns are numbered in an order that leaves no trace of their
    degrees.
    """
    u = (draws(xp, xp.arange(begin, end), xp.zeros(1, np.int64), seed) + np.uint64(1)) * 2.0**-32
    degree = least_degree(n, mean) * xp.exp(xp.log(u) / -1.2)
    degree = xp.minimum(degree, n / 64).astype(np.int64)
    indptr = xp.zeros(end - begin + 1, np.int64)
    indptr[1:] = xp.cumsum(degree)
    indices = xp.empty(int(indptr[-1]), np.int32)
    for part, rows, number in slices(xp, begin, indptr):
        v = draws(xp, rows, number + 1, seed) * 2.0**-32
        columns = (v * v * v * n).astype(np.int64) * 0x2545F491 & (n - 1)
        indices[part] = columns.astype(np.int32)
    return indptr, indices


def least_degree(n, mean):
    """The least degree with which the power law of the rows has this mean, rounded down."""
    u = (np.arange(1 << 16) + 0.5) / (1 << 16)
    low, high = 0.0, float(mean)
    for _ in range(50):
        middle = (low + high) / 2
        short = np.floor(np.minimum(middle * u ** (-1 / 1.2), n / 64)).mean() < mean
        low, high = (middle, high) if short else (low, middle)
    return high


def circulant(xp, n, mean, begin, end, seed=1):
    """A symmetric graph: each vertex is joined to those at some distances, the same for all.

    Also returns weights, which depend on the two ends of an edge.
    """
    rng = np.random.default_rng(seed)
    shifts = np.unique(rng.integers(1, max(2, (n - 1) // 2), mean // 2))
    shifts = xp.asarray(np.concatenate([shifts, n - shifts]))
    size = int(shifts.size)
    indptr = xp.arange(end - begin + 1, dtype=np.int64) * size
    indices = xp.empty((end - begin) * size, np.int32)
    weights = xp.empty(indices.size, np.float32)
    step = max(1, SLICE // size)
    for first in range(begin, end, step):
        rows = xp.arange(first, min(first + step, end), dtype=np.int64)[:, None]
        columns = xp.sort((rows + shifts) % n, axis=1)
        low, high = xp.minimum(rows, columns), xp.maximum(rows, columns)
        part = slice((first - begin) * size, (first - begin) * size + int(columns.size))
        indices[part] = columns.ravel().astype(np.int32)
        drawn = draws(xp, low.ravel(), high.ravel(), seed)
        weights[part] = (drawn >> np.uint64(12)).astype(np.float32) + 1
    return indptr, indices, weights
