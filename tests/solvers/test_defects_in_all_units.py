"""What is named vanishes in the user's units, too; chains, islands, noise: cases that went wrong.

The judge shares no code with the package: sets that were planted, residuals in long double with the
largest entries of rows and columns at 1, exact ranks modulo a prime.
"""

import numpy as np
import pytest
import scipy.sparse as sp

import planted
from exact_ranks import exact_rank
from sparsematch import explain_singularity, solvers
from sparsematch._blame.defects import numerical_defects
from suitesparse import find


def maxima_one(A, sweeps=12):
    """Factors of the columns with which, rows scaled, too, all largest entries are 1."""
    B, cols = abs(sp.csr_array(A)), np.ones(A.shape[1])
    for _ in range(sweeps):
        row, col = (1 / np.sqrt(B.max(axis=axis).toarray().ravel()) for axis in (1, 0))
        B = sp.csr_array(sp.diags_array(row) @ B @ sp.diags_array(col))
        cols *= col
    return cols


def false_sets(A, found):
    """Return the sets of rows and of columns that do not vanish with all maxima at 1."""
    return [
        claim
        for claims, of in ((found.equations, A), (found.variables, sp.csc_array(A.T)))
        for claim in claims
        if planted.residual(of, claim.indices, claim.coefficients, maxima_one(of)) > 1e-9
    ]


def supports(claims):
    """The sets that are named."""
    return {frozenset(claim.indices.tolist()) for claim in claims}


def graph_laplacian(n, edges, weights):
    """The Laplacian of a graph without reference."""
    tail, head = edges
    W = sp.coo_array((weights, (tail, head)), shape=(n, n))
    W = W + W.T
    return sp.csc_array(sp.diags_array(W.sum(axis=1)) - W)


@pytest.mark.parametrize(("name", "rows"), [("steam2", 7), ("ex6", 0)])
def test_real_matrices_that_are_singular_are_not_solved_in_silence(name, rows):
    """Of blocks without a pivot that is tiny, or whose condition alone is none to warn of."""
    if (path := find(name)) is None:
        pytest.skip(f"{name}.npz is not there")
    A, rng = sp.lil_array(sp.load_npz(path)), np.random.default_rng(3)
    if rows:
        planted_rows = rng.choice(A.shape[0], rows, replace=False)
        A[planted_rows[0]] = rng.uniform(0.3, 1, (1, rows - 1)) @ A[planted_rows[1:]].toarray()
    A = sp.csc_array(A)
    with pytest.warns(solvers.IllConditionedWarning, match="singular to working precision"):
        x = solvers.spsolve(A, A @ np.ones(A.shape[0]))
    assert np.abs(x - 1).max() > 1


@pytest.mark.parametrize("name", ["hangGlider_2", "adder_dcop_49"])
def test_matrices_that_are_solved_are_not_called_singular(name):
    """Entries down to 1e-128 draw the logarithmic scaling over 49 orders."""
    if (path := find(name)) is None:
        pytest.skip(f"{name}.npz is not there")
    A = sp.csc_array(sp.load_npz(path))
    found = explain_singularity(A, numeric=True).numbers
    assert not found.is_singular
    assert found.is_complete


def test_tiny_entries_do_not_make_rows_equal():
    """Three rows depend; without one of them that has tiny entries beside, two seem to.

    Column 0 is in small units in all rows but these.
    """
    rng = np.random.default_rng(0)
    n = 40
    A = 3 * np.eye(n) + np.where(rng.random((n, n)) < 0.1, rng.uniform(0.5, 1, (n, n)), 0)
    A[:, 0] *= 1e-12
    A[0] = 0
    A[0, :2] = 0.3, 1e-13
    A[2] = A[1] + 0.5 * A[0]
    found = numerical_defects(sp.csc_array(A))
    assert supports(found.equations) == {frozenset({0, 1, 2})}
    assert not false_sets(sp.csc_array(A), found)


