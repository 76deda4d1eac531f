"""Least squares and minimum norm: as dense solvers have it, of every rank and shape."""

import threading
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsematch
from least_squares import KINDS, Numbers, case
from sparsematch import solvers
from sparsematch._base import memory
from sparsematch._engines.cpu import _core, qr
from sparsematch._numerics import scaling
from sparsematch._systems import dense_rows, least_squares, orthogonal
from sparsematch.solvers import (
    IllConditionedWarning,
    LeastSquares,
    lstsq,
)

pytestmark = [pytest.mark.asan, pytest.mark.wheel]

EPS = np.finfo(float).eps
FORMS = sp.csr_array, sp.csc_array, sp.coo_array, sp.csc_matrix


def numbers(rng, *shape, kind=float):
    values = rng.standard_normal(shape) if rng.random() < 0.5 else rng.integers(-3, 4, shape)
    return values + 1j * rng.standard_normal(shape) if kind is complex else values.astype(float)


def system(rng, kind, m, n):
    """One of the kinds that tests/attack has, real, and a right-hand side."""
    real = Numbers(rng)
    real.real = True
    D = KINDS[kind](real, m, n)
    b = rng.standard_normal(len(D))
    return D, D @ rng.standard_normal(D.shape[1]) if rng.random() < 0.3 else b


def check(D, b, found, rcond=None):
    """Against the singular value decomposition."""
    rcond = EPS * max(*D.shape, 50) if rcond is None else rcond
    s = np.linalg.svd(D, compute_uv=False) if D.size else np.zeros(0)
    rank = int((s > rcond * s.max(initial=0)).sum())
    assert found.rank == rank
    want = np.linalg.pinv(D, rcond=rcond) @ b if rank else np.zeros((D.shape[1], *b.shape[1:]))
    condition = s[0] / s[rank - 1] if rank else 1.0
    change = condition * np.abs(b).max(initial=0) / (s[0] if rank else 1)
    size = 1 + np.abs(want).max(initial=0) + change
    assert found.x.shape == want.shape
    assert np.abs(found.x - want).max(initial=0) <= 50 * EPS * max(*D.shape, 1) * condition * size
    norm = np.linalg.norm(b - D @ want, axis=0)
    assert np.shape(found.residual_norm) == b.shape[1:] == np.shape(found.backward_error)
    assert np.allclose(found.residual_norm, norm, rtol=1e-9, atol=1e-11 * condition * size)
    assert np.max(found.backward_error, initial=0) < 1e-12


@pytest.fixture(params=["as it is", "by components", "no dense basis"])
def way(request, monkeypatch):
    """The ways to the same solution, whichever would be gone."""
    if request.param != "as it is":
        monkeypatch.setattr(least_squares, "_by_parts", lambda *_: None)
    if request.param == "no dense basis":
        monkeypatch.setattr(orthogonal, "_DENSE_ENTRIES", 0)


@pytest.mark.parametrize("part", range(4))
@pytest.mark.usefixtures("way")
def test_as_dense_solvers_have_it(part):
    """Ranks, solutions and residuals, in any units; tests/attack tries more."""
    seeds = range(50 * part, 50 * part + 50)
    with np.errstate(all="ignore"):
        assert not [words for k in seeds for words in case(np.random.default_rng([5, k]))]


@given(st.integers(0, 2**32), st.sampled_from(FORMS), st.sampled_from("bhlfdFD"))
@settings(max_examples=60)
def test_every_type_of_number(seed, form, code):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 12, 2)
    D = rng.integers(-2, 3, (m, n)).astype(code)
    b = rng.integers(-5, 6, (m, 2)).astype(rng.choice(list("bhlfdFD")))
    A = form(D) if code in "fdFD" else sp.csr_array(D)
    found = lstsq(A, b)
    assert found.x.dtype == np.result_type(D, b, np.float64)
    check(D.astype(np.result_type(D, np.float64)), b.astype(found.x.dtype), found)
    many = lstsq(A, sp.csr_array(b.astype(found.x.dtype)))
    assert many.x.format == "csc"
    assert np.array_equal(many.x.toarray(), found.x)
    one = lstsq(A, sp.csr_array(b[:, :1].astype(found.x.dtype)))
    assert one.x.shape == (n,)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 2)])
