"""No solution is silently wrong: each is measured, and refined, replaced, or warned of."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning, block_diag
from scipy.sparse.linalg import MatrixRankWarning

from calls import limited
from graded_systems import TRANSPOSED
from graded_systems import backward_error as rowwise_error
from graded_systems import case as graded_case
from linear_systems import backward_error as normwise_error
from linear_systems import case
from sparsematch import linalg, solvers
from sparsematch._numerics.backward_error import normwise_by_terms
from sparsematch._systems.condition import inverse_norm
from sparsematch._systems.factors import BlockFactors
from sparsematch.solvers import IllConditionedWarning, SingularMatrixError, splu
from test_solvers import turned


def badly_scaled(rng, kind=float, n=60):
    """Entries of six orders of magnitude, in no order."""
    A = sp.random_array((n, n), density=0.06, random_state=rng, format="csc") + sp.eye_array(n)
    A = sp.csc_array(A).astype(kind)
    A.data = A.data * 10.0 ** rng.uniform(-3, 3, A.nnz)
    A.data *= np.exp(1j * rng.random(A.nnz)) if kind is complex else 1
    return A


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_every_solution_is_refined_where_it_is_poor(kind, trans):
    rng, worst = np.random.default_rng(2), 0
    for _ in range(12):
        A = badly_scaled(rng, kind)
        B = turned(A, trans).toarray()
        lu = solvers.splu(A)
        b = rng.standard_normal((60, 20)) * (1 + 1j)
        worst = max(worst, rowwise_error(B, lu._factors.solve(b, trans, False)[0], b))
        for easy in (np.zeros(60), np.eye(60)[:, :2]):  # which switches nothing off
            lu.solve(easy, trans)
        for right in (b, b[:, 0]):
            assert rowwise_error(B, lu.solve(right, trans), right) < 2e-13
            assert normwise_error(B, lu.solve(right, trans), right) < 2e-15
        lu.refactorise(3 * A)
        assert rowwise_error(3 * B, lu.solve(b, trans), b) < 2e-13
    assert worst > 2e-13


def test_the_values_measured_against_are_copies():
    A = badly_scaled(np.random.default_rng(2))
    lu, b = solvers.splu(A), np.ones(60)
    before = A.toarray()
    A.data[:] = 7
    assert rowwise_error(before, lu.solve(b), b) < 2e-13


def test_refactorise_is_as_good_as_a_fresh_factorisation():
    first = [[-7.1e-07, 8917.0, 3.8e-05], [-287387.0, -113000.3, 5985166.4], [3e-05, -1e-05, 1e-05]]
    then = [[-0.25, -1006.1, -21471521.4], [292.0, -2688.6, -51073197.0]]
    then = np.array([*then, [13583596.3, -15630787.2, 3.7e-4]])
    b = np.array([-1.66, 0.77, 0.67])
    lu = solvers.splu(sp.csc_array(np.array(first)))
    lu.refactorise(sp.csc_array(then))
    assert lu.growth < 1e4
    assert normwise_error(then, lu.solve(b), b) < 1e-15


def test_growth_is_bounded():
    """Of Hessenberg matrices with a diagonal that the usual threshold just accepts."""
    rng = np.random.default_rng(0)
    grown = 0
    for _ in range(60):
        n = 12
        above = np.triu(np.ones((n, n)), -1) * (rng.random((n, n)) < 0.2)
        M = np.where(above > 0, rng.choice([0.0101, 1.0, -1.0], (n, n)), 0)
        np.fill_diagonal(M, 0.0101)
        if np.linalg.cond(M) > 1e6:
            continue
        lu, b = solvers.splu(sp.csc_array(M)), rng.standard_normal(n)
        grown = max(grown, lu.growth)
        assert normwise_error(M, lu.solve(b), b) < 1e-14
    assert 1 < grown <= 1e4


@pytest.mark.parametrize("exponent", [-1070, -960, -300, 300, 960])
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("policy", [{}, {"forced": "fronts"}])
def test_the_scale_of_a_matrix_does_not_matter(exponent, kind, policy):
    rng = np.random.default_rng(0)
    M = rng.integers(-9, 10, (30, 30)) * (rng.random((30, 30)) < 0.3) + np.eye(30) * 40
    M = M * (1 + 2j if kind is complex else 1)
    A, b = sp.csc_array(M * 2.0**exponent), rng.standard_normal((30, 2))
    for trans, shift in itertools.product("NTH", (-900, 0, 900)):
        if not abs(shift - exponent) < 1000:
            continue  # the solution is beyond the range
        x = solvers.splu(A, solver=limited(**policy)).solve(b * 2.0**shift, trans)
        half = (exponent - shift) // 2
        x = x * 2.0**half * 2.0 ** (exponent - shift - half)
        assert normwise_error(turned(sp.csc_array(M), trans).toarray(), x, b) < 1e-13


def test_rows_and_columns_of_all_scales():
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = 25
        M = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3) + 3 * np.eye(n)
        r, c = 2.0 ** rng.integers(-400, 400, n), 2.0 ** rng.integers(-400, 400, n)
        x = rng.standard_normal(n)
        lu = solvers.splu(sp.csc_array(r[:, None] * M * c))
        b = r * (M @ x)
        assert np.abs(lu.solve(b) * c / x - 1).max() < 1e-9
        assert lu.rcond.min() > 1e-6


def test_a_solution_beyond_the_range_is_not_silent():
    lu = solvers.splu(sp.csc_array(np.array([[1.0, 2.0], [3.0, 4.0]]) * 1e-300))
    with pytest.warns(IllConditionedWarning, match="no finite solution"):
        lu.solve(np.full(2, 1e300))
    assert np.isfinite(lu.solve(np.ones(2))).all()


def test_what_is_not_finite_in_a_right_hand_side_stays_so():
    lu = solvers.splu(sp.csc_array(np.array([[1.0, 2.0], [3.0, 4.0]])))
    b = np.array([[1.0, np.nan], [1.0, 0.0]])
    x = lu.solve(b)
    assert lu._whole is None  # and nothing was factorised again for it
    assert np.allclose(x[:, 0], [-1, 1])
    assert not np.isfinite(x[:, 1]).any()


@pytest.mark.filterwarnings("ignore::sparsematch.solvers.IllConditionedWarning")
def test_where_blocks_have_no_solution_the_whole_matrix_may():
    """Of entries over 200 orders of magnitude: what LAPACK solves normwise is solved."""
    rng = np.random.default_rng(11)
    replaced = 0
    for _ in range(80):
        D = np.triu(rng.random((15, 15)) < 0.4) | np.eye(15, k=-1, dtype=bool)
        M = np.where(D, rng.standard_normal(D.shape) * 10.0 ** rng.uniform(-100, 100, D.shape), 0)
        b = rng.standard_normal((15, 2)) * (1 + 2j)
        try:
            lu = solvers.splu(sp.csc_array(M))
            dense = np.linalg.solve(M, b)
        except (SingularMatrixError, np.linalg.LinAlgError):
            continue
        x = lu.solve(b)
        replaced += lu._whole is not None
        if np.isfinite(dense).all() and normwise_error(M, dense, b) < 1e-12:
            assert normwise_error(M, x, b) < 1e-9
    assert replaced > 0


def test_an_absolute_value_beyond_doubles_is_no_small_error():
    """Parts of a complex number may be doubles though its absolute value is none."""
    x = np.array([[1.5e308 * (1 + 1j)], [1.0]])
    error = normwise_by_terms(sp.csc_array(np.eye(2)), x, np.ones((2, 1), complex))
    assert error == pytest.approx(1)


def laplacian(rng, n):
    """An integer Laplacian of a connected graph: its rows and columns sum to zero."""
    L = np.zeros((n, n))
    pairs = [(i, int(rng.integers(i))) for i in range(1, n)]
    pairs += [tuple(rng.choice(n, 2, replace=False)) for _ in range(n)]
    for i, j in pairs:
        weight = int(rng.integers(1, 50))
        L[[i, j], [i, j]] += weight
        L[[i, j], [j, i]] -= weight
    return L


def test_singular_laplacians_are_never_silent():
    rng = np.random.default_rng(0)
    for _ in range(150):
        L = sp.csc_array(laplacian(rng, int(rng.integers(3, 40))))
        with pytest.raises((IllConditionedWarning, SingularMatrixError)):
            solvers.splu(L)


def test_the_island_without_a_reference_is_named():
    rng = np.random.default_rng(3)
    while True:
        B = block_diag(laplacian(rng, 4)[1:, 1:], laplacian(rng, 5))
        try:
            with pytest.warns(IllConditionedWarning, match=r"5 rows .*rows 3, 4, 5, 6, 7;"):
                lu = solvers.splu(sp.csc_array(B))
        except SingularMatrixError as error:  # a zero was met by chance
            named = sorted(error.rows)
        else:
            break
        assert named == [3, 4, 5, 6, 7]
    island = int(lu.rcond.argmin())
    assert lu.rcond[island] < 2.2e-16
    assert np.delete(lu.rcond, island).min() > 1e-3
    assert lu.rcond.shape == (lu.n_blocks,)


def test_units_are_no_reason_to_warn():
    """A condition of 1e16 by units alone, and one beyond the limit in a block not scaled."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((30, 30)) + 10 * np.eye(30)
    A = sp.csc_array(10.0 ** rng.uniform(-12, 12, (30, 1)) * M * 10.0 ** rng.uniform(-12, 12, 30))
    lu = solvers.splu(A)
    lu.solve(np.ones(30))
    assert lu.condition() > 1e16
    assert lu.rcond.min() > 1e-5