@pytest.mark.parametrize("seed", range(8))
def test_noise_brings_no_strangers(seed):
    """Twenty rows depend up to noise of 1e-12: these twenty, no coefficients of 1e-12."""
    rng = np.random.default_rng(seed)
    n = (67, 120, 181)[seed % 3]
    A = 2 * np.eye(n) + np.where(rng.random((n, n)) < 4 / n, rng.standard_normal((n, n)), 0)
    members = rng.choice(n, 20, replace=False)
    A[members[0]] = rng.choice([-1, 1], 19) * 10 ** rng.uniform(-1, 0, 19) @ A[members[1:]]
    A *= 1 + 1e-12 * rng.standard_normal((n, n))
    found = numerical_defects(sp.csc_array(A))
    assert supports(found.equations) == {frozenset(members.tolist())}
    assert not false_sets(sp.csc_array(A), found)


@pytest.mark.parametrize(("n", "orders"), [(400, 4), (900, 6), (1400, 6), (1500, 10)])
def test_chains_over_many_orders(n, orders):
    """Conductances in series without reference: singular values from 1e-18 on without a gap."""
    rng = np.random.default_rng(n)
    place = rng.permutation(n)
    A = graph_laplacian(n, (place[:-1], place[1:]), 10 ** rng.uniform(-orders, 0, n - 1))
    why = explain_singularity(A, numeric=True)
    for claims in (why.numbers.equations, why.numbers.variables):
        assert [claim.size for claim in claims] == [n]
        assert claims[0].is_constant
    assert "may all shift by one amount" in str(why)


def test_two_hundred_islands():
    """Each is a set by itself, whichever blocks it is among."""
    rng = np.random.default_rng(0)
    count, size = 200, 4
    parts = []
    for _ in range(count):
        edges = np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0])
        parts.append(graph_laplacian(size, edges, rng.uniform(0.5, 2, size)))
    order = rng.permutation(count * size)
    A = sp.csc_array(sp.block_diag(parts, format="csr")[order][:, order])
    island = np.argsort(order).reshape(count, size)
    found = numerical_defects(A)
    wanted = {frozenset(members.tolist()) for members in island}
    assert found.is_complete
    assert supports(found.equations) == supports(found.variables) == wanted


def test_a_full_vector_takes_no_longer_than_a_few_decompositions(monkeypatch):
    """The other side of seven planted rows is all columns, over many orders."""
    rng = np.random.default_rng(4)
    n = 180
    A = np.eye(n) + np.where(rng.random((n, n)) < 0.03, rng.standard_normal((n, n)), 0)
    A *= 10.0 ** rng.uniform(-6, 6, n)
    members = rng.choice(n, 7, replace=False)
    A[members[0]] = rng.uniform(0.2, 1, 6) @ A[members[1:]]
    calls = []
    svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda *a, **b: calls.append(a) or svd(*a, **b))
    found = numerical_defects(sp.csc_array(A))
    assert supports(found.equations) == {frozenset(members.tolist())}
    assert len(calls) < 20


def test_ranks_are_those_of_exact_arithmetic():
    """Small matrices of integers, rows and columns in units over twelve orders (powers of two)."""
    rng = np.random.default_rng(3)
    for _ in range(150):
        n = int(rng.integers(3, 9))
        dense = rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.6)
        if rng.random() < 0.7:
            dense[0] = dense[1:].T @ rng.integers(-1, 2, n - 1)
        if sp.csgraph.structural_rank(sp.csr_array(dense)) < n:
            continue
        units = 2.0 ** rng.integers(-20, 21, (2, n))
        A = sp.csc_array(dense * units[0] * units[1][:, None])
        found = numerical_defects(A)
        assert found.rank == exact_rank(dense)
        assert not false_sets(A, found)


def test_regular_matrices_in_three_systems_of_units():
    """None is called singular."""
    rng = np.random.default_rng(5)
    for case in range(60):
        n = int(rng.integers(5, 120))
        A = 2 * np.eye(n) + np.where(rng.random((n, n)) < 4 / n, rng.standard_normal((n, n)), 0)
        if case % 2:
            A = np.roll(A, 1, axis=0)
        assert np.linalg.cond(A) < 1e6
        for orders in (0, 6, 12):
            units = 10 ** rng.uniform(-orders, orders, (2, n))
            B = sp.csc_array(A * units[0] * units[1][:, None])
            assert numerical_defects(B).rank == n


