"""A Markowitz search orders unsymmetric blocks by their values, as bases of linear programs."""

import numpy as np
import pytest
import scipy.sparse as sp

import orders
from calls import grid, limited
from sparsematch import solvers
from test_solver_order import saddle_point

SHARE = 0.25  # of the largest in its column that a pivot has
FULL = 0.5  # share of the places left that are entries, above which their order is as given


def order(A, work=np.inf, active=np.inf):
    """The orders of the rows and columns, and the entries of L + U up to each column, or None."""
    A = sp.csc_array(A)
    A.sort_indices()
    return orders.markowitz_order(A, work, active)[0]


def check(A, found):
    """Against elimination as defined: pivots are large, entries are counted, L U is the matrix."""
    rows, cols, stored = found
    n = A.shape[0]
    assert sorted(rows) == sorted(cols) == list(range(n))
    A = sp.coo_array(A)
    filled = np.zeros(A.shape, bool)
    filled[A.row, A.col] = True
    filled = filled[np.ix_(rows, cols)]
    B = A.toarray()[np.ix_(rows, cols)]
    L, U = np.eye(n, dtype=B.dtype), B.copy()
    k = 0
    while filled[k:, k:].sum() < FULL * (n - k) ** 2:
        assert abs(U[k, k]) >= SHARE * (1 - 1e-9) * abs(U[k:, k]).max() > 0
        L[k + 1 :, k] = U[k + 1 :, k] / U[k, k]
        U[k + 1 :] -= np.outer(L[k + 1 :, k], U[k])
        filled[k + 1 :, k + 1 :] |= np.outer(filled[k + 1 :, k], filled[k, k + 1 :])
        k += 1
    assert np.allclose(L[:, :k] @ U[:k, :k], B[:, :k])
    filled[k:, k:] = True
    assert np.cumsum(filled.sum(axis=0)).tolist() == stored.tolist()


def small_patterns():
    """All of 3 x 3, and some of 4 x 4."""
    for bits in range(1 << 9):
        yield 3, bits
    for bits in np.random.default_rng(3).integers(1 << 16, size=300):
        yield 4, int(bits)


@pytest.mark.parametrize("seed", [0, 1])
def test_all_small_patterns(seed):
    """With zeros and ties among the values; without an order, there is no inverse."""
    rng = np.random.default_rng(seed)
    for n, bits in small_patterns():
        places = [k for k in range(n * n) if bits >> k & 1]
        values = rng.choice([0.0, 1.0, -1.0, 2.0, 8.0], len(places))
        A = sp.coo_array((values, np.divmod(places, n)), shape=(n, n))
        found = order(A)
        if found is None:
            assert np.linalg.matrix_rank(A.toarray()) < n
        else:
            check(A, found)


def basis(n, seed):
    """Few entries a column, in rows of very unlike lengths, as a basis of a linear program."""
    rng = np.random.default_rng(seed)
    rows = (n * rng.random((3, n)) ** 2).astype(int)
    A = sp.coo_array((rng.choice([-1.0, 1.0], 3 * n), (rows.ravel(), np.tile(np.arange(n), 3))))
    A.resize(n, n)
    return sp.csc_array(A + sp.eye_array(n, format="csc")[:, rng.permutation(n)])


@pytest.mark.parametrize("values", [float, complex])
def test_a_basis_of_a_linear_program(values):
    A = basis(120, seed=5).astype(values)
    if values is complex:
        A.data *= np.exp(1j * np.arange(A.nnz))
    check(A, order(A))


def test_a_long_search_asks_for_signals():
    """Every 20 ms, where it takes more than five times as long."""
    A = sp.csc_array(grid(100) + sp.eye_array(10_000))
    A.data = np.random.default_rng(59).normal(size=A.nnz)
    _, polls = orders.markowitz_order(A)
    assert polls >= 3


def test_limits_end_the_search():
    A = basis(120, seed=5)
    assert order(A, work=A.nnz) is None
    mesh = sp.csc_array(grid(30) + sp.eye_array(900))
    assert order(mesh) is not None
    assert order(mesh, active=mesh.nnz / 2) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_ends(bad):
    """The solvers refuse it before; the search must only come to an end."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        A = basis(30, seed=9)
        A.data[rng.integers(A.nnz, size=2)] = bad
        found = order(A)
        assert found is None or sorted(found[0]) == sorted(found[1]) == list(range(30))
    with pytest.raises(ValueError, match="finite"):
        solvers.splu(A)


def entries(A, gain):
    """Entries of the factors, where a search of a second is expected to save so much time."""
    lu = solvers.splu(A, solver=limited(by_values=(1.0, 0, gain)))
    b = np.arange(1.0, A.shape[0] + 1)
    for scale in (1, 2):  # the order serves new values
        assert np.allclose(A @ lu.solve(b) * scale, b, rtol=1e-9)
        lu.refactorise(2 * A)
    return lu.nnz


@pytest.mark.parametrize("values", [float, complex])
def test_a_block_that_would_fill_is_searched(values):
    A = basis(600, seed=0).astype(values)
    few = entries(A, 1e9)
    assert few < 0.6 * entries(A, 0.0)
    found = order(A)
    assert few <= 1.2 * found[2][-1]


def test_a_saddle_point_is_not_searched():
    """A matching has spoilt its symmetric pattern."""
    A = saddle_point(50)
    assert entries(A, 1e9) == entries(A, 0.0)
