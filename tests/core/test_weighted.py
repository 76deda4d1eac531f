"""Weighted transversals: brute force, duals, scaling, their check, every kind of input."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

import sparsematch as sm
from calls import frozen, random_matrix, ticks_during
from gallery import GALLERY
from sparsematch._input import duplicates
from sparsematch._input.weighted import as_weighted
from strategies import larger, with_index_type
from test_weighted_matching import check as check_by_cost
from weights import (
    JOBS,
    KINDS,
    all_transversals,
    best_weight,
    check,
    check_scaling,
    exact_sum,
    magnitudes,
    weighted,
    with_values,
)

pytestmark = [pytest.mark.asan, pytest.mark.wheel]


@pytest.mark.parametrize("job", JOBS)
@given(A=weighted(max_side=5, max_entries=16))
def test_against_brute_force(job, A):
    found = JOBS[job](A)
    check(A, found, job)
    size, most = best_weight(magnitudes(A), job)
    assert found.cardinality == size
    assert found.objective == pytest.approx(most, rel=1e-12, abs=1e-9)
    assert sm.is_optimal_transversal(A, found)


@given(A=larger(max_side=150), seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_larger_ones(A, seed, kind):
    A = with_values(A, np.random.default_rng(seed), kind)
    for job, call in JOBS.items():
        found = call(A)
        check(A, found, job)
        assert sm.is_optimal_transversal(A, found)


@given(A=weighted(max_side=25, max_entries=100))
def test_scaling(A):
    found = sm.maximum_product_transversal(A)
    check_scaling(A, found)
    S = found.permute(A)
    assert S.shape == A.shape
    if found.is_perfect:
        np.testing.assert_allclose(np.abs(S.diagonal()), 1, rtol=1e-12)


@given(A=weighted(max_side=25, max_entries=100))
def test_approximate(A):
    exact = sm.maximum_product_transversal(A)
    found = sm.maximum_product_transversal(A, approximate=True)
    assert found.approximate
    check_scaling(A, found)
    for scale in (found.row_scale, found.col_scale):
        assert np.all(np.frexp(scale)[0] == 0.5)
    assert found.cardinality == exact.cardinality
    loss = exact.objective - found.objective
    assert -1e-9 <= loss <= found.cardinality * np.log(2) + 1e-9
    assert sm.is_optimal_transversal(A, found, tolerance=0.7)


@pytest.mark.parametrize("largest", [1, 3, 1000])
def test_many_equal_costs(largest):
    """Whole numbers, of few or of many values: free rows search together."""
    rng = np.random.default_rng(47)
    A = sp.csr_array(random_matrix(3000, 3000, 3, seed=53) + sp.csr_array(sp.eye_array(3000))[::-1])
    A.data = rng.integers(1, largest, A.nnz, endpoint=True).astype(float)
    found = sm.maximum_sum_transversal(A)
    assert sm.is_optimal_transversal(A, found, tolerance=0)
    rows, cols = min_weight_full_bipartite_matching(A, maximize=True)
    assert found.objective == A[rows, cols].sum()


def test_pairs_before_weight():
    """Two small entries, not one huge one."""
    A = sp.csr_array([[1e150, 1e-150], [1e-150, 0]])
    for job, call in JOBS.items():
        found = call(A)
        assert found.matching.row_mate.tolist() == [1, 0], job
        assert sm.is_optimal_transversal(A, found)


def test_rows_and_columns_that_are_left():
    A = sp.csr_array([[0, 9, 0, 2], [0, 4, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0]])
    found = sm.maximum_product_transversal(A)
    assert (found.unmatched_rows.tolist(), found.unmatched_cols.tolist()) == ([1, 3], [0, 2])
    assert np.exp(found.objective) == pytest.approx(16)
    assert str(found) == (
        "WeightedTransversal(4x4, product, cardinality 2)\n  unmatched rows: 2 (1, 3)\n  unmatched "
        "columns: 2 (0, 2)"
    )
    assert not found.is_perfect


@pytest.mark.parametrize("job", JOBS)
def test_the_check_finds_what_is_wrong(job):
    """Of pairs, which may be too few or no entries, duals, objective and factors."""
    rng = np.random.default_rng(23)
    A = with_values(sp.csr_array(random_matrix(30, 30, 4, seed=29) + sp.eye_array(30)), rng)
    found = JOBS[job](A)
    other = JOBS[job](with_values(A, rng))

    change = partial(replace, found)
    assert sm.is_optimal_transversal(A, change())
    assert not sm.is_optimal_transversal(A, change(matching=other.matching))
    assert not sm.is_optimal_transversal(A, change(row_dual=found.row_dual + 1))
    assert not sm.is_optimal_transversal(A, change(row_dual=found.row_dual - 1))
    assert not sm.is_optimal_transversal(A, change(col_dual=found.col_dual[1:]))
    assert not sm.is_optimal_transversal(A, change(row_scale=np.ones(31)))
    fewer = found.matching.row_mate.copy()
    fewer[fewer == 0] = -1
    cols = found.matching.col_mate.copy()
    cols[0] = -1
    assert not sm.is_optimal_transversal(A, change(matching=sm.Matching(fewer, cols)))
    turned = np.roll(np.arange(30), 1)
    other = sm.Matching(turned, np.argsort(turned))
    assert not sm.is_optimal_transversal(A, change(matching=other))
    for objective in (found.objective * (1 + 1e-9), -found.objective, np.inf, np.nan):
        assert not sm.is_optimal_transversal(A, change(objective=objective))
    if job != "product":
        return
    rough = sm.maximum_product_transversal(A, approximate=True)
    for right, tolerance in ((found, None), (rough, 0.7)):
        assert sm.is_optimal_transversal(A, right, tolerance=tolerance)
        for side in ("row_scale", "col_scale"):
            for k, factor in ((0, 1 + 1e-6), (7, np.nan), (9, -1), (11, np.inf), (13, 0)):
                scale = getattr(right, side).copy()
                scale[k] *= factor
                wrong = replace(right, **{side: scale})
                assert not sm.is_optimal_transversal(A, wrong, tolerance=tolerance)


def test_factors_out_of_range_are_cut_off():
    """Duals that differ by more than doubles can hold: the factors are cut off."""
    n = 20
    A = sp.diags_array([np.full(n, 1e-200), np.full(n - 1, 1e200)], offsets=[0, 1], format="csr")
    with pytest.warns(RuntimeWarning, match="cut off"):
        found = sm.maximum_product_transversal(A)
    assert sm.is_optimal_transversal(A, found)
    assert np.all(np.isfinite(found.row_scale))
    assert np.all(found.col_scale > 0)


@pytest.mark.parametrize("ends", [(1e-30, 1e30), (1e-200, 1e200), (5e-324, 1.7e308)])
def test_scaling_beyond_the_range_of_doubles(ends):
    """Mantissas and exponents have none: pairs are 1, and nothing is larger."""
    n = 40
    A = sp.diags_array([np.full(n, ends[0]), np.full(n - 1, ends[1])], offsets=[0, 1], format="csr")
    for B in (A, A.tocsc(), sp.csr_array(A.toarray() * 1j)):
        with pytest.warns(RuntimeWarning, match="cut off"):
            found = sm.maximum_product_transversal(B)
        S = abs(found.scale(B))
        assert S.data.max() <= 1 + 1e-11
        assert S[found.matching.pairs()] == pytest.approx(np.ones(n), rel=1e-11)
        for mantissa, _ in found.scale_parts():
            assert mantissa.min() >= 0.5
            assert mantissa.max() < 1


def test_parts_of_factors():
    """They are the factors where these are doubles."""
    A = with_values(GALLERY["explicit_zeros"](), np.random.default_rng(5))
    found = sm.maximum_product_transversal(A)
    for (mantissa, exponent), scale in zip(
        found.scale_parts(), (found.row_scale, found.col_scale), strict=True
    ):
        assert np.array_equal(np.ldexp(mantissa, exponent), scale)
    with pytest.raises(ValueError, match="there are no factors"):
        sm.maximum_sum_transversal(A).scale_parts()


def transversal(row_mate, n_cols, like):
    """Pairs with the duals of another transversal."""
    col_mate = np.full(n_cols, -1)
    col_mate[row_mate[row_mate >= 0]] = np.flatnonzero(row_mate >= 0)
    return replace(like, matching=sm.Matching(row_mate, col_mate))


@pytest.mark.parametrize(
    "values",
    [
        (0, 1, 1e308, 1.7e308),
        (9e307, 1e308, np.nextafter(1e308, 2e308), np.finfo(float).max),
        (0, 5e-324, 1e-323, 1.5e-323, 5e-322),
        (5e-324, 1e-310, 2.2e-308, 3e-308),
        (0, 5e-324, 1e-200, 1, 1e200, 1e308),
        (0, 1e297, 3e297, 2e300),
    ],
)
def test_sums_of_any_finite_doubles(values):
    """In exact arithmetic: the best of all, with a proof of it and of no worse one."""
    rng = np.random.default_rng(41)
    for _ in range(60):
        D = rng.choice(values, rng.integers(1, 4, 2))
        A = (sp.csr_array if rng.random() < 0.5 else sp.csc_array)(D)
        found = sm.maximum_sum_transversal(A)
        duals = np.abs(np.r_[found.row_dual, found.col_dual])
        top = max(Fraction(D.max()), Fraction(duals.max()) * Fraction(found.dual_unit))
        all_of_them = list(all_transversals(D))
        rank = max(np.sum(mate >= 0) for mate in all_of_them)
        best = max(exact_sum(D, mate) for mate in all_of_them if np.sum(mate >= 0) == rank)
        assert found.cardinality == rank
        assert best - exact_sum(D, found.matching.row_mate) <= top / 2**48
        overflows = best > Fraction(np.finfo(float).max)
        assert found.objective == pytest.approx(np.inf if overflows else float(best), rel=1e-15)
        for mate in all_of_them:
            loss = best - exact_sum(D, mate)
            accepted = sm.is_optimal_transversal(A, transversal(mate, D.shape[1], found))
            assert not accepted or (np.sum(mate >= 0) == rank and loss <= 2 * rank * top / 2**40)
            assert accepted or np.sum(mate >= 0) < rank or loss > 0


def test_duals_beyond_the_range_of_doubles():
    """Each column's is lower by 1.7e308 than the one before."""
    n = 10
    A = sp.diags_array([np.ones(n), np.full(n - 1, 1.7e308)], offsets=[0, 1], format="csr")
    for B in (A, A.tocsc(), A.T.tocsr()):
        found = sm.maximum_sum_transversal(B)
        assert found.dual_unit > 1
        assert found.objective == n
        assert np.isfinite([found.row_dual, found.col_dual]).all()
        assert sm.is_optimal_transversal(B, found)
    A = sp.csr_array([[1.7e308, 1], [1, 1.7e308]])
    found = sm.maximum_sum_transversal(A)
    for beyond in (np.inf, -np.inf, np.nan):
        wrong = replace(found, row_dual=np.full(2, beyond), dual_unit=1.0)
        assert not sm.is_optimal_transversal(A, wrong)


