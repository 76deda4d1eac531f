"""Cases that people asked about, or that went wrong once: what is said of them, in words.

Small builders of the same kinds; the right answers are planted, or known from the model.
"""

import dataclasses
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch import Dependence, NumericalDefects, explain_singularity, solvers

FEED = 1 / 0.2777778  # what people type for 3.6


def test_a_balance_in_two_units_that_are_equal_to_seven_digits():
    """Nonsingular, but two rows are named, by both calls."""
    A = sp.csc_array(
        [
            [1.0, 1, -1, 0, 0],
            [FEED, 3.6, -3.6, 0, 0],
            [0, 0, 0.4, -1, 0],
            [0, 0, 1, -1, -1],
            [1, -2, 0, 0, 0],
        ]
    )
    rows = ["feed [kg/s]", "feed [t/h]", "split", "rest", "ratio"]
    why = explain_singularity(A, rows, numeric=True)
    assert not why.is_numerically_singular
    for text in (str(why), str(solvers.diagnose(A, row_names=rows))):
        assert "Nonsingular with these values: 5 equations, 5 variables, rank 5, but so" in text
        assert "Nearly dependent: 2 equations, one a multiple of the other (to 7 digits)" in text
        assert "\n  feed [t/h] is 3.6 * feed [kg/s]\n" in text
    (pair,) = why.to_dict()["numbers"]["near_equations"]
    assert pair["indices"] == [0, 1]


@pytest.mark.parametrize("share", [1e-8, 1e-7, 3e-7])
def test_what_is_nearly_dependent_is_named(share):
    rng = np.random.default_rng(1)
    A = 3 * np.eye(50) + np.where(rng.random((50, 50)) < 0.1, rng.standard_normal((50, 50)), 0)
    A[7] = A[11] - 0.5 * A[30] + share * A[7]
    found = explain_singularity(sp.csc_array(A), numeric=True).numbers
    assert (found.rank, found.is_complete) == (50, True)
    assert [one.indices.tolist() for one in found.near_equations] == [[7, 11, 30]]
    assert share / 10 < found.near_equations[0].residual < 10 * share


def turning_point(n):
    """The Jacobian of u'' + lam exp(u) = 0 where it is singular, by Newton's method."""
    h = 1 / (n + 1)
    x = np.arange(1, n + 1) * h
    T = (-2 * np.eye(n) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)) / h**2
    u, w, lam = 1.2 * np.sin(np.pi * x), np.sin(np.pi * x), 3.5
    known = w.copy()
    for _ in range(40):
        e = np.exp(u)
        J = T + np.diag(lam * e)
        rows = [J, np.zeros((n, n)), e[:, None]], [np.diag(lam * e * w), J, (e * w)[:, None]]
        Z = np.block([*rows, [np.zeros((1, n)), known[None], np.zeros((1, 1))]])
        d = np.linalg.solve(Z, np.r_[T @ u + lam * e, J @ w, known @ w - known @ known])
        u, w, lam = u - d[:n], w - d[n:-1], lam - d[-1]
    return sp.csc_array(T + np.diag(lam * np.exp(u)))


def test_families_do_not_hide_the_names():
    n = 60
    rows, cols = ([f"{name}[{k}]" for k in range(n)] for name in ("balance", "u"))
    text = str(explain_singularity(turning_point(n), rows, cols, numeric=True))
    dependent, _, free = text.partition("Free")
    assert "  balance[29] + balance[30] + 0.9969 * balance[28] + 0.9969 * balance[31]" in text
    assert "sum of" not in text
    assert "(best a large factor)" in dependent
    assert "(best a large change)" in free
    assert "as at a turning point or a bifurcation." in text


def test_a_full_vector_is_mostly_a_few_columns():
    n = 40
    A = np.eye(n) - np.diag(np.full(n - 1, 0.3), 1)
    A[-1] = 0
    A[-1, [0, -1]] = 1, -(0.3 ** (n - 1))
    text = str(explain_singularity(sp.csc_array(A), numeric=True))
    assert ": column 39 by 1; " in text
    assert "column 34 by 0.00243 and 34 more,\n  all below 1e-3\n" in text
    assert "(best a large change)" in text


def test_a_text_takes_no_memory_for_members_that_it_does_not_show():
    """Fifty combinations of 40,000 variables each: dense, they are 16 MB."""
    n, d = 40_000, 50
    rng = np.random.default_rng(0)
    both = [
        tuple(Dependence(side, np.arange(n), rng.uniform(-1, 1, n), 0.0) for _ in range(d))
        for side in ("rows", "columns")
    ]
    why = explain_singularity(sp.eye_array(n, format="csr"), numeric=True)
    why = dataclasses.replace(why, numbers=NumericalDefects(n, *both, (), 1e-10))
    tracemalloc.start()
    text = str(why)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text.count("40,000 equations, each of which follows from the others") == 3
    assert most < 8e6


