"""Matrices of which every rank of a communicator makes its own rows, from a seed and nothing else.

The same matrix on any number of ranks, but for a few entries of `delaunay`; `build` gives a
DistributedCSR of about so many entries.
"""

import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay, cKDTree

import sparsematch as sm
from sparsematch._engines.mpi.core.assemble import assemble

#: Edges are drawn in so many batches, whatever the number of ranks.
BATCHES = 960


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
    return of_strips(comm, entries // 6, lambda points: Delaunay(points).vertex_neighbor_vertices)


def rgg(comm, entries):
    """Random points that are nearer to each other than what gives 16 neighbours on average.

    Numbered in strips, as those of `delaunay`; the distance is below the width of a strip.
    """

    def near(points):
        radius = np.sqrt(16 / (np.pi * 144))
        ends = cKDTree(points).query_pairs(radius, output_type="ndarray")
        matrix = sp.coo_array((np.ones(2 * len(ends), np.int8), np.hstack([ends.T, ends.T[::-1]])))
        matrix.resize(len(points), len(points))
        return matrix.tocsr().indptr, matrix.tocsr().indices

    return of_strips(comm, entries // 16, near)


def of_strips(comm, n_points, neighbours):
    """The graph of points in strips: each rank makes its strips and those on either side.

    `neighbours` gives index arrays of the graph of some points.
    """
    strips = max(16, int(np.sqrt(n_points) / 12))
    size = max(2, n_points // strips)
    mine = own_batches(comm, strips)
    around = range(max(0, mine.start - 1), min(strips, mine.stop + 1))
    points = np.concatenate([strip_of_points(k, size) for k in around])
    indptr, indices = neighbours(points)
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
    """The narrowest type that numbers so many rows and columns."""
    return np.int32 if n < 2**31 else np.int64


FAMILIES = {f.__name__: f for f in (er, rmat, delaunay, rgg)}


def build(comm, name, entries):
    """The matrix of that name, or `name_scrambled`, with about so many entries. Collective."""
    family = name.removesuffix("_scrambled")
    D = FAMILIES[family](comm, entries)
    return D if family == name else scrambled(D)