def test_a_full_matching_of_large_costs():
    """The largest doubles of both signs."""
    D = np.array([[1.7e308, -1.7e308, 1e308], [-1e308, 1e308, 1.7e308]])
    for maximize, best in ((False, [1, 0]), (True, [0, 2])):
        rows, cols = sm.csgraph.min_weight_full_bipartite_matching(sp.csr_array(D), maximize)
        assert cols[np.argsort(rows)].tolist() == best


def test_scaling_of_entries_that_one_factor_takes_out_of_range():
    """The row's factor alone would make zero and infinity of them."""
    order, none = np.arange(2), np.zeros(2)
    factors = np.array([1e-200, 1e250]), np.array([1e300, 1e-300])
    matching = sm.Matching(order, order)
    given = sm.WeightedTransversal(matching, "product", 0.0, none, none, *factors)
    A = sp.csr_array([[1e-150, 0], [0, -1e100]])
    assert given.scale(A).diagonal() == pytest.approx([1e-50, -1e50], rel=1e-14)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64, np.longdouble, complex]
)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_types(dtype, form, index):
    """Any numbers, index type and format; the result has the type; nothing is modified."""
    D = np.array([[3, 1, 0], [100, 7, 2], [0, 5, 9]]).astype(dtype)
    A, costs = sp.csr_array(D).asformat(form), (np.full(3, 2.0), np.zeros(3))
    if form != "coo":
        A = frozen(with_index_type(A, index))
    results = {job: call(A) for job, call in JOBS.items()}
    for job, found in results.items():
        check(sp.csr_array(D.astype(np.complex128)), found, job)
    for maximize in (True, False)[: 2 * (dtype is not complex)]:
        found = sm.maximum_weight_matching(A, maximize=maximize, unmatched_cost=(2, None))
        check_by_cost(A, found, costs, maximize, False)
        assert not found.row_unmatched_cost.flags.writeable
        results[maximize] = found
    for found in results.values():
        if form != "coo":
            assert found.matching.row_mate.dtype == found.matching.col_mate.dtype == index
        for array in (found.row_dual, found.col_dual, found.matching.row_mate):
            assert not array.flags.writeable


