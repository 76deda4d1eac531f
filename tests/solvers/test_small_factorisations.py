"""Factorisations of all small patterns beside dense NumPy, however the matrix is stored.

The core reads columns and rows as they are; what is stored otherwise is converted first, and must
come to the same.
"""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch import solvers

PATTERNS = [
    pattern
    for bits in range(1, 512)
    if (pattern := np.array([bits >> k & 1 for k in range(9)], bool).reshape(3, 3)).any()
    and any(all(pattern[k, p[k]] for k in range(3)) for p in itertools.permutations(range(3)))
]


def coupled(rng, sizes):
    """Return a pattern of full blocks in the natural order, and some entries above them."""
    n = sum(sizes)
    pattern = np.triu(rng.random((n, n)) < 0.3)
    for end, m in zip(np.cumsum(sizes), sizes, strict=True):
        pattern[end - m : end, end - m : end] = True
    return pattern


def filled(rng, pattern, kind):
    """Return values on a pattern: units that differ by rows, so that pivots move."""
    D = rng.standard_normal(pattern.shape)
    if kind == "complex":
        D = D + 1j * rng.standard_normal(pattern.shape)
    return np.where(pattern, D * 10.0 ** rng.integers(-3, 4, (len(D), 1)), 0)


def matrix_of(D, pattern, form):
    """Return a matrix with all entries of the pattern."""
    rows, cols = np.nonzero(pattern)
    return sp.coo_array((D[rows, cols], (rows, cols)), shape=D.shape).asformat(form)


def check_solutions(lu, D, rng):
    """Solve in all orders, an easy right-hand side first; whole columns must agree bit by bit."""
    n = len(D)
    for trans, M in (("N", D), ("T", D.T), ("H", D.conj().T)):
        for b in (np.zeros(n), np.eye(n)[0], rng.standard_normal(n)):
            b = b.astype(D.dtype)
            x = lu.solve(b, trans)
            error = np.abs(M @ x - b).max(initial=0)
            assert error <= 1e-13 * (np.abs(M) @ np.abs(x) + np.abs(b)).max(initial=0)
            np.testing.assert_array_equal(x, lu.solve(b[:, np.newaxis], trans)[:, 0])


def is_regular(D):
    """Tell whether rows scaled alike are far from dependent."""
    largest = np.abs(D).max(axis=1, keepdims=True)
    return bool((largest > 0).all()) and np.linalg.cond(D / largest) < 1e6


@pytest.mark.parametrize("form", ["csc", "csr"])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_other_values_by_any_storage(kind, form):
    """Of one pattern in three: the others have other formats or types."""
    rng = np.random.default_rng(5)
    extra = [coupled(rng, sizes) for sizes in [(2, 2), (1, 3, 1), (3, 1, 2), (4, 3)] * 4]
    shift = ["real csc", "real csr", "complex csc", "complex csr"].index(f"{kind} {form}")
    refactorised = 0
    for pattern in PATTERNS[shift::3] + extra:
        first, second = (filled(rng, pattern, kind) for _ in range(2))
        if not (is_regular(first) and is_regular(second)):
            continue
        as_it_is, converted = (
            solvers.splu(matrix_of(first, pattern, stored)) for stored in (form, "coo")
        )
        check_solutions(as_it_is, first, rng)
        new = matrix_of(second, pattern, form)
        as_it_is.refactorise(new.data if refactorised % 2 else new)
        converted.refactorise(matrix_of(second, pattern, "coo"))
        np.testing.assert_array_equal(as_it_is.row_perm, converted.row_perm)
        b = rng.standard_normal(len(second)).astype(second.dtype)
        np.testing.assert_array_equal(as_it_is.solve(b), converted.solve(b))
        check_solutions(as_it_is, second, rng)
        refactorised += 1
    assert refactorised > 40


@pytest.mark.parametrize("form", ["csc", "csr"])
def test_entries_in_any_order(form):
    """Lists that do not ascend, and entries in parts: factors are those of the lists in order."""
    rng = np.random.default_rng(6)
    for pattern in PATTERNS:
        D = filled(rng, pattern, "real")
        for repeats, index in itertools.product((1, 2), (np.int32, np.int64)):
            ordered = matrix_of(D, pattern, form)
            lists = np.repeat(np.arange(3), np.diff(ordered.indptr))
            order = np.lexsort((rng.random(repeats * lists.size), np.tile(lists, repeats)))
            data = np.tile(ordered.data / repeats, repeats)[order]
            arrays = data, np.tile(ordered.indices, repeats)[order], repeats * ordered.indptr
            A = type(ordered)((data, *(side.astype(index) for side in arrays[1:])), shape=(3, 3))
            A.indptr, A.indices = (getattr(A, side).astype(index) for side in ("indptr", "indices"))
            lu, expected = solvers.splu(A), solvers.splu(ordered)
            for scale in (1, 3):
                b = rng.standard_normal(3)
                np.testing.assert_array_equal(lu.solve(b), expected.solve(b))
                lu.refactorise(scale * A.data)
                expected.refactorise(scale * ordered.data)
            np.testing.assert_array_equal(solvers.spsolve(A, b), solvers.spsolve(ordered, b))
            np.testing.assert_array_equal(A.indices, arrays[1])
            np.testing.assert_array_equal(A.data, data)


def test_solutions_by_large_factors_are_refined_after_easy_ones():
    """Wilkinson's matrix: entries of U double. Easy solutions come first; the error is 3e-13."""
    n = 20
    D = np.eye(n) - np.tril(np.ones((n, n)), -1)
    D[:, -1] = 1
    lu = solvers.splu(sp.csc_array(D))
    for b in (np.zeros(n), np.zeros(n), np.random.default_rng(1).standard_normal(n)):
        x = lu.solve(b)
    size = (np.abs(D) @ np.abs(x) + np.abs(b)).max()
    assert np.abs(D @ x - b).max() < 2e-15 * size
    assert np.abs(D @ lu.solve(b, check=False) - b).max() > 1e-14 * size


def test_factors_solve_near_the_ends_of_the_range():
    """What would overflow or vanish in between does not."""
    A = sp.csc_array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
    lu = solvers.splu(A)
    for scale in (1.0, 1.0, 1e-307, 1e306):
        b = scale * np.array([5.0, 8.0, 8.0])
        np.testing.assert_allclose(lu.solve(b), np.full(3, scale), rtol=1e-14)
    assert not np.isfinite(lu.solve(np.array([np.inf, 1.0, 1.0]))).all()