def test_nothing_to_solve_with(shape):
    found = lstsq(sp.csr_array(shape), np.ones(shape[0]))
    assert isinstance(found, LeastSquares)
    assert (found.rank, found.x.tolist()) == (0, [0.0] * shape[1])
    assert found.residual_norm == np.sqrt(shape[0])
    assert found.is_unique == (shape[1] == 0)


def kahan(n):
    return np.eye(n) - np.triu(np.ones((n, n)), 1)


def spectrum(rng, m, n, values):
    q, p = (np.linalg.qr(rng.standard_normal((k, len(values))))[0] for k in (m, n))
    return q @ np.diag(values) @ p.T


K, L = kahan(100), kahan(300)
SINGULAR = np.linalg.svd(K)[0][:, -1:]
HARD = {
    "each column of R has a large pivot, the least singular value is 2^-99": (
        *(K, np.vstack([K, K[:3]]), np.hstack([K, K[:, :3]]), K.T, np.kron(np.eye(2), kahan(60))),
    ),
    "column 0 is found dead last, and has 1e-13 of the combination that vanishes": (
        *(np.hstack([L, L[:, :3]]), np.hstack([L, L[:, :3]]).T),
    ),
    "a column depends on those before it by the singular vector with value 2^-98": (
        *(np.hstack([K, SINGULAR]), np.hstack([K, SINGULAR, K[:, 5:9] + SINGULAR])),
    ),
}


@pytest.mark.parametrize("why", HARD)
def test_deficiencies_that_no_pivot_shows(why):
    rng = np.random.default_rng(0)
    for D in HARD[why]:
        b = rng.standard_normal((len(D), 2))
        check(D, b, lstsq(sp.csr_array(D), b))


def low_rank_part(seed, kind, m=200, n=130, q=30):
    """A dense part of rank 3, coupled to q independent columns, and a right-hand side."""
    rng = np.random.default_rng(seed)
    L, R = rng.standard_normal((m, 3)), rng.standard_normal((3, n)).astype(kind)
    if kind is complex:
        R += 1j * rng.standard_normal((3, n))
    G = np.where(rng.random((q, n)) < 0.1, rng.standard_normal((q, n)), 0)
    return np.block([[L @ R, np.zeros((m, q))], [G, np.eye(q)]]), rng.standard_normal(m + q)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("shape", [(200, 130), (110, 130), (200, 200)])
def test_a_dense_part_of_low_rank(shape, kind):
    """Rounding errors, amplified by the three pivots before, are larger than the tolerance."""
    D, b = low_rank_part(2, kind, *shape)
    check(D, b, lstsq(sp.csr_array(D), b))


def test_a_rank_that_is_not_settled_is_warned_of(monkeypatch):
    monkeypatch.setattr(orthogonal, "_ROUNDS", 1)
    D = low_rank_part(2, float)[0]
    for A in (D, D.T):
        with pytest.warns(IllConditionedWarning, match=r"a rank of \d+ is not settled"):
            lstsq(sp.csr_array(A), A @ np.ones(A.shape[1]))


@pytest.mark.parametrize("exponent", [2, 5, 8, 12])
@pytest.mark.parametrize("shape", [(40, 30), (30, 40), (35, 35)])
def test_ill_conditioned_and_deficient(shape, exponent):
    rng = np.random.default_rng(exponent)
    D = spectrum(rng, *shape, np.logspace(0, -exponent, 20))
    b = rng.standard_normal((len(D), 2))
    check(D, b, lstsq(sp.csr_array(D), b))


def test_factors_do_not_depend_on_right_hand_sides():
    """To the last bit: a column is dead for all or for none."""
    rng = np.random.default_rng(13)
    for shape in ((150, 130), (60, 66), (9, 7)):
        B = sp.csr_array(numbers(rng, *shape))
        y = rng.standard_normal((shape[0], 3))
        some = [orthogonal.OrthogonalFactors(B, y[:, :k], EPS) for k in (0, 1, 3)]
        assert all(np.array_equal(some[0]._upper[1], other._upper[1]) for other in some)
        assert np.array_equal(some[0].apply_adjoint(y), some[2].top)
    other = some[2]
    other._again = partial(other._again, tolerance=np.full(7, np.inf))  # all are dead
    assert np.allclose(other.apply_adjoint(y), other.top, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (25, 25)])