def test_absolute_values_of_complex_and_of_extreme_numbers():
    A = sp.csr_array([[3 + 4j, 4.9], [1j, 1]])
    assert sm.maximum_sum_transversal(A).objective == pytest.approx(6)
    low = np.iinfo(np.int64).min
    assert sm.maximum_sum_transversal(sp.csr_array([[low]])).objective == 2.0**63
    tiny = sp.csr_array([[5e-324, 1e308], [1e308, 5e-324]])
    check_scaling(tiny, sm.maximum_product_transversal(tiny))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, complex(0, np.inf), complex(np.nan, 1)])
@pytest.mark.parametrize("call", JOBS.values(), ids=JOBS)
def test_what_is_not_finite_is_refused(call, value):
    A = sp.csr_array(np.array([[1, 2], [3, 4]], type(value)))
    A.data[2] = value
    for B in (A, A.tocsc()):
        with pytest.raises(ValueError, match=r"A\[1, 0\] is .*not finite; weights must be finite"):
            call(B)
    with pytest.raises(ValueError, match="too large for a double"):
        call(sp.csr_array([[1, 1.5e308 + 1.5e308j]]))


@pytest.mark.parametrize("call", JOBS.values(), ids=JOBS)
def test_bad_input(call):
    with pytest.raises(TypeError, match=r"A must be a (SciPy )?sparse array or matrix"):
        call([[1]])
    with pytest.raises(TypeError, match=r"A\.data must hold numbers, not object"):
        call(sp.csr_array((np.array([1, "a"], object), [0, 1], [0, 2]), shape=(1, 2)))


