"""Weighted transversals: against brute force and SciPy, duals, scaling, their check."""

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
from calls import random_matrix
from gallery import GALLERY
from strategies import larger
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
    """Another transversal, duals of another matrix, too few pairs, pairs that are no entries."""
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


@pytest.mark.parametrize("job", JOBS)
def test_the_check_reads_objective_and_factors(job):
    rng = np.random.default_rng(31)
    A = with_values(sp.csr_array(random_matrix(30, 30, 4, seed=29) + sp.eye_array(30)), rng)
    found = JOBS[job](A)
    assert sm.is_optimal_transversal(A, found)
    for objective in (found.objective * (1 + 1e-9), -found.objective, np.inf, np.nan):
        assert not sm.is_optimal_transversal(A, replace(found, objective=objective))
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