def test_singular_values_are_sought_where_no_bound_proves_the_rank(shape, kind, monkeypatch):
    rng = np.random.default_rng(3)
    D = numbers(rng, *shape, kind=kind) + 9 * np.eye(*shape)
    b = numbers(rng, shape[0], kind=kind)
    B, _ = scaling.scaled_columns(sp.csr_array(D))
    factors = orthogonal.OrthogonalFactors(B, np.empty((shape[0], 0), kind), EPS)
    s = np.linalg.svd(B.toarray()[:, factors._live], compute_uv=False)
    assert factors._inverse * s[-1] >= 1 > 1e-3 * factors._inverse * s[-1]
    assert np.isclose(factors.smallest[0], s[-1] / factors._largest, rtol=0.2)
    never = lambda *_: pytest.fail("the rank is proved")
    monkeypatch.setattr(orthogonal, "iterate_inverse", never)
    check(D, b, lstsq(sp.csr_array(D), b))
    with pytest.raises(pytest.fail.Exception):
        lstsq(sp.csr_array(K), np.ones(100))


@pytest.mark.parametrize("kind", [float, complex])
def test_residuals_of_the_core(kind):
    rng = np.random.default_rng(4)
    D = numbers(rng, 7, 4, kind=kind) * (rng.random((7, 4)) < 0.6)
    for A in (sp.csr_array(D), sp.csc_array(D), sp.csc_array(D).astype(kind)[:, :0]):
        for side, want in (("N", A), ("T", A.T), ("H", A.conj().T)):
            if side == "H" and A.format == "csc":
                continue
            x, b = (numbers(rng, n, 3, kind=kind) for n in want.shape[::-1])
            x, b = x[:, ::-1], np.asfortranarray(b)
            before = b.copy()
            assert np.allclose(scaling.residual(A, x, b, side), b - want @ x, rtol=0, atol=1e-13)
            assert np.array_equal(b, before)
        size = scaling.residual(A, np.ones(A.shape[1]), np.zeros(7), values=-np.abs(A.data))
        assert np.allclose(size, np.abs(A.toarray()).sum(axis=1))


@pytest.mark.parametrize("unit", [1e-320, 1e-300, 1.0, 1e300])
def test_norms_whose_squares_are_no_doubles(unit):
    x = np.array([[3.0, 0, np.nan], [-4, 0, 1], [12, 0, 2]]) * unit
    assert np.allclose(scaling.column_norms(x), [13 * unit, 0, np.nan], rtol=0.01, equal_nan=True)
    assert np.allclose(scaling.column_norms(x[:, :1] * 1j), 13 * unit, rtol=0.01)
    assert scaling.column_norms(x[:0]).tolist() == [0, 0, 0]
    assert scaling.column_norms(np.array([[np.inf], [1]])) == np.inf