def test_the_warning_is_in_both_families():
    assert issubclass(IllConditionedWarning, LinAlgWarning)
    assert issubclass(IllConditionedWarning, MatrixRankWarning)


@pytest.mark.parametrize("n", [180, 600])
@pytest.mark.parametrize("solver", ["auto", "superlu"])
def test_growth_without_end_is_said(solver, n):
    """Wilkinson's matrix, for which partial pivoting loses a digit every three rows."""
    M = np.eye(n) - np.tril(np.ones((n, n)), -1)
    M[:, -1] = 1
    b = np.random.default_rng(0).standard_normal(n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = solvers.splu(sp.csc_array(M), solver=solver).solve(b)
    poor = normwise_error(M, x, b) > 1e-9
    assert not poor or any("backward error" in str(w.message) for w in caught)
    assert not (poor and n < 500)  # where there is another way


def test_estimates_of_conditions():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 11, 12, 30):
        M = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))

        def solve(b, adjoint, M=M):
            return np.linalg.solve(M.conj().T if adjoint else M, b)

        exact = np.linalg.norm(np.linalg.inv(M), 1)
        assert exact / 3 < inverse_norm(solve, n, M.dtype) < exact * (1 + 1e-10)
        if n < 12:  # no more solves than an estimate takes
            assert inverse_norm(solve, n, M.dtype) > exact * (1 - 1e-10)
    assert inverse_norm(lambda b, adjoint: b * [np.nan, 1], 2, np.dtype(float)) == np.inf
    lu = solvers.splu(sp.csc_array(np.array([[1.0, 2.0], [3.0, 4.0]])))
    assert lu.rcond is lu.rcond
    assert not lu.rcond.flags.writeable


