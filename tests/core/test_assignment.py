"""The core's least-cost matching: every one of its steps, against brute force and by its duals.

Small matrices would be done before its later steps begin; so their budgets are set.
"""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch._engines.cpu import _core

pytestmark = pytest.mark.asan

#: Time for searches one by one, and that from which they or rounds are given up for an auction.
LIMITS = {"as set": None, "forest": (0, np.inf), "auction": (0, 0)}


def solve(A, limits=None, workers=1):
    """Row mates, column mates, row duals, column duals of a CSR matrix of costs."""
    n_rows, n_cols = A.shape
    mates, duals = np.empty(n_rows + n_cols, A.indices.dtype), np.empty(n_rows + n_cols)
    _core.least_cost((n_cols, A.indptr, A.indices), A.data, mates, duals, False, workers, limits)
    return *np.split(mates, [n_rows]), *np.split(duals, [n_rows])


def check(A, limits=None, workers=1):
    """Fail unless duals prove a matching of least cost; return its size and cost."""
    row_mate, col_mate, u, v = solve(A, limits, workers)
    rows, cols = np.flatnonzero(row_mate >= 0), np.flatnonzero(col_mate >= 0)
    assert np.array_equal(col_mate[row_mate[rows]], rows)
    assert np.array_equal(row_mate[col_mate[cols]], cols)
    C = A.tocoo()
    slack = C.data - u[C.row] - v[C.col]
    pairs = row_mate[C.row] == C.col
    near = 1e-12 * max([1, *abs(u), *abs(v), *abs(A.data)])
    assert pairs.sum() == rows.size
    assert slack.min(initial=0) >= -near
    assert slack[pairs].max(initial=0) <= near
    for dual, mate in ((u, row_mate), (v, col_mate)):
        assert dual[mate < 0].min(initial=np.inf) >= dual.max(initial=-np.inf) - near
    return rows.size, C.data[pairs].sum()


def small_matrices(shape, values):
    """All matrices of a shape whose entries are absent or of a few costs."""
    n = shape[0] * shape[1]
    for chosen in itertools.product((np.nan, *values), repeat=n):
        D = np.array(chosen).reshape(shape)
        i, j = np.nonzero(~np.isnan(D))
        yield sp.csr_array((D[i, j], (i, j)), shape=shape), D


def brute_force(D):
    """The largest number of pairs, and the least cost with as many."""
    wide = D if D.shape[0] <= D.shape[1] else D.T
    best = (0, 0.0)
    for cols in itertools.permutations(range(wide.shape[1]), wide.shape[0]):
        values = wide[np.arange(len(cols)), cols]
        values = values[~np.isnan(values)]
        best = min(best, (-values.size, values.sum()))
    return -best[0], best[1]


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (2, 3), (3, 2), (3, 3)])
def test_all_small_matrices(shape, limits):
    """Of two costs, and of none; of three by three those of one cost or none."""
    values = (1.0, 3.0) if shape != (3, 3) else (2.0,)
    for A, D in small_matrices(shape, values):
        assert check(A, limits) == brute_force(D)
        if len(values) == 1:
            assert check(A, limits, workers=3) == brute_force(D)


def random_costs(rng, kind, n):
    if kind == "ties":
        return rng.integers(0, 3, n) * np.log(2.0)
    if kind == "sums":
        return -np.exp(5 * rng.standard_normal(n))
    if kind == "units":
        return -(10.0 ** rng.uniform(-12, 12, n))
    return 5 * rng.standard_normal(n)


def chain(n, rng):
    """Blocks of two, each coupled with the next."""
    i, a = np.arange(n), np.arange(0, n - 1, 2)
    return np.r_[i, a, a + 1, a[1:]], np.r_[i, a + 1, a, a[1:] - 1], (n, n)


def triangle(n, rng):
    i = np.repeat(np.arange(n), 3)
    j = np.minimum(n - 1, i + rng.integers(1, n, i.size))
    return np.r_[np.arange(n), i], np.r_[np.arange(n), j], (n, n)


def blocks(n, rng):
    i = np.repeat(np.arange(n), 4)
    return np.r_[i, np.arange(n)], np.r_[i // 8 * 8 % n + rng.integers(0, 8, i.size), i[::4]], None


def scattered(n, rng):
    i = np.repeat(np.arange(n), 4)
    return np.r_[i, np.arange(n)], np.r_[rng.integers(0, n, i.size), rng.permutation(n)], (n, n)


def wide(n, rng):
    i, j, _ = scattered(n, rng)
    return i, j + rng.integers(0, 5, j.size), (n, n + 4)


def deficient(n, rng):
    """Rows and columns without entries, and many rows that share few columns."""
    i, j = rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n)
    j[i > n // 2] %= n // 4
    return i, j, (n + 2, n + 3)


def large_blocks(n, rng):
    """Three of them, and a column without entries: a block without rows."""
    i, a = np.repeat(np.arange(n), 2), n // 3 + 1
    j = np.minimum(n - 1, i // a * a + rng.integers(0, a, i.size))
    return np.r_[i, np.arange(n)], np.r_[j, np.arange(n)], (n, n + 1)


FAMILIES = (chain, triangle, blocks, scattered, wide, deficient, large_blocks)


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("family", FAMILIES)
def test_families(family, limits):
    """Natural, transposed and scrambled: proved by duals, and of one cost."""
    rng = np.random.default_rng(61)
    for kind in ("ties", "sums", "units", "normal"):
        for n in (8, 40, 300, 1500):
            i, j, shape = family(n, rng)
            shape = shape or (max(i) + 1, max(j) + 1)
            A = sp.csr_array(sp.coo_array((np.ones(len(i)), (i, j)), shape=shape))
            A.data = random_costs(rng, kind, A.nnz)
            size, cost = check(A, limits)
            for workers in (2, 5):
                assert check(A, limits, workers) == (size, pytest.approx(cost, rel=1e-12))
            assert check(sp.csr_array(A.T), limits) == (size, pytest.approx(cost, rel=1e-12))
            p, q = (rng.permutation(n) for n in A.shape)
            assert check(sp.csr_array(A[p][:, q]), limits) == (size, pytest.approx(cost, rel=1e-12))