@pytest.mark.parametrize("exponent", [14, 15])
def test_a_rank_that_is_not_clear(exponent):
    """Below the default of `rcond`, solutions are good or warned of."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        m, more = rng.integers(5, 40), rng.integers(1, 30)
        D = spectrum(rng, m, m + more, np.logspace(0, -exponent, rng.integers(2, m + 1)))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = lstsq(sp.csr_array(D), rng.standard_normal(m))
        assert bool(warned) == (found.backward_error > 1e-9)
        assert exponent > 14 or not warned


def test_the_three_parts_are_solved_one_after_another(monkeypatch):
    """Where they have full rank; else not, since that would be wrong."""
    by_parts = least_squares._by_parts
    or_fail = lambda *given: by_parts(*given) or pytest.fail("a part is deficient")
    monkeypatch.setattr(least_squares, "_by_parts", or_fail)
    D = np.array(
        [[1.0, 2, 1, 0, 1], [0, 0, 2, 1, 1], [0, 0, 1, 1, 0], [0, 0, 0, 0, 2], [0, 0, 0, 0, 1]]
    )
    b = np.array([1.0, -2, 3, 1, 1])
    sizes = sparsematch.coarse_dulmage_mendelsohn(sp.csr_array(D)).sizes
    assert sizes == ((1, 2), (2, 2), (2, 1))
    check(D, b, lstsq(sp.csr_array(D), b))
    monkeypatch.undo()
    D[2, 2:4] = 2, 1  # the square part is singular
    check(D, b, lstsq(sp.csr_array(D), b))


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("shape", [(140, 120), (120, 140)])
def test_fronts_that_are_eliminated_by_panels(shape, kind):
    """With dead columns within a panel."""
    rng = np.random.default_rng(7)
    D = numbers(rng, *shape, kind=kind) * (rng.random(shape) < 0.2)
    D[:, 40:50] = D[:, 50:60] * 2
    D[100:105] = D[:5]
    b = numbers(rng, shape[0], 3, kind=kind)
    check(D, b, lstsq(sp.csc_array(D), b))


def test_columns_of_which_hardly_anything_is_left_in_a_front():
    """Squares that underflow would make reflections that are not unitary."""
    rng = np.random.default_rng(11)
    pieces = rng.standard_normal((40, 4, 3)) * [1, 1e-161, 1]  # each with a column of its own
    D = np.vstack([np.zeros((160, 42)), np.c_[np.zeros((3, 40)), rng.standard_normal((3, 2))]])
    for k, piece in enumerate(pieces):
        D[4 * k : 4 * k + 4, [k, 40, 41]] = piece
    b = rng.standard_normal(len(D))
    check(D, b, lstsq(sp.csr_array(D), b))
    scaled, _ = scaling.scaled_columns(sp.csr_array(D))
    factors = orthogonal.OrthogonalFactors(scaled, b[:, np.newaxis], EPS)
    inside = factors.to_rows(scaled.T @ b[:, np.newaxis])  # Q^H b in another way
    assert np.allclose(inside, factors.top, rtol=0, atol=1e-12)


@given(st.integers(0, 2**32))
@settings(max_examples=40)
def test_dense_rows_in_pieces(seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_rows, "_DENSITY", 0.5)
        rng = np.random.default_rng(seed)
        D, b = system(rng, rng.integers(len(KINDS)), *rng.integers(1, 16, 2))
        check(D, b, lstsq(sp.csr_array(D), b))
        y = rng.standard_normal((len(D), 2))
        scaled, _ = scaling.scaled_columns(sp.csr_array(D))
        factors = orthogonal.OrthogonalFactors(scaled, y, 50 * EPS)
        inside = factors.to_rows(scaled.T @ y)
        assert np.allclose(factors.top, inside, rtol=0, atol=1e-9)
        assert np.allclose(factors.apply_adjoint(y), inside, rtol=0, atol=1e-9)


def test_a_row_that_is_dense():
    n = 5000
    rows = [np.ones((1, n)), sp.eye_array(n), np.arange(n)[np.newaxis] / n]
    A = sp.vstack([sp.csr_array(row) for row in rows], format="csr")
    b = np.random.default_rng(0).standard_normal(n + 2)
    found = lstsq(A, b)
    U = np.vstack([rows[0], rows[2]])  # the inverse of I + U^T U: Sherman, Morrison, Woodbury
    right = A.T @ b
    want = right - U.T @ np.linalg.solve(np.eye(2) + U @ U.T, U @ right)
    assert np.allclose(found.x, want, rtol=0, atol=1e-11)
    assert found.backward_error < 1e-13
    shortest = lstsq(A.T[:3], [1.0, 2.0, 3.0])  # columns that are dense are those of few rows
    assert np.allclose(A.T[:3] @ shortest.x, [1, 2, 3])


def test_a_basic_solution_has_few_entries():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        D, b = system(rng, KINDS.index(Numbers.low_rank), *rng.integers(1, 15, 2))
        basic, shortest = (lstsq(sp.csr_array(D), b, minimum_norm=way) for way in (False, True))
        assert basic.rank == shortest.rank >= np.count_nonzero(basic.x)
        assert np.isclose(basic.residual_norm, shortest.residual_norm, rtol=1e-9, atol=1e-10)
        assert np.linalg.norm(basic.x) >= np.linalg.norm(shortest.x) * (1 - 1e-9)


@pytest.mark.parametrize("shape", [(3, 150), (160, 150)])
def test_a_basic_solution_beside_dense_rows(shape):
    """What dense rows in pieces add must not be zero in place of others."""
    m, n = shape
    D = np.vstack([np.arange(n) % 7 + 1.0, np.arange(n) % 5 - 2.0, np.zeros((m - 2, n))])
    D[2] = D[0] - 2 * D[1]
    b = np.ones(m)
    found = lstsq(sp.csr_array(D), b, minimum_norm=False)
    assert found.rank == 2 >= np.count_nonzero(found.x)
    want = np.linalg.lstsq(D, b, rcond=None)[0]
    assert np.allclose(D @ found.x, D @ want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(20, 6), (6, 20)])
@pytest.mark.parametrize("exponent", [0, 700])
def test_null_vectors_that_are_nearly_parallel(shape, exponent):
    """A triangle whose inverse is large, coupled to a part of low rank: its columns are no basis.

    With these for the independent ones x was off by 1e-6, though the condition is 40.
    """
    i, j, q = np.arange(20)[:, np.newaxis], np.arange(6), 20
    low = (i % 5 - 2.0) * (j % 3 + 1) + (i % 3 - 1.0) * (j % 4 - 1)
    triangle = np.eye(q) - 3 * np.tril(np.ones((q, q)), -1)
    coupling = (np.arange(q)[:, np.newaxis] * 3 + j * 5) % 7 - 3.0
    D = np.block([[np.zeros((20, q)), low], [triangle, coupling]])
    D = D if shape == (20, 6) else D.T
    b = np.arange(len(D)) % 5 - 2.0
    found = lstsq(sp.csr_array(np.ldexp(D, exponent)), b)
    assert found.rank == q + 2
    want = np.linalg.pinv(D, rcond=1e-11) @ b
    assert np.allclose(np.ldexp(found.x, exponent), want, rtol=0, atol=1e-12)


def test_units_do_not_count_but_the_type_does():
    D = np.array([[1.0, 1e-20], [1.0, -1e-20], [2.0, 0.0]])
    found = lstsq(sp.csr_array(D), np.array([1.0, 3.0, 4.0]))
    assert found.rank == 2
    assert np.allclose(found.x, [2.0, -1e20])
    rng = np.random.default_rng(0)
    D = (rng.standard_normal((9, 3)) @ rng.standard_normal((3, 6))).astype(np.float32)
    b = rng.standard_normal(9)
    single, double = lstsq(sp.csr_array(D), b), lstsq(sp.csr_array(D, dtype=float), b)
    assert (single.rank, double.rank) == (3, 6)
    assert np.allclose(single.x, np.linalg.lstsq(D, b.astype("f"), rcond=1e-5)[0], atol=1e-5)
    assert lstsq(sp.csr_array(D, dtype=float), b, rcond=1e-5).rank == 3


@pytest.mark.parametrize("exponent", [-960, -530, 520, 960])
@pytest.mark.parametrize("basic", [True, False])
def test_units_of_the_whole(exponent, basic):
    """To the last bit, though its square is beyond the range of doubles."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        D, b = system(rng, seed % len(KINDS), 9, 7 + seed % 4)
        found, want = (
            lstsq(sp.csr_array(np.ldexp(D, e)), b, minimum_norm=basic) for e in (exponent, 0)
        )
        assert found.rank == want.rank
        assert np.array_equal(np.ldexp(found.x, exponent), want.x)
        assert np.array_equal(found.residual_norm, want.residual_norm)