@pytest.mark.filterwarnings("ignore")
def test_never_worse_than_numpy_or_scipy():
    """Where their backward error is below 1e-12, ours is below 1e-9; tests/attack tries more.

    Of the last, with entries over 200 orders of magnitude, the transpose is solved better.
    """
    with np.errstate(all="ignore"):
        for seed in (*([7, k] for k in range(100)), [701, 18093]):
            assert not list(case(np.random.default_rng(seed)))


def test_errors_are_measured_where_products_overflow():
    """As the sum of their sizes does here, but not that of the terms."""
    A, x = sp.csc_array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1e308], [-0.99e308]])
    b = np.array([[0.0], [-0.99e308]])
    with np.errstate(all="ignore"):
        assert 1e-3 < normwise_by_terms(A, x, b)[0] < 1e-2
        b, x = np.array([[0.0], [-1e308]]), np.array([[1e308], [-1e308]])
        assert normwise_by_terms(A, x, b)[0] == 0


@pytest.mark.parametrize(("seed", "n"), [(738, 12), (43, 5)])
def test_units_that_round_do_not_hide_that_a_matrix_is_singular(seed, n):
    """Powers of ten: reciprocal conditions are some 1e-15, or elimination finds a pivot of 0."""
    rng = np.random.default_rng(seed)
    L = laplacian(rng, n)
    units = 10.0 ** rng.integers(-6, 7, (2, n))
    with pytest.raises((IllConditionedWarning, SingularMatrixError)):
        solvers.splu(sp.csc_array(units[0][:, np.newaxis] * L * units[1]))


