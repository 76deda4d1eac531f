"""Rows and columns that depend on each other by their numbers: dense, planted, parallel."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import planted
from sparsematch import explain_singularity, structural_rank
from sparsematch._blame import null_basis, singular_blocks
from sparsematch._blame.defects import numerical_defects
from sparsematch._systems.factors import PIVOTS, BlockFactors
from sparsematch._systems.plan import begin
from test_solver_accuracy import laplacian


def columns(A):
    """The matrix as `numerical_defects` wants it."""
    A = sp.csc_array(A)
    A.sum_duplicates()
    A.eliminate_zeros()
    return A


def ring(n, rng, kind=float):
    """A regular block."""
    A = 3 * np.eye(n, dtype=kind) + np.roll(np.diag(rng.uniform(0.5, 1, n)), 1, axis=1)
    return A * (1 + 0.5j) if kind is complex else A


def supports(dependences):
    """Their members."""
    return {frozenset(d.indices.tolist()) for d in dependences}


def check(A, defects, deficiency):
    """Each dependence vanishes and is minimal, and together they span the null spaces."""
    dense = A.toarray()
    assert defects.n - defects.rank == deficiency
    sides = (
        (defects.equations, dense, defects.col_scale),
        (defects.variables, dense.T, defects.row_scale),
    )
    for found, B, units in sides:
        assert len(found) == deficiency
        vectors = np.zeros((deficiency, len(dense)), complex)
        for k, d in enumerate(found):
            vectors[k, d.indices] = d.coefficients
            assert np.abs(d.coefficients).max() == pytest.approx(1)
            terms = d.coefficients[:, np.newaxis] * B[d.indices] * units
            residual = np.abs(terms.sum(axis=0)).max() / np.abs(terms).max()
            assert residual <= defects.tolerance
            assert d.residual == pytest.approx(residual, abs=1e-15)
            for spared in range(d.size if d.size < 12 else 0):
                rest = np.delete(B[d.indices] * units, spared, axis=0)
                rest = rest / np.abs(rest).max(axis=1, keepdims=True)
                assert np.linalg.matrix_rank(rest, 1e-8) == d.size - 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        assert not deficiency or np.linalg.matrix_rank(vectors / norms) == deficiency


def test_exactly_singular_laplacians():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(3, 40))
        defects = numerical_defects(columns(laplacian(rng, n)))
        assert [d.size for d in defects.equations + defects.variables] == [n, n]
        assert defects.equations[0].is_constant


def test_regular_matrices_have_none():
    rng = np.random.default_rng(4)
    assert not numerical_defects(columns(np.zeros((0, 0)))).is_singular
    for n in (1, 2, 5, 80):
        A = ring(n, rng)
        A *= 10.0 ** rng.integers(-9, 9, n) * 10.0 ** rng.integers(-9, 9, (n, 1))
        defects = numerical_defects(columns(A))
        assert defects.rank == n
        assert not defects.blocks


@pytest.mark.parametrize("by_iteration", [False, True])
def test_small_matrices(by_iteration, monkeypatch):
    """All decisions are those of a dense decomposition, of small blocks and as of large ones."""
    if by_iteration:
        monkeypatch.setattr(singular_blocks, "_DENSE", 1)
    rng = np.random.default_rng(5)
    singular = 0
    for _ in range(150):
        n = int(rng.integers(2, 8))
        dense = rng.integers(-1, 2, (n, n)) * (rng.random((n, n)) < 0.7)
        A = columns(dense.astype(float))
        if sp.csgraph.structural_rank(A) < n:
            continue
        deficiency = n - np.linalg.matrix_rank(dense)
        singular += deficiency > 0
        check(A, numerical_defects(A), deficiency)
    assert singular > 10


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("coupled", [0, 1])
def test_chains_of_singular_blocks(kind, coupled):
    """Twelve singular blocks: coupled generically, each raises the rank that the last one lacks."""
    rng = np.random.default_rng(6)
    count, m = 12, 4
    A = np.kron(np.eye(count), np.ones((m, m))).astype(kind)
    for k in range(count):
        own = slice(k * m, (k + 1) * m)
        A[own, own] = laplacian(rng, m) * (1 if kind is float else 1 + 2j)
        if coupled and k:
            A[(k - 1) * m, k * m] = 1
    A = columns(A)
    defects = numerical_defects(A)
    check(A, defects, 1 if coupled else count)
    assert len(defects.blocks) == count


@pytest.mark.parametrize("by_iteration", [False, True])
def test_fifty_dependences_of_one_block(by_iteration, monkeypatch):
    if by_iteration:
        monkeypatch.setattr(singular_blocks, "_DENSE", 1)
    rng = np.random.default_rng(7)
    n, planted = 210, 50
    A = ring(n, rng)
    for k in range(planted):
        A[4 * k + 1] = A[4 * k] + A[4 * k + 2] * 2
    A = columns(A)
    defects = numerical_defects(A)
    check(A, defects, planted)
    wanted = {frozenset({4 * k, 4 * k + 1, 4 * k + 2}) for k in range(planted)}
    assert supports(defects.equations) == wanted


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("noise", [0, 1e-12])
def test_units_do_not_count(kind, noise):
    """Planted rows in a matrix scaled at random by powers of ten, with noise on its entries."""
    rng = np.random.default_rng(8)
    n = 90
    for _ in range(5):
        A = ring(n, rng, kind) + (rng.random((n, n)) < 0.03)
        members = rng.choice(n, 6, replace=False)
        A[members[0]] = rng.uniform(0.5, 2, 5) @ A[members[1:]]
        A = A * (1 + noise * rng.standard_normal((n, n)))
        A *= 10.0 ** rng.integers(-12, 13, n) * 10.0 ** rng.integers(-12, 13, (n, 1))
        defects = numerical_defects(columns(A))
        assert supports(defects.equations) == {frozenset(members.tolist())}


def test_many_members_without_dense_matrices(monkeypatch):
    monkeypatch.setattr(null_basis, "_DENSE", 3)
    rng = np.random.default_rng(9)
    A = columns(laplacian(rng, 60))
    check(A, numerical_defects(A), 1)


@pytest.mark.parametrize("terms", [1, 5])
def test_large_deficiencies_are_bounded(terms):
    """Of hundreds of dependences the rank is exact, and a hundred are named."""
    rng = np.random.default_rng(10)
    n, rank = 400, 20
    base = rng.standard_normal((rank, n))
    A = np.vstack([base, base[rng.choice(rank, (n - rank, terms))].sum(axis=1)])
    assert not numerical_defects(columns(A)).is_complete
    why = explain_singularity(columns(A), numeric=True)
    found = why.numbers
    assert (found.rank, found.is_complete, why.is_numerically_singular) == (rank, False, True)
    for claims, B in ((found.equations, A), (found.variables, A.T)):
        assert singular_blocks.MOST <= len(claims) < 2 * singular_blocks.MOST
        for d in claims:
            left = np.abs(d.coefficients @ B[d.indices]).max()
            assert left <= 1e-8 * np.abs(B[d.indices]).max()


def test_units_of_one_large_entry_hide_nothing():
    """The third row weighs in the second column, whatever its units."""
    A = np.array([[1.0, 1, 0], [1, 2, 0], [0, 1e12, 1]])
    assert numerical_defects(columns(A)).rank == 3
    A[1] = 2 * A[0]
    assert supports(numerical_defects(columns(A)).equations) == {frozenset({0, 1})}


@pytest.mark.filterwarnings("error")
def test_numbers_at_the_end_of_their_range():
    """Nothing raises or warns, and rows that are multiples are still found."""
    rng = np.random.default_rng(11)
    for case in range(60):
        n = int(rng.integers(2, 20))
        A = ring(n, rng, complex if case % 3 == 2 else float)
        A[rng.random((n, n)) < 0.2] = 1
        if case % 2:
            A[0] = A[-1]
        exponents = rng.uniform(-1, 1, (n, n if case % 4 < 2 else 1)) * (290 - case)
        A = columns(A * 10.0**exponents)
        if sp.csgraph.structural_rank(A) < n:
            continue
        defects = numerical_defects(A)
        if case % 4 == 3:
            assert defects.is_singular or not defects.is_complete
    far = numerical_defects(columns([[2.0**-900, 2.0**-899], [2.0**900, 2.0**901]]))
    assert far.is_singular or not far.is_complete


def test_singular_values_too_far_apart():
    """A directed ring with rows planted: singular values down to 1e-40, and no claim is wrong."""
    rng = np.random.default_rng(12)
    n = 3000
    A = sp.lil_array(3 * sp.eye_array(n) - sp.diags_array([3.0], offsets=[1], shape=(n, n)))
    A[n - 1, 0] = -3
    for k in range(n):
        A[k, (k + 7) % n] = rng.uniform(0.5, 2)
    for k in (100, 900, 2000):
        A[k] = A[k + 300] + A[k + 50]
    A = columns(A)
    defects = numerical_defects(A)
    for d in defects.equations:
        assert np.abs(d.coefficients @ A[d.indices].toarray()).max() < 1e-9


def test_large_supports_on_both_sides():
    """Rows planted in a grid: the other side is dense, and is named as it is."""
    rng = np.random.default_rng(13)
    m = 40
    path = sp.diags_array([-1.0, -1.0], offsets=[-1, 1], shape=(m, m))
    A = sp.kron(path, sp.eye_array(m)) + sp.kron(sp.eye_array(m), path)
    A = sp.lil_array(A + sp.diags_array(4 + rng.uniform(0, 0.01, m * m)))
    wanted = set()
    for k in (10, 500, 1200):
        members = k + np.array([0, 3, 85, 170])
        A[members[0]] = (sp.csr_array(A)[members[1:]] * 0.5).sum(axis=0).reshape(1, -1)
        wanted.add(frozenset(members.tolist()))
    defects = numerical_defects(columns(A))
    assert supports(defects.equations) == wanted
    assert len(defects.variables) == 3
    assert max(d.residual for d in defects.variables) < 1e-10


def test_a_small_singular_value_without_a_small_pivot():
    """Every pivot of this triangular block is 1, and its least singular value is 2**-119."""
    n = 120
    A = np.eye(n) - np.triu(np.ones((n, n)), 1)
    A[-1, 0] = -(2.0 ** (2 - n))  # so that it is singular, and one block
    defects = numerical_defects(columns(A))
    assert defects.rank == n - 1


#: Cases of each kind, every second one with rows and columns in units from 1e-6 to 1e6.
CASES = 10


def plate(rng, m=9):
    """Five-point differences with uneven conductances and a reference all around."""
    path = sp.diags_array([-np.ones(m - 1)] * 2, offsets=[-1, 1])
    grid = sp.kron(path, sp.eye_array(m)) + sp.kron(sp.eye_array(m), path)
    weights = rng.uniform(0.5, 2, m * m)
    return sp.csr_array(sp.diags_array(weights) @ (grid + 4 * sp.eye_array(m * m)))


def scattered(rng, n=90):
    """Four entries a row in random places, and a diagonal that keeps it regular."""
    A = sp.random_array((n, n), density=4 / n, rng=rng, data_sampler=rng.standard_normal)
    return sp.csr_array(A + 3 * sp.eye_array(n))


def staircase(rng, n=80):
    """Blocks of eight rows, one coupled to the next: reducible."""
    A = np.kron(np.eye(n // 8), np.ones((8, 8))) + np.kron(np.eye(n // 8, k=1), np.eye(8))
    A *= rng.uniform(-1, 1, (n, n)) * (rng.random((n, n)) < 0.5)
    return sp.csr_array(A + 2 * np.eye(n))


def cases(rng):
    """Yield planted matrices of all kinds whose truth is certain."""
    for kind in planted.KINDS:
        found = 0
        while found < CASES:
            make = (plate, scattered, staircase)[found % 3]
            case = planted.plant(make(rng), kind, rng, scaled=found % 2 == 1)
            if planted.is_true(case, dense=1000):
                found += 1
                yield case


def test_planted_sets_are_found_exactly():
    """In 95% at least; never is a set named whose combination does not vanish."""
    missed = []
    for number, case in enumerate(cases(np.random.default_rng(35))):
        verdict = planted.judge(case, numerical_defects(case.A))
        assert verdict.wrong == verdict.wrong_in_units == 0, (number, case.kind)
        if not verdict.exact:
            missed.append((number, case.kind, verdict))
    assert len(missed) <= 0.05 * CASES * len(planted.KINDS), missed


def test_the_judge_is_strict():
    """A set too few, a set too large and a wrong coefficient are noticed."""
    rng = np.random.default_rng(5)
    case = planted.plant(scattered(rng), "rows", rng, scaled=True)
    assert planted.is_true(case, dense=1000)
    members = sorted(case.rows[0])
    B = case.balanced
    assert planted.is_minimal(B, members, 1e-6)
    assert not planted.is_minimal(B, members[1:], 1e-6)
    assert not planted.is_minimal(B, sorted({*members, *range(B.shape[0])}), 1e-6)
    weights = np.linalg.svd(B[members].toarray())[0][:, -1] * case.row_units[members]
    assert planted.residual(case.A, members, weights, case.col_units) < 1e-14
    weights[0] *= 1.01
    assert planted.residual(case.A, members, weights, case.col_units) > 1e-4


@pytest.mark.parametrize("dtype", [float, complex])
def test_the_factors_of_a_border_are_those_of_the_matrix_with_its_entries(dtype):
    """Of all singular 3x3 matrices of -1, 0, 1 with a perfect matching a part, by dense solves."""
    count = 0
    for values in itertools.islice(itertools.product([-1, 0, 1], repeat=9), 0, None, 11):
        A = np.array(values, dtype).reshape(3, 3)
        lacking = 3 - np.linalg.matrix_rank(A)
        if not lacking or structural_rank(columns(A)) < 3:
            continue
        border = singular_blocks.find_border(columns(A))
        assert border.entries.rows.size >= lacking
        dense = A.copy()
        np.add.at(dense, (border.entries.rows, border.entries.cols), border.entries.values)
        np.testing.assert_allclose(border.matrix.toarray(), dense)
        b = np.array([1, 2, 4], dtype)
        for trans, matrix in (("N", dense), ("T", dense.T)):
            x = border.factors.solve(b, trans, check=False)[0]
            np.testing.assert_allclose(x, np.linalg.solve(matrix, b), atol=1e-12)
        count += 1
    assert count > 300


def test_entries_are_added_for_each_set_of_values():
    """Singular, regular, singular elsewhere, and again: by factors that are made once."""
    first, regular, other = (
        np.array(values, float)
        for values in (
            [[1, 2, 1], [2, 4, 1], [1, 1, 3]],
            [[4, 1, 1], [1, 5, 1], [2, 1, 6]],
            [[1, 1, 2], [3, 1, 4], [3, 1, 4]],
        )
    )
    factors = BlockFactors.of(
        begin(columns(first), solver=singular_blocks._NO_PIVOTS, pivots=PIVOTS)
    )
    b = np.array([1.0, -2, 5])
    for dense, lacking in ((first, 0), (other, 1), (regular, 0), (other, 1), (other.T, 1)):
        factors.factorise(dense.T.ravel())
        rows, cols, values = factors.numbers.added
        assert rows.size == lacking
        bordered = dense.copy()
        bordered[rows, cols] += values
        for trans, matrix in (("N", bordered), ("T", bordered.T)):
            x = factors.solve(b, trans, check=False)[0]
            np.testing.assert_allclose(x, np.linalg.solve(matrix, b), atol=1e-12)