@pytest.mark.parametrize("seed", range(5))
def test_chains_over_eight_orders(seed):
    """All may shift, and no more is named, though singular values go down to the tolerance."""
    rng = np.random.default_rng([8, seed])
    n = int(rng.integers(300, 2600))
    place = rng.permutation(n)
    W = sp.coo_array((10 ** rng.uniform(-8, 0, n - 1), (place[:-1], place[1:])), shape=(n, n))
    W = W + W.T
    A = sp.csc_array(sp.diags_array(W.sum(axis=1)) - W)
    why = explain_singularity(A, numeric=True)
    for claims in (why.numbers.equations, why.numbers.variables):
        assert [claim.size for claim in claims] == [n]
        assert claims[0].is_constant
    assert "may all shift by one amount" in str(why)


def elastic_body(m):
    """The stiffness of a body in the plane without supports: linear triangles, displaced points."""
    rng = np.random.default_rng(0)
    x, y = np.meshgrid(np.linspace(0, 1.3, m), np.linspace(0, 0.7, m))
    points = np.c_[x.ravel(), y.ravel()] + rng.uniform(-0.01, 0.01, (m * m, 2))
    corners = [i * m + j for i in range(m - 1) for j in range(m - 1)]
    D = 210e9 / 0.91 * np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 0.35]])
    K = np.zeros((2 * m * m,) * 2)
    for t in [t for a in corners for t in ([a, a + 1, a + m], [a + 1, a + m + 1, a + m])]:
        p, B = points[t], np.zeros((3, 6))
        for k in range(3):
            (dx, dy) = p[(k + 2) % 3] - p[(k + 1) % 3]
            B[0, 2 * k] = B[2, 2 * k + 1] = -dy
            B[1, 2 * k + 1] = B[2, 2 * k] = dx
        d = [2 * q + s for q in t for s in (0, 1)]
        K[np.ix_(d, d)] += B.T @ D @ B / np.linalg.det(np.c_[np.ones(3), p]) / 2
    return sp.csc_array(K)


def test_shifts_of_a_rigid_body_are_sparse():
    """Of two shifts and a rotation the shifts are named as such, which share no pivots."""
    m = 7
    names = [f"{s}{q}" for q in range(m * m) for s in ("ux", "uy")]
    why = explain_singularity(elastic_body(m), names, names, numeric=True)
    for claims in (why.numbers.equations, why.numbers.variables):
        first, second, rotation = claims
        for shift, members in ((first, range(0, 98, 2)), (second, range(1, 98, 2))):
            assert shift.is_constant
            assert shift.indices.tolist() == list(members)
        assert rotation.size > 90
    rows, cols = why.numbers.one_choice
    K = elastic_body(m).toarray()
    K[rows] = 0
    K[rows, cols] = 1e11
    assert np.linalg.cond(K) < 1e6


def first_ten(A, rows=None, cols=None):
    return "\n".join(
        str(explain_singularity(sp.csc_array(A), rows, cols, numeric=True)).splitlines()[:10]
    )


def test_what_people_ask_is_in_the_first_ten_lines():
    """An island beside a node that nothing touches, a body without supports, a pendulum."""
    ends = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [5, 3]])
    W = sp.coo_array((np.r_[50, 48.3, 47, 51.3, 44.4], ends.T), shape=(7, 7))
    A = np.diag((W + W.T).sum(axis=1)) - (W + W.T)
    A[0, 0] += 1  # the reference of the first three
    text = first_ten(A, [f"KCL {k}" for k in range(7)], [f"v{k}" for k in range(7)])
    assert "in no equation: v6\n" in text
    assert "without a reference may all shift by one amount: v3, v4, v5" in text
    names = [f"{s}{q}" for q in range(49) for s in ("ux", "uy")]
    text = first_ten(elastic_body(7), [f"force {name}" for name in names], names)
    assert "2. 49 variables without a reference may all shift by one amount: uy0, uy1, " in text
    pendulum = [[1.0, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, -0.6], [0, 0, 0, 1, 0.8], [0] * 5]
    names = ["speed x", "speed y", "force x", "force y", "length"]
    text = first_ten(pendulum, names, ["der(x)", "der(y)", "der(u)", "der(v)", "lam"])
    assert "1 equation without variables: length\n  to do: differentiate it, if states" in text
    assert "differentiate" not in first_ten(pendulum, names, list("abcde"))


def test_what_the_structure_says_too_is_said_once_or_said_to_be_so():
    text = str(
        explain_singularity(sp.csc_array([[-1.0, 0, -1], [1, 0, 1], [-1, 0, -1]]), numeric=True)
    )
    assert "the rank is 1; the dependences below include the conflicts.\n" in text
    assert "To raise the structural rank by one, " in text
    text = str(explain_singularity(sp.csc_array(np.diag([1.0, 0, 0])), numeric=True))
    assert "the rank is 1, no less.\n" in text
    assert "Dependent" not in text