SMALL = np.array([[2.0, -3, -2, 0], [4, 3, -1, 0], [-3, 0, 5, -1], [-3, 0, 3, 10]])  # condition 6


@pytest.mark.parametrize("trans", TRANSPOSED)
@pytest.mark.parametrize("unit", [1, 1j])
def test_a_small_element_keeps_its_digits_after_easy_solutions(trans, unit):
    """Each solution is measured, also by factors that are small beside their matrix."""
    lu = solvers.splu(sp.csc_array(SMALL * unit))
    for again in range(2):
        D = TRANSPOSED[trans](SMALL * (1 + again))
        x = np.array([1.0, 2**36 + 1, 3, 2])
        b = D @ x  # exact
        factor = np.conj(unit) if trans == "H" else unit
        for _ in range(2):
            lu.solve(np.ones(4), trans)
        for right in (b, np.stack([np.ones(4), b, b[::-1]], axis=1)):
            y = lu.solve(right * factor, trans)
            for found, of in zip(y.reshape(4, -1).T, right.reshape(4, -1).T, strict=True):
                assert not found.imag.any()
                assert rowwise_error(D, found.real, of) < 1e-13
        lu.refactorise(sp.csc_array(2 * SMALL * unit))


#: Matrices and solutions that were not exact, why, and an element of b that is given instead.
POOR = {
    "columns in other units, after an easy right-hand side": (
        [[0, -1.366e-14, -0.9303], [7.317e-15, -1.63e-14, -0.5388], [0, -1.282e-14, -4.186e-15]],
        [1.0, 1, 1],
    ),
    "terms that are tiny in a block only, which sees b - 21 = 0 and elements of 0 or noise": (
        [[1, 0, 3, -6, 7], [2, 7, -6, 5, 0], [0, 0, 3, -5, 0], [5, 1, -2, -9, 0], [0, 0, 0, 0, 3]],
        [0, 2.0**30 + 1, 0, 0, 3],
    ),
    "complex terms that are tiny if sizes are |Re| + |Im|, twice too large in products": (
        [[1 + 1j, 1, 0], [3 - 1j, 0, 1 - 1j], [1 - 4j, -4 + 1j, -4 - 1j]],
        [1, 1, 3e12 * (1 + 1j)],
    ),
    "the same in another order": (
        [[1 + 1j, 1, 0], [1 - 4j, 0, -2 - 3j], [-4 - 1j, -4 - 4j, 4 - 1j]],
        [1, 1, 3e12 * (1 + 1j)],
    ),
    "b of one block is in range, but not times the factor of its rows": (
        [[1, 0, 0], [0, 2e80, 1e-220], [0, 1e80, 3e-220]],
        [1, 0, 2e-31],
    ),
}


@pytest.mark.parametrize("trans", TRANSPOSED)
@pytest.mark.parametrize("why", POOR)
def test_what_was_poor_is_exact(why, trans):
    D, x = map(np.array, POOR[why])
    b = D @ x
    lu = solvers.splu(sp.csc_array(TRANSPOSED[trans](D)))
    for right in (np.zeros(len(D)), b, b):
        assert rowwise_error(D, lu.solve(right, trans), right) < 1e-13


def test_units_of_rows_and_columns_share_a_scaling():
    """A product of an entry and the factor of its row alone vanishes: 1e-170 times 1e-170."""
    A, b = sp.csc_array([[1e170, -1e-170], [1e170, 1e-170]]), np.ones(2)
    for x in (solvers.splu(A).solve(b), linalg.spsolve(A, b), linalg.spsolve(A.tocsr(), b)):
        np.testing.assert_allclose(x, [1e-170, 0], rtol=1e-15)