def test_what_is_named_is_not_against_diagnose():
    """A matrix of which `diagnose` expects digits is not called singular."""
    rng = np.random.default_rng(6)
    n = 60
    A = 2 * np.eye(n) + np.where(rng.random((n, n)) < 0.08, rng.standard_normal((n, n)), 0)
    tiny = rng.random((n, n)) < 0.1
    A = np.where(tiny & (A == 0), 10.0 ** -rng.uniform(20, 40, (n, n)), A)
    assert numerical_defects(sp.csc_array(A)).rank == n
    assert solvers.diagnose(sp.csc_array(A)).rank == n


def test_values_are_looked_at_whatever_the_structure():
    """An empty equation and equal ones; multiples that are a structural conflict as well."""
    J = np.diag([1.0, 2, 3, 4, 5, 6]) + np.diag([0.5] * 5, 1)
    A, B = J.copy(), J.copy()
    A[3] = 0
    A[0] = A[1] = [1, 1, 0, 0, 0, 0]
    why = explain_singularity(sp.csc_array(A), list("abcdef"), numeric=True)
    assert (why.structural_rank, why.numbers.rank) == (5, 4)
    assert "With these values the rank is 4." in str(why)
    assert "b is the same as a" in str(why)
    B[1] = 2 * J[4]
    text = str(explain_singularity(sp.csc_array(B), numeric=True))
    assert "row 1 is 2 * row 4" in text
    reaction = np.array([[-1.0, 0, -1], [1, 0, 1], [-1, 0, -1]])
    assert explain_singularity(sp.csc_array(reaction), numeric=True).numbers.rank == 1


def test_a_cycle_of_balances_beside_a_specification_too_many():
    """Four balances round a cycle, three specifications of two unknowns: rank 10 of 12."""
    model = {"m1": "m1 m2", "m2": "m2 m3", "m3": "m3 m4", "m4": "m4 m1"}
    model |= {"eta": "p1 h1 p2 h2", "pr": "p2 p3", "Q": "m2 h2 h3", "valve": "h3 h4"}
    model |= {"pr2": "p4 p1", "T1": "p1 h1", "x1": "p1 h1", "Td": "p1 h1"}
    unknowns = sorted({name for terms in model.values() for name in terms.split()})
    A, rng = np.zeros((12, 12)), np.random.default_rng(0)
    for i, terms in enumerate(model.values()):
        at = [unknowns.index(name) for name in terms.split()]
        A[i, at] = [1, -1] if i < 4 else rng.uniform(1, 2, len(at))
    why = explain_singularity(sp.csc_array(A), list(model), unknowns, numeric=True)
    assert (why.structural_rank, why.numbers.rank, exact_rank(np.round(1e6 * A))) == (11, 10, 10)
    text = str(why)
    assert "equations: T1, x1, Td\n" in text
    assert "m1 + m2 + m3 + m4 = 0\n" in text


def test_an_island_beside_a_node_without_equation():
    """Node 11 has a capacitor only; nodes 5 to 9 have no reference: rank 10 of 12."""
    n = 12
    rng = np.random.default_rng(1)
    tail, head = np.array([0, 1, 2, 4, 5, 6, 7, 8, 9]), np.array([1, 2, 3, 3, 6, 7, 5, 9, 5])
    A = graph_laplacian(n, (tail, head), rng.uniform(1, 50, tail.size)).toarray()
    A[4] = 0
    A[4, 4] = 1
    A[10, 0], A[10, 4], A[0, 10] = 1, -1, -1
    names = [f"KCL {k}" for k in range(n)]
    why = explain_singularity(sp.csc_array(A), names, numeric=True)
    assert why.numbers.rank == np.linalg.matrix_rank(A) == 10
    assert "KCL 5 + KCL 6 + KCL 7 + KCL 8 + KCL 9 = 0" in str(why)


def test_ranks_of_any_structure_are_those_of_exact_arithmetic():
    rng = np.random.default_rng(8)
    deficient = 0
    for _ in range(200):
        n = int(rng.integers(2, 9))
        dense = rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < rng.uniform(0.15, 0.6))
        A = sp.csc_array(dense.astype(float))
        why = explain_singularity(A, numeric=True)
        assert why.numbers.rank == exact_rank(dense)
        assert not (why.is_singular and why.numbers.rank > why.structural_rank)
        deficient += why.is_singular
        assert str(why)
        for claims, of in ((why.numbers.equations, dense), (why.numbers.variables, dense.T)):
            for claim in claims:
                assert np.abs(claim.coefficients @ of[claim.indices]).max() < 1e-12
    assert deficient > 50
