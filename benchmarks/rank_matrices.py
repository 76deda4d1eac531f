"""Matrices of which every rank of a communicator makes its own rows, from a seed and nothing else.

The same matrix on any number of ranks, but for a few entries of `delaunay`; `build` gives a
DistributedCSR of about `entries` entries. Those of HASHED are made slice by slice where they are
wanted, on the host or on a GPU: `xp` is NumPy or CuPy. There a row depends on the seed and its
number alone, and each function returns int64 row pointers and int32 indices of the rows from
`begin` to `end`.
"""

import numpy as np
from scipy.spatial import Delaunay

import sparsematch as sm
from sparsematch._engines.mpi.core.distribution import assemble

#: Batches in which edges are drawn, whatever the number of ranks.
BATCHES = 960
#: Entries of hashed matrices that are made at a time.
SLICE = 1 << 25
#: Entries in a row of theirs.
MEAN = 30


def own_batches(comm, n):
    """The batches, or strips, of this rank."""
    return range(n * comm.rank // comm.size, n * (comm.rank + 1) // comm.size)


def er(comm, entries):
    """Four entries a row on average, each in any column."""
    n = entries // 4
    rows = np.arange(BATCHES + 1) * n // BATCHES
    counts = np.diff(np.arange(BATCHES + 1) * entries // BATCHES)
    mine = own_batches(comm, BATCHES)
    degrees, indices = [], []
    for k in mine:
        rng = np.random.default_rng([1, k])
        size = int(rows[k + 1] - rows[k])
        degrees.append(np.bincount(rng.integers(0, size, counts[k]), minlength=size))
        indices.append(rng.integers(0, n, counts[k], index_type(n)))
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(degrees))])
    return sm.DistributedCSR(comm, indptr, np.concatenate(indices), int(rows[mine.start]), (n, n))


def rmat(comm, entries):
    """Eight entries a row on average, by the recursion of Graph500, labels permuted."""
    bits = max(1, round(np.log2(entries / 8)))
    counts = np.diff(np.arange(BATCHES + 1) * entries // BATCHES)

    def batches():
        for k in own_batches(comm, BATCHES):
            rng = np.random.default_rng([2, k])
            ends = np.zeros((2, counts[k]), np.int64)
            for _ in range(bits):
                which = np.searchsorted([0.57, 0.76, 0.95], rng.random(counts[k]), side="right")
                ends = 2 * ends + [which // 2, which % 2]
            yield shuffled(ends[0], 1 << bits, 5), shuffled(ends[1], 1 << bits, 7)

    return assemble(comm, (1 << bits, 1 << bits), batches())


def delaunay(comm, entries):
    """Neighbours in a triangulation of random points, numbered in strips.

    Each rank triangulates its strips and those on either side, so that no rank has all points. At
    the border of the square that may differ from the triangulation of all.
    """
    n_points = entries // 6
    strips = max(16, int(np.sqrt(n_points) / 12))
    size = max(2, n_points // strips)
    mine = own_batches(comm, strips)
    around = range(max(0, mine.start - 1), min(strips, mine.stop + 1))
    points = np.concatenate([strip_of_points(k, size) for k in around])
    indptr, indices = Delaunay(points).vertex_neighbor_vertices
    first, last = (size * (k - around.start) for k in (mine.start, mine.stop))
    indices = indices[indptr[first] : indptr[last]].astype(np.int64) + size * around.start
    indptr = indptr[first : last + 1].astype(np.int64) - indptr[first]
    n = strips * size
    indices = indices.astype(index_type(n))
    return sm.DistributedCSR(comm, indptr, indices, size * mine.start, (n, n))


def strip_of_points(k, size):
    """The points of the k-th strip, from below to above: 144 on each unit square of it."""
    points = np.random.default_rng([3, k]).random((size, 2)) * [1, size / 144] + [k, 0]
    return points[np.argsort(points[:, 1])]


def scrambled(D):
    """The matrix with rows and columns in an order that keeps nothing together."""
    rows = np.repeat(np.arange(D.own_rows.start, D.own_rows.stop), np.diff(D.indptr))

    def batches(step=1 << 20):
        for k in range(0, rows.size, step):
            part = slice(k, k + step)
            moved = shuffled(rows[part], D.n_rows, 11), shuffled(D.indices[part], D.n_cols, 13)
            yield tuple(side.astype(D.dtype) for side in moved)

    return assemble(D.comm, D.shape, batches())


def shuffled(numbers, n, seed):
    """A permutation of range(n) without a table: a Feistel network, walked until it is within."""
    half = max(1, (int(n - 1).bit_length() + 1) // 2)
    mask, out = (1 << half) - 1, np.asarray(numbers, np.int64)
    outside = np.ones(out.size, bool)
    while outside.any():
        left, right = out[outside] >> half, out[outside] & mask
        for turn in range(4):
            mixed = (right + seed * 7919 + turn * 104_729) * 0x9E3779B1
            left, right = right, left ^ (mixed >> 13 & mask)
        out = out.copy()
        out[outside] = left << half | right
        outside = out >= n
    return out


def index_type(n):
    """The narrowest type that numbers n rows and columns."""
    return np.int32 if n < 2**31 else np.int64


# ---- made on the host or on a GPU
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
    """`mean` entries in each row, in any of n columns."""
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


FAMILIES = {f.__name__: f for f in (er, rmat, delaunay)}
HASHED = {f.__name__: f for f in (uniform, skewed)}
NAMES = [*(f + tail for f in FAMILIES for tail in ("", "_scrambled")), *HASHED]


def build(comm, name, entries, xp=np):
    """The matrix of that name, or `name_scrambled`, with about `entries` entries. Collective."""
    if name in HASHED:
        n, rows = n_hashed(entries), own_batches(comm, n_hashed(entries))
        arrays = HASHED[name](xp, n, MEAN, rows.start, rows.stop)
        return sm.DistributedCSR(comm, *arrays, rows.start, (n, n))
    if xp is not np:
        raise SystemExit(f"{name} is not made on a GPU; choose from {', '.join(HASHED)}")
    family = name.removesuffix("_scrambled")
    D = FAMILIES[family](comm, entries)
    return D if family == name else scrambled(D)


def n_hashed(entries):
    """The power of two of rows that makes about `entries` entries."""
    return 1 << max(6, round(np.log2(entries / MEAN)))
