"""Weighted transversals: against brute force and SciPy, duals, scaling, their check."""

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
    best_weight,
    check,
    check_scaling,
    magnitudes,
    weighted,
    with_values,
)


@pytest.mark.parametrize("job", JOBS)
@given(A=weighted(max_side=5, max_entries=16))
def test_against_brute_force(job, A):
    found = JOBS[job](A)
    check(A, found, job)
    size, most = best_weight(magnitudes(A), job)
    assert found.cardinality == size
    assert found.objective == pytest.approx(most, rel=1e-12, abs=1e-9)
    assert sm.is_optimal_transversal(A, found)


@pytest.mark.parametrize("job", JOBS)
@given(A=weighted(max_side=30, max_entries=120))
def test_certificates(job, A):
    found = JOBS[job](A)
    check(A, found, job)
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
    exact, found = (
        sm.maximum_product_transversal(A),
        sm.maximum_product_transversal(A, approximate=True),
    )
    assert found.approximate
    check_scaling(A, found)
    for scale in (found.row_scale, found.col_scale):
        assert np.all(np.frexp(scale)[0] == 0.5)
    assert found.cardinality == exact.cardinality
    assert (
        exact.objective - found.cardinality * np.log(2) - 1e-9
        <= found.objective
        <= exact.objective + 1e-9
    )
    assert sm.is_optimal_transversal(A, found, tolerance=0.7)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("name", GALLERY)
def test_gallery(job, name):
    A = GALLERY[name]()
    A.data[~np.isfinite(A.data)] = 5
    A = with_values(A, np.random.default_rng(3), "ties") if name != "explicit_zeros" else A
    check(A, JOBS[job](A), job)


@pytest.mark.parametrize("maximize", [True, False])
def test_against_scipy(maximize):
    """On matrices of full rank, wide and tall too."""
    rng = np.random.default_rng(17)
    for shape in ((60, 60), (40, 90), (90, 40)):
        A = sp.csr_array(random_matrix(*shape, 6, seed=19) + sp.eye_array(*shape))
        A.data = rng.uniform(1, 100, A.nnz)
        if maximize:
            rows, cols = min_weight_full_bipartite_matching(A, maximize=True)
            assert sm.maximum_sum_transversal(A).objective == pytest.approx(
                A[rows, cols].sum(), rel=1e-13
            )
        else:
            cost = A.copy()
            cost.data = 10 - np.log(A.data)
            rows, cols = min_weight_full_bipartite_matching(cost)
            found = sm.maximum_product_transversal(A)
            assert found.objective == pytest.approx(np.log(A[rows, cols]).sum(), rel=1e-13)


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

    def change(**fields):
        kept = {name: getattr(found, name) for name in found.__dataclass_fields__}
        return sm.WeightedTransversal(**{**kept, **fields})

    assert sm.is_optimal_transversal(A, change())
    assert not sm.is_optimal_transversal(A, change(matching=other.matching))
    assert not sm.is_optimal_transversal(A, change(row_dual=found.row_dual + 1))
    assert not sm.is_optimal_transversal(A, change(row_dual=found.row_dual - 1))
    fewer = found.matching.row_mate.copy()
    fewer[fewer == 0] = -1
    cols = found.matching.col_mate.copy()
    cols[0] = -1
    assert not sm.is_optimal_transversal(A, change(matching=sm.Matching(fewer, cols)))
    turned = np.roll(np.arange(30), 1)
    assert not sm.is_optimal_transversal(
        A, change(matching=sm.Matching(turned, np.argsort(turned)))
    )


def test_factors_out_of_range_are_cut_off():
    """Duals that differ by more than doubles can hold: the factors are cut off."""
    n = 20
    A = sp.diags_array([np.full(n, 1e-200), np.full(n - 1, 1e200)], offsets=[0, 1], format="csr")
    with pytest.warns(RuntimeWarning, match="cut off"):
        found = sm.maximum_product_transversal(A)
    assert sm.is_optimal_transversal(A, found)
    assert np.all(np.isfinite(found.row_scale))
    assert np.all(found.col_scale > 0)
