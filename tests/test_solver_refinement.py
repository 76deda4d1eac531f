"""Solutions are measured where that costs little, and refined where they are poor."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch import solvers
from sparsematch.solvers._refinement import Refinement
from test_solvers import turned


def backward_error(A, x, b):
    return (np.abs(A @ x - b) / (abs(A) @ np.abs(x) + np.abs(b))).max()


def growing(n=200, kind=float, seed=0):
    """Diagonal entries just large enough to be kept as pivots: digits are lost to growth."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=0.01, random_state=rng, format="csc")
    cycle = sp.csc_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n))
    A = sp.csc_array(A + cycle + 0.02 * sp.eye_array(n, format="csc")).astype(kind)
    A.data *= np.exp(1j * rng.random(A.nnz)) if kind is complex else 1
    return A


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_a_poor_solution_is_refined(kind, trans):
    A = growing(kind=kind)
    B = turned(A, trans)
    lu = solvers.splu(A, matching=np.arange(200))
    b = np.random.default_rng(1).standard_normal((200, 3)) * (1 + 1j)
    poor = lu._solve(b, np.complex128, trans)
    assert backward_error(B, poor, b) > 1e-13
    for right in (b, b[:, 0]):
        assert backward_error(B, lu.solve(right, trans), right) < 1e-15
    lu.refactorise(3 * A)
    assert backward_error(3 * B, lu.solve(b, trans), b) < 1e-15


def test_only_poor_ones_are_solved_with_again():
    A, solved = sp.csc_array(np.array([[4.0, 1], [1, 3]])), []
    refinement = Refinement(solvers.splu(A)._factors.plan.pattern.graph, A.data)
    exact = np.linalg.inv(A.toarray())
    b = np.eye(2)
    x = exact @ b
    x[:, 1] *= 1 + 1e-9

    def solve(r):
        solved.append(r.shape)
        return exact @ r

    assert np.allclose(refinement.refine(x, b, "N", solve, 4), exact, rtol=1e-15)
    assert solved == [(2, 1)]
    assert "N" in refinement.asked, "one that was poor: the next may be"
    refinement.refine(exact.copy(), b, "T", solve, 4)
    assert refinement.asked == {"N", "H"}, "one that was good, and measuring costs much"
    refinement.refine(exact.copy(), b, "H", solve, 400)
    assert refinement.asked == {"N", "H"}, "measuring costs little"
    refinement.renew(2 * A.data)
    assert refinement.asked == set("NTH")


def test_no_step_that_makes_it_worse():
    A = sp.csc_array(np.array([[4.0, 1], [1, 3]]))
    refinement = Refinement(solvers.splu(A)._factors.plan.pattern.graph, A.data)
    x = np.array([0.3, 0.3])
    out = refinement.refine(x.copy(), np.ones(2), "N", lambda r: r + np.inf, 4)
    assert np.array_equal(out, x)


def test_the_values_measured_against_are_copies():
    A = growing()
    lu, b = solvers.splu(A, matching=np.arange(200)), np.ones(200)
    before = A.copy()
    A.data[:] = 7
    assert backward_error(before, lu.solve(b), b) < 1e-15
