"""What is called singular is so in all units, whatever values a matrix was analysed with.

The judge is exact: of all scalings of rows and columns the least condition in the maximum norm is
the largest eigenvalue of |A^-1| |A| (Bauer, Optimally scaled matrices, Numer. Math. 5, 1963), by
rational numbers.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch import solvers
from sparsematch.solvers import SingularMatrixError

pytestmark = pytest.mark.filterwarnings("ignore::sparsematch.solvers.IllConditionedWarning")

PIVOTING = "auto", "structure", "product"
SIGNS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])


def inverse(rows):
    """Return the inverse of a matrix of rational numbers, or None."""
    n = len(rows)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(rows)]
    for k in range(n):
        if (p := next((i for i in range(k, n) if rows[i][k]), None)) is None:
            return None
        rows[k], rows[p] = rows[p], rows[k]
        pivot = [x / rows[k][k] for x in rows[k]]
        rows = [[x - row[k] * y for x, y in zip(row, pivot, strict=True)] for row in rows]
        rows[k] = pivot
    return [row[n:] for row in rows]


def best_condition(M):
    """Return the condition in the best units, from above, mostly within a factor of a few."""
    A = [[Fraction(float(x)) for x in row] for row in M]
    if (B := inverse(A)) is None:
        return np.inf
    # powers of a matrix without negative entries, in units of its own, come to its eigenvalue
    x = [Fraction(1)] * len(A)
    for _ in range(30):
        y = [sum(abs(a) * v for a, v in zip(row, x, strict=True)) for row in A]
        y = [sum(abs(b) * v for b, v in zip(row, y, strict=True)) for row in B]
        ratio = max(v / u for u, v in zip(x, y, strict=True))  # Collatz, Wielandt: from above
        x = [Fraction(2) ** (v.numerator.bit_length() - v.denominator.bit_length()) for v in y]
    return float(min(ratio, Fraction(10) ** 300))


def stored(M, pattern):
    rows, cols = np.nonzero(pattern)
    return sp.coo_array((M[rows, cols], (rows, cols)), shape=M.shape).tocsc()


def again(old, new, **how):
    try:
        lu = solvers.splu(old, **how)
    except SingularMatrixError:
        return
    lu.refactorise(new)


def check(old, new, pattern, **how):
    """Factorise values by all three calls: what is well conditioned is not called singular."""
    A, B = stored(old, pattern), stored(new, pattern)
    for factorise in (
        lambda: solvers.splu(B, **how),
        lambda: solvers.analyse(A, **how).factorise(B),
        lambda: again(A, B, **how),
    ):
        try:
            factorise()
        except SingularMatrixError:
            assert best_condition(new) > 1e10


@pytest.mark.parametrize("pivoting", PIVOTING)
def test_all_small_matrices_of_two_magnitudes(pivoting):
    for exponents in itertools.product((0, -40), repeat=9):
        new = SIGNS * 10.0 ** np.reshape(exponents, (3, 3))
        check(SIGNS, new, SIGNS != 0, pivoting=pivoting)


@pytest.mark.parametrize("pivoting", PIVOTING)
@pytest.mark.parametrize("kinds", [("wide", "wide"), ("zeros", "wide"), ("zeros", "close")])
def test_values_of_other_magnitudes_than_were_analysed(pivoting, kinds):
    rng = np.random.default_rng(0)
    values = {
        "wide": lambda k: rng.choice([-1, 1], k) * 10.0 ** rng.uniform(-140, 140, k),
        "zeros": lambda k: rng.integers(-2, 3, k).astype(float),
        "close": lambda k: rng.choice([0.0101, 1.0, -1.0, 0.0099], k),
    }
    for _ in range(150):
        n = int(rng.integers(3, 9))
        pattern = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.6)
        old, new = np.zeros((2, n, n))
        for M, kind in zip((old, new), kinds, strict=True):
            M[pattern] = values[kind](pattern.sum())
        check(old, new, pattern, pivoting=pivoting)


@pytest.mark.parametrize("solver", ["auto", "superlu"])
def test_a_block_that_is_hard_to_scale_by_any_solver(solver):
    rng, n = np.random.default_rng(295), 20
    pattern = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool) | (rng.random((n, n)) < 0.15)
    pattern[-1, 0] = True  # all are one block
    signs, exponents = rng.choice([-1, 1], (n, n)), rng.uniform(-100, 100, (n, n))
    M = np.where(pattern, signs * 10.0**exponents, 0)
    check(np.where(pattern, 1 + np.eye(n), 0), M, pattern, solver=solver)


def test_stored_zeros_do_not_scale_what_is_not_zero():
    n, seen = 13, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pattern = np.eye(n, dtype=bool)
        pattern[np.arange(n)[:, np.newaxis], rng.integers(0, n, (n, 3))] = True
        try:
            lu = solvers.splu(stored(rng.integers(-2, 3, (n, n)), pattern), pivoting="product")
        except SingularMatrixError:
            continue
        if lu.n_blocks == 1:
            factors = lu._factors.numbers.triangles[-2:]
            assert all(of.max() <= 2.0**20 * of.min() for of in factors)
            seen += 1
    assert seen > 5
