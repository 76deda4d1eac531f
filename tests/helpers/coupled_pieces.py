"""Matrices of coupled pieces, whose blocks SciPy knows, and what is wrong with a block form.

Two to six rings, paths in both directions, grids, circulants, trees with an arc back and single
vertices, with a few entries between them, in natural order, rolled, or permuted; or every digraph
of a few vertices in one matrix, each with an entry in the columns of a later one.
"""

import itertools

import numpy as np
import scipy.sparse as sp

import sparsematch as sm

SIZES, SHARES = (4, 10, 30, 100, 1000, 5000), (0.2, 0.2, 0.2, 0.2, 0.15, 0.05)


def ring(_, m):
    i = np.arange(m)
    return np.r_[i, i], np.r_[i, (i + 1) % m]


def path(_, m):
    i = np.arange(m - 1)
    return np.r_[np.arange(m), i, i + 1], np.r_[np.arange(m), i + 1, i]


def mesh(_, m):
    k = max(2, int(m**0.5))
    i = np.arange(k * k)
    a, b = i[i % k < k - 1], i[i // k < k - 1]
    return np.r_[i, a, a + 1, b, b + k], np.r_[i, a + 1, a, b + k, b]


def circulant(_, m):
    i = np.arange(m)
    return np.r_[i, i, i], np.r_[i, (i * 7 + 3) % m, (i + 1) % m]


def tree(rng, m):
    i, every = np.arange(1, m), np.arange(m)
    return np.r_[every, (rng.random(m - 1) * i).astype(int), m - 1], np.r_[every, i, 0]


def singles(_, m):
    i = np.arange(m)
    return i, i


PIECES = (ring, path, mesh, circulant, tree, singles)


def arrange(rng, rows, cols, n, order):
    """The matrix as it is, with its rows rolled or permuted, or both sides, apart or alike."""
    p = q = np.arange(n)
    if order == 1:
        p = np.roll(p, int(rng.integers(n)))
    if order >= 2:
        p = rng.permutation(n)
    if order >= 3:
        q = rng.permutation(n) if order == 3 else p
    return sp.coo_array((np.ones(rows.size, np.int8), (p[rows], q[cols])), shape=(n, n))


def n_components(rows, cols, n):
    """The number of strong components, by SciPy."""
    arcs = sp.coo_array((np.ones(rows.size, np.int8), (rows, cols)), shape=(n, n))
    return sp.csgraph.connected_components(arcs, directed=True, connection="strong")[0]


def coupled(rng, sizes=SIZES, shares=SHARES):
    """A matrix of coupled pieces, and how many blocks it has."""
    rows, cols, spans, n = [], [], [], 0
    size = int(rng.choice(sizes, p=np.array(shares[: len(sizes)]) / sum(shares[: len(sizes)])))
    for _ in range(rng.integers(2, 7)):
        make = PIECES[rng.integers(len(PIECES))]
        i, j = make(rng, int(rng.integers(max(2, size // 2), 2 * size)))
        rows.append(i + n), cols.append(j + n), spans.append((n, int(i.max()) + 1))
        n += spans[-1][1]
    for _ in range(rng.integers(0, 8)):
        (a, k), (b, m) = (spans[rng.integers(len(spans))] for _ in "ab")
        rows.append([a + rng.integers(k)]), cols.append([b + rng.integers(m)])
    rows, cols = np.concatenate(rows), np.concatenate(cols)
    return arrange(rng, rows, cols, n, rng.integers(5)), n_components(rows, cols, n)


def every_digraph(rng, n, order=3):
    """All digraphs of n vertices in one matrix, arcs to later ones between them, and its blocks."""
    places = list(itertools.permutations(range(n), 2))
    numbers = np.arange(1 << len(places))
    size = n * numbers.size
    rows, cols = [np.arange(size)], [np.arange(size)]
    for bit, (v, w) in enumerate(places):
        here = n * numbers[numbers >> bit & 1 == 1]
        rows.append(here + v), cols.append(here + w)
    later = n * rng.integers(numbers[:-1] + 1, numbers.size)
    rows.append(n * numbers[:-1] + rng.integers(n, size=later.size))
    cols.append(later + rng.integers(n, size=later.size))
    rows, cols = np.concatenate(rows), np.concatenate(cols)
    return arrange(rng, rows, cols, size, order), n_components(rows, cols, size)


def fault(A, form, want):
    """What is wrong with a block form in host memory, or None; is_block_form is asked last."""
    C = sp.coo_array(A)
    place = np.empty((2, C.shape[0]), np.int64)
    place[0, form.row_perm] = place[1, form.col_perm] = np.arange(C.shape[0])
    i, j = place[0, C.row], place[1, C.col]
    sides = (form.row_blocks, i), (form.col_blocks, j)
    block = [np.searchsorted(ends, k, "right") for ends, k in sides]
    below, diagonal = int((block[0] > block[1]).sum()), np.unique(i[i == j]).size
    if form.n_blocks != want or below or diagonal < C.shape[0]:
        zeros = C.shape[0] - diagonal
        return f"{form.n_blocks} blocks for {want}, {below} entries below, {zeros} zero pivots"
    return None if sm.is_block_form(A, form) else "is_block_form says no"


def find_here(A, rng):
    """The form by one or two workers, at times of a matching of another engine."""
    given = {}
    if rng.integers(3) == 0:
        method = str(rng.choice(["hopcroft_karp", "pothen_fan", "push_relabel"]))
        given["matching"] = sm.maximum_transversal(A, method=method)
    return sm.block_triangular_form(A, workers=int(rng.integers(1, 3)), **given)


def find_over_ranks(comm):
    """The form over ranks, which have rows of the same number or of any, at times as if large."""
    from sparsematch._engines.mpi.core import host

    usual = host.GATHERED

    def find(A, rng):
        n, size = A.shape[0], comm.size
        ends = np.sort(rng.integers(0, n + 1, size - 1)), np.arange(1, size) * n // size
        host.GATHERED = (0, usual)[rng.integers(2)]
        starts = [0, *ends[rng.integers(2)].tolist(), n]
        part = sp.csr_array(A)[starts[comm.rank] : starts[comm.rank + 1]]
        return sm.block_triangular_form(sm.DistributedCSR.from_local(comm, part)).gather()

    return find