@pytest.mark.parametrize("exponent", [-495, 0, 74])
@pytest.mark.parametrize("shape", [(2, 9), (3, 5), (5, 3), (9, 2)])
def test_a_right_hand_side_that_no_column_has_a_part_of(shape, exponent):
    """x is zero but for rounding, and nothing is warned of: errors are those beside b."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        u, v = (rng.integers(1, 9, size) * 1.0 for size in shape)
        b = np.zeros((shape[0], 2))
        b[:2, 0], b[:, 1] = (u[1], -u[0]), u
        found = lstsq(sp.csr_array(np.ldexp(np.outer(u, v), exponent)), b)
        x = np.ldexp(found.x, exponent)
        np.testing.assert_allclose(x[:, 0], 0, atol=1e-13)
        np.testing.assert_allclose(x[:, 1], v / (v @ v), rtol=1e-13)
        np.testing.assert_allclose(found.residual_norm, [np.hypot(*u[:2]), 0], atol=1e-12)


#: Matrices, powers of two that are units of their rows and of their columns, right-hand sides.
UNITS = {
    "of rows of which the right-hand side has some": (
        *([[-2.0, 3, -2, 0, 0, -3, 3], [3, -3, 1, 1, 1, 0, 0], [1, 2, 0, 0, 0, 3, 0]],),
        *([-894, 476, -510], [0] * 7, [-1.0, 0, 1]),
    ),
    "of a column that meets zeros only, found by way of the other": (
        *([[3.0, 1], [0, 2], [0, 5]], [0] * 3, [504, -947], [0.0, 1, 2]),
    ),
    "of columns of which rows have some": (
        [[-4.0, -6, 6, -3], [-8, -10, 5, 3], [1, 1, 2, -1], [0, 0, 1, 0], [0, 0, 0, 1]],
        *([0] * 5, [910, 35, 837, -881], [-6.0, 13, -1, 1, 4]),
    ),
    "of rows, of a column that meets zeros only": (
        *([[1.0, -1, 0], [1, 0, 1], [1, 0, -1]], [-975, 843, -900], [0] * 3, [0.0, 4, -2]),
    ),
    "of two components, of which the right-hand side has one: the other's elements are zero": (
        [[3.0, 1, 0, 2, 0, 0], [0, 0, 3, 0, 2, 1], [0, 0, 6, 0, 4, 2], [9, 3, 0, 6, 0, 0]],
        *([0] * 4, [786] * 6, [0.0, 1, 2, 0]),
    ),
}


@pytest.mark.parametrize("which", UNITS)
def test_units(which):
    D, rows, cols, b = map(np.array, UNITS[which])
    found = lstsq(sp.csr_array(np.ldexp(D, rows[:, np.newaxis] + cols)), np.ldexp(b, rows))
    want = np.linalg.pinv(D) @ b
    assert np.allclose(np.ldexp(found.x, cols), want, rtol=0, atol=1e-13)
    assert found.backward_error < 1e-15
    if not rows.any():
        residual = np.linalg.norm(D @ want - b)
        assert np.isclose(found.residual_norm, residual, rtol=1e-12, atol=1e-12)


def test_lsmr_is_named_where_it_is_faster_by_far():
    """A random network, whose factor fills up, and a chain of second differences."""
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 1500, (9000, 2))
    edges = np.repeat(np.arange(9000), 2)
    network = sp.csr_array((np.tile([1.0, -1.0], 9000), (ends.ravel(), edges)), shape=(1500, 9000))
    chain = sp.csr_array(sp.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(900, 902)).T)
    for A, is_named in ((network, True), (network.T, True), (chain, False), (chain.T, False)):
        found = lstsq(A, rng.standard_normal(A.shape[0]))
        assert (found.lsmr_gain > 10) == is_named
        assert ("lsmr is predicted to be" in found.report()) == is_named
        assert found.report().startswith(repr(found))


@pytest.mark.filterwarnings("error")
def test_rows_whose_terms_are_tiny_are_measured_by_norms():
    """Elements of x that are zero but for rounding are all that a row in large units has."""
    rng, rounded = np.random.default_rng(9), 0
    for _ in range(40):
        D = rng.integers(-3, 4, (5, 8)) * 1.0
        D[0] = np.where(np.arange(8) == 2, 1.0, 0)
        b = D @ rng.integers(-2, 3, 8)
        b[0] = 0
        if np.linalg.matrix_rank(D) < 5:
            continue
        units = 2.0 ** np.array([300, 0, -200, 10, -90])
        x = lstsq(sp.csr_array(D * units[:, np.newaxis]), b * units).x
        np.testing.assert_allclose(x, np.linalg.lstsq(D, b)[0], atol=1e-13 * np.abs(x).max())
        rounded += x[2] != 0
    assert rounded > 5


@pytest.mark.parametrize(("unit", "right"), [(1e-200, 1e200), (1e200, 1e-200)])
def test_what_is_beyond_the_range_is_warned_of(unit, right):
    """Above it, and below."""
    beside = sp.eye_array(2)
    for A in (
        sp.csr_array([[unit], [unit]]),
        sp.block_diag([sp.csr_array([[unit, unit]]), beside]),
    ):
        with pytest.warns(IllConditionedWarning, match=r"backward error of"):
            found = lstsq(A, np.full(A.shape[0], right))
        assert not (np.isfinite(found.x) & (found.x != 0)).all()


BAD = {
    "no sparse matrix": (np.eye(2), np.ones(2), {}, TypeError),
    "not finite": (sp.csr_array([[np.nan, 1.0]]), [1.0], {}, ValueError),
    "b not finite": (sp.csr_array([[2.0, 1.0]]), [np.inf], {}, ValueError),
    "length of b": (sp.csr_array([[2.0, 1.0]]), [1.0, 2.0], {}, ValueError),
    "dimensions of b": (sp.csr_array([[2.0, 1.0]]), np.ones((1, 1, 1)), {}, ValueError),
    "type of b": (sp.csr_array([[2.0, 1.0]]), ["x"], {}, TypeError),
    "type of rcond": (sp.csr_array([[2.0, 1.0]]), [1.0], {"rcond": "x"}, TypeError),
    "rcond": (sp.csr_array([[2.0, 1.0]]), [1.0], {"rcond": 1}, ValueError),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case):
    A, b, settings, error = BAD[case]
    with pytest.raises(error):
        lstsq(A, b, **settings)


def test_memory_is_predicted(monkeypatch):
    """Before anything is factorised: the system may end a process that takes too much."""
    rng = np.random.default_rng(0)
    predicted = []

    def noting(*given, of=_core.qr):
        start, columns, *rest, needed = of(*given)
        predicted.append((needed, 12 * columns.size))
        return start, columns, *rest, needed

    monkeypatch.setattr(_core, "qr", noting)
    for shape in ((30, 20), (300, 200), (900, 700)):
        A = sp.random_array(shape, density=0.02, rng=rng) + sp.eye_array(*shape)
        b = rng.standard_normal(shape[0])
        lstsq(A, b)
        assert predicted[-1][1] <= predicted[-1][0] <= 16 * (sum(shape) * (shape[1] + 1))
    monkeypatch.setattr(qr, "available_bytes", lambda _: predicted[-1][0] - 1)
    with pytest.raises(MemoryError, match=r"700 columns .* GiB of memory, of which .*lsmr"):
        lstsq(A, b)
    assert predicted[-1][1] == 0


def test_memory_that_is_left(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.available_bytes(np.inf) == np.inf
    (tmp_path / "meminfo").write_text("MemFree: 1 kB\nMemAvailable:  40 kB\nSwapFree:    2 kB\n")
    assert memory.available_bytes(np.inf) == 42 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_bytes(np.inf) == 42 * 1024
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.stat").write_text("anon 2000\nfile 900\n")
    assert memory.available_bytes(np.inf) == 3000


def test_nothing_that_is_given_is_changed():
    A = sp.coo_array(([1.0, 2.0, 0.0, 3.0], ([0, 0, 1, 1], [0, 0, 1, 1])), (2, 3))
    b = np.array([3.0, 3.0])
    before = [array.copy() for array in (*A.coords, A.data, b)]
    assert lstsq(A, b).x.tolist() == pytest.approx([1, 1, 0])
    for then, now in zip(before, (*A.coords, A.data, b), strict=True):
        assert np.array_equal(then, now)


def test_errors_name_it_as_the_way_out():
    with pytest.raises(ValueError, match=r"must be square.*solvers\.lstsq"):
        solvers.spsolve(sp.csr_array((2, 3)), [1.0, 2.0])
    for D in ([[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [1.0, 0.0]]):
        with pytest.raises(solvers.SingularMatrixError, match=r"solvers\.lstsq\(A, b\)"):
            solvers.spsolve(sp.csr_array(D), [1.0, 2.0])


def test_no_thread_makes_another_one_raise():
    """Filters of warnings are those of the whole process."""
    A = sp.csc_array([[1.0, 1.0 + 2.0**-52], [1.0, 1.0]])  # singular to working precision
    K = sp.block_array([[sp.eye_array(1, 4), None], [None, A], [np.ones((1, 4)), None]])
    failed = []

    def work(k):
        try:
            for _ in range(60):
                solvers.splu(A).solve(np.ones(2)) if k % 2 else lstsq(K, np.ones(4))
        except Exception as error:
            failed.append(error)

    filters = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []
    assert warnings.filters == filters


@pytest.mark.parametrize("basic", [True, False])
def test_the_rank_of_nearly_parallel_columns(basic):
    # One row was lost without a word; singular values are 3.9, 0.9, 0.03 and 5e-4 of columns.
    A, b = np.vander([0.09, 0.98, 0.12, 0.07], 16), np.array([0.0, 0, 0, 1])
    x = lstsq(sp.csc_array(A), b, minimum_norm=not basic)
    assert x.rank == 4
    assert np.abs(A @ x.x - b).max() < 1e-10