CALLS = {
    "spsolve": lambda A, **names: solvers.spsolve(A, np.ones(3), **names),
    "splu": solvers.splu,
    "explain_singularity": lambda A, **names: explain_singularity(A, numeric=True, **names),
    "diagnose": solvers.diagnose,
}


@pytest.mark.parametrize("call", CALLS)
def test_all_that_is_not_finite_is_named(call):
    A = sp.csc_array(np.array([[4.0, 1, 0], [1, np.nan, 2], [0, 2, np.inf]]))
    names = {"row_names": ["P2", "P3", "Q3"], "col_names": ["th2", "th3", "v3"]}
    for given, words in (
        (names, "A[P3, th3] is nan, A[Q3, v3] is inf, but values must be finite"),
        ({}, "A[1, 1] is nan, A[2, 2] is inf, but values must be finite"),
    ):
        with pytest.raises(ValueError, match="must be finite") as caught:
            CALLS[call](A, **given)
        assert str(caught.value) == words
    with pytest.raises(ValueError, match=r"A\[0, 9\] is nan and 20 more, but"):
        explain_singularity(sp.csc_array(np.full((1, 30), np.nan)), numeric=True)


def test_a_hundred_missing_equations_do_not_hide_what_the_values_do():
    """Beside 150 variables in no equation, and as many empty equations, an island."""
    n, empty = 40, 150
    rng = np.random.default_rng(2)
    ends = np.arange(9), np.arange(1, 10)
    W = sp.coo_array((rng.uniform(1, 2, 9), ends), shape=(10, 10))
    island = sp.diags_array((W + W.T).sum(axis=1)) - (W + W.T)
    A = sp.block_diag([3 * np.eye(n) + rng.random((n, n)), island, sp.csr_array((empty, empty))])
    why = explain_singularity(sp.csc_array(A), numeric=True)
    assert (why.structural_rank, why.numbers.rank) == (n + 10, n + 9)
    text = str(why)
    assert text.startswith("Structurally singular")
    assert f"With these values the rank is {n + 9}." in text
    assert "10 variables without a reference may all shift by one amount" in text
    assert "Over-determined: 150 equations without variables" in text


def test_what_was_not_looked_at_is_said():
    """Zeros that were dropped may be others elsewhere: not whatever the values."""
    A = sp.csr_array(np.ones((3, 3)))
    A.data[:2] = 0
    A.data[3:5] = 0
    headline = "rank 2 at most, whatever the "
    assert f"{headline}other values." in str(explain_singularity(A, numeric=True))
    B = A.copy()
    B.eliminate_zeros()
    text = str(explain_singularity(B))
    assert f"{headline}values.\nThe values were not looked at: numeric=True looks" in text
    assert "not looked at" not in str(explain_singularity(B, numeric=True))


@pytest.mark.parametrize("seed", range(4))
def test_diagnose_promises_no_digits_that_ones_do_not_get(seed):
    """Units over 24 orders: the solution of ones has elements that are tiny, scaled."""
    rng = np.random.default_rng(seed)
    n = 60
    A = 2 * np.eye(n) + np.where(rng.random((n, n)) < 0.1, rng.standard_normal((n, n)), 0)
    A = sp.csc_array(A * 10 ** rng.uniform(-6, 6, n))
    x = solvers.spsolve(A, A @ np.ones(n))
    true = -np.log10(np.maximum(np.abs(x - 1), 1e-16))
    assert (solvers.diagnose(A).digits <= true + 1.5).all()


@pytest.mark.parametrize("seed", range(4))
def test_an_island_is_named_beside_two_null_vectors_that_are_full(seed):
    """Nothing is proportional: only with one pivot on it and two outside is it a circuit."""
    rng = np.random.default_rng(seed)
    n, k = 37, 44
    tail = np.arange(1, k)
    W = sp.coo_array((rng.uniform(0.5, 2, k - 1), (tail, rng.integers(0, tail))), shape=(k, k))
    W = (W + W.T).toarray()
    couplings = rng.standard_normal((2, n, k)) * (rng.random((2, n, k)) < 0.2)
    couplings -= np.eye(k)[0] * couplings.sum(axis=2, keepdims=True)  # of differences
    left = np.vstack([3 * np.eye(n) + rng.standard_normal((n, n)), couplings[0].T])
    left[:, 0] = left[:, 1] - 2 * left[:, 2]
    left[:, 3] = left[:, 4] + left[:, 5]
    right = np.vstack([couplings[1], np.diag(W.sum(axis=1)) - W])
    found = explain_singularity(sp.csc_array(np.hstack([left, right])), numeric=True).numbers
    assert len(found.equations) == 3
    assert found.equations[0].indices.tolist() == list(range(n, n + k))
    assert [one.size for one in found.variables] == [3, 3, k]