@pytest.mark.parametrize(("trans", "upper", "lower"), [("N", 1e150, 1e-230), ("T", 1e50, 1e130)])
def test_what_overflows_between_blocks_does_not_if_the_solution_is_in_range(trans, upper, lower):
    """Two blocks and what couples them: its entry, scaled by rows, is beyond the range.

    The right-hand side is needed again then, however it is stored.
    """
    block = np.array([[2.0, 1.0], [1.0, 3.0]])
    D = np.block([[1e-300 * block, 1e80 * block[::-1]], [np.zeros((2, 2)), block]])
    D = TRANSPOSED[trans](D)
    b = D @ np.array([upper, 2 * upper, 3 * lower, 5 * lower])
    lu = solvers.splu(sp.csc_array(TRANSPOSED[trans](D)))
    for _ in range(3):
        assert rowwise_error(D, lu.solve(b, trans), b) < 1e-13
    some = np.outer(b, 2.0 ** np.arange(-2, 10))
    for right in (b, np.repeat(b, 2)[::2], some, some[:, ::2], np.asfortranarray(some)):
        before, right.flags.writeable = right.copy(), False  # written is a copy of it
        x = lu.solve(right, trans)
        assert rowwise_error(D, x, right) < 1e-13
        assert x.shape == right.shape
        np.testing.assert_array_equal(right, before)


@pytest.mark.parametrize("trans", "NTH")
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize(("above", "entry", "warns"), [(1, 1e-12, 1), (1, 2, 0), (0.01, 1e-12, 0)])
def test_what_couples_blocks_is_part_of_the_condition(trans, kind, above, entry, warns):
    """A block that loses twelve digits, and single ones that double the error each."""
    n = 20
    A = np.eye(n) - above * np.triu(np.ones((n, n)), 1) * (0.6 + 0.8j if kind is complex else 1)
    A[:, -1], A[-2:, -2:] = 0, [[1, 1], [1, 1 + entry]]
    lu = solvers.splu(sp.csc_array(TRANSPOSED[trans](A)))
    given = np.linspace(0.3, 1, n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = [lu.solve(A @ given, trans) for _ in range(2)]
    assert ["this right-hand side" in str(each.message) for each in caught] == [True] * warns
    assert (np.abs(x[0] - given).max() > 0.1) == bool(warns)


@pytest.mark.filterwarnings("ignore")
def test_no_digits_are_lost_in_silence():
    """Of small integers and structured patterns, in all units; tests/attack tries more."""
    with np.errstate(all="ignore"):
        assert not [
            words for k in range(60) for words in graded_case(np.random.default_rng([3, k]))
        ]


@pytest.mark.parametrize("trans", "NTH")
def test_units_are_no_reason_to_look_for_another_scaling(trans, monkeypatch):
    """That of the factors shows that the condition is none of the matrix."""
    monkeypatch.setattr("sparsematch._systems.factors.logarithmic_scaling", None)
    rng = np.random.default_rng(5)
    A = sp.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(200, 200))
    rows, cols = (sp.diags_array(10 ** rng.uniform(-9, 9, 200)) for _ in "rc")
    lu = splu(sp.csc_array(rows @ A @ cols))
    assert lu._factors.rcond_for(lu.solve(np.ones(200), trans), trans) > 1e-3


def test_the_condition_of_the_whole_is_estimated_once_for_pivots(monkeypatch):
    """A block with a small pivot makes it worth that, and other pivots do again."""
    asked, estimate = [], BlockFactors.rcond_for
    monkeypatch.setattr(
        BlockFactors, "rcond_for", lambda *given: asked.append(1) or estimate(*given)
    )
    D = np.triu(np.ones((4, 4))) + np.diag([1.0, 2.0, 3.0, 0.0])
    D[3, 2] = 1.0
    lu, b = None, np.ones(4)
    for small, times in ((1e-9, 1), (1e-9, 1), (1.5e-9, 1), (1e-5, 1), (1e-9, 2), (1e-10, 3)):
        D[3, 3] = D[2, 3] / D[2, 2] + small
        A = sp.csc_array(D)
        lu = lu or splu(A)
        lu.refactorise(A)
        for _ in range(2):
            assert np.abs(A @ lu.solve(b) - b).max() < 1e-5
        assert len(asked) == times


@pytest.mark.parametrize("trans", ["N", "T"])
def test_an_element_that_is_tiny_beside_the_others_has_its_digits(trans):
    """A row with terms of 1, beside a norm of 4e18 with that of the solution."""
    A = sp.csc_array([[4e9, 0, 9e-8], [0, 5e7, -7e9], [-3e-8, -1e-9, 0]])
    lu = splu(A if trans == "N" else A.T)
    for b in (np.array([2.0, 3, 1]), np.array([[2.0, 1], [3, 5], [1, 7]])):
        x = lu.solve(b, trans)
        terms = abs(A) @ np.abs(x) + np.abs(b)
        assert (np.abs(A @ x - b) <= 1e-13 * terms).all()