def test_bad_arguments():
    A = sp.csr_array(np.eye(2))
    best = sm.maximum_product_transversal(A, scaling=False)
    assert best.row_scale is None
    for name in ("scaling", "approximate"):
        with pytest.raises(TypeError, match=f"{name} must be True or False, not str"):
            sm.maximum_product_transversal(A, **{name: "yes"})
    with pytest.raises(ValueError, match="there are no factors"):
        best.scale(A)
    with pytest.raises(ValueError, match=r"shape \(2, 3\), but"):
        sm.maximum_product_transversal(A).scale(sp.csr_array((2, 3)))
    words = r"transversal must be a WeightedTransversal, not .*Matching"
    with pytest.raises(TypeError, match=words):
        sm.is_optimal_transversal(A, best.matching)
    with pytest.raises(ValueError, match="tolerance is -1"):
        sm.is_optimal_transversal(A, best, tolerance=-1)
    with pytest.raises(TypeError, match="tolerance must be a number"):
        sm.is_optimal_transversal(A, best, tolerance="1")
    with pytest.raises(ValueError, match=r"A has shape \(3, 3\)"):
        sm.is_optimal_transversal(sp.eye_array(3, format="csr"), best)


def test_the_interpreter_runs_meanwhile():
    rng = np.random.default_rng(41)
    A = random_matrix(30_000, 30_000, 8, seed=43) + sp.eye_array(30_000)
    A = with_values(sp.csr_array(A), rng, "ties")
    assert ticks_during(partial(sm.maximum_product_transversal, A)) >= 5


def test_duplicates_are_added_up_in_pieces(monkeypatch):
    """Where a piece is a few entries, and rows are empty, long, or all; sums of zero are left out.

    What is given stays as it is.
    """
    rng = np.random.default_rng(3)
    for shape in ((40, 9), (9, 40), (1, 5), (5, 1)):
        rows, cols = (np.sort(rng.integers(0, n, 150)) for n in shape)
        indptr = np.searchsorted(rows, np.arange(shape[0] + 1))
        A = sp.csr_array((rng.integers(-2, 3, 150) / 4, rng.permutation(cols), indptr), shape)
        before = A.copy()
        expected = as_weighted(A.copy())
        with monkeypatch.context() as patched:
            patched.setattr(duplicates, "SORTED_AT_ONCE", 4)
            found = as_weighted(A)
        assert np.array_equal(found.magnitude, expected.magnitude)
        assert all(map(np.array_equal, (A.data, A.indices), (before.data, before.indices)))
        for name in ("indptr", "indices"):
            assert np.array_equal(getattr(found.graph, name), getattr(expected.graph, name))
        dense = abs(sp.coo_array((A.data, (rows, A.indices)), shape).toarray())
        assert np.array_equal(dense[dense != 0], found.magnitude)


@pytest.mark.filterwarnings("ignore:factors beyond the range")
def test_a_stored_zero_stays_zero_whatever_its_factors():
    A = sp.csr_array(np.array([[1, 5e-324], [5e-324, 1.7e308]]))
    A.data[0] = 0
    found = sm.maximum_product_transversal(A)
    with np.errstate(over="raise", invalid="raise"):
        scaled = found.scale(A).toarray()
    assert scaled[0, 0] == 0
    np.testing.assert_allclose(scaled, [[0, 1], [1, 1]], rtol=1e-12)
