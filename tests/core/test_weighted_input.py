"""Weighted transversals: every kind of input, wrong input, other threads meanwhile."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import frozen, random_matrix, ticks_during
from sparsematch._input import duplicates
from sparsematch._input.weighted import as_weighted
from strategies import with_index_type
from weights import JOBS, check, check_scaling, with_values

pytestmark = pytest.mark.asan


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64, np.longdouble, complex]
)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_types(dtype, form, index):
    """Any numbers, index type and format; the result has the type; nothing is modified."""
    D = np.array([[3, 1, 0], [100, 7, 2], [0, 5, 9]]).astype(dtype)
    A = sp.csr_array(D).asformat(form)
    if form != "coo":
        A = frozen(with_index_type(A, index))
    for job, call in JOBS.items():
        found = call(A)
        check(sp.csr_array(D.astype(np.complex128)), found, job)
        if form != "coo":
            assert found.matching.row_mate.dtype == index
        for array in (found.row_dual, found.col_dual, found.matching.row_mate):
            assert not array.flags.writeable


def test_absolute_values_of_complex_and_of_extreme_numbers():
    A = sp.csr_array([[3 + 4j, 4.9], [1j, 1]])
    assert sm.maximum_sum_transversal(A).objective == pytest.approx(6)
    low = np.iinfo(np.int64).min
    assert sm.maximum_sum_transversal(sp.csr_array([[low]])).objective == 2.0**63
    tiny = sp.csr_array([[5e-324, 1e308], [1e308, 5e-324]])
    check_scaling(tiny, sm.maximum_product_transversal(tiny))


def test_duplicates_are_added_up():
    """2 - 2 is zero, hence no entry; 1 + 4 is more than 4."""
    values = np.array([2.0, -2.0, 3.0, 1.0, 4.0, 4.0])
    A = sp.csr_array((values, [0, 0, 1, 0, 0, 1], [0, 3, 6]), shape=(2, 2))
    before = A.data.copy()
    found = sm.maximum_product_transversal(A)
    assert found.matching.row_mate.tolist() == [1, 0]
    assert np.exp(found.objective) == pytest.approx(15)
    assert np.array_equal(A.data, before)
    assert A.indices.tolist() == [0, 0, 1, 0, 0, 1]


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
    A = sp.csr_array(np.eye(2))
    A.indices = np.array([0, 7], np.int32)
    with pytest.raises(ValueError, match=r"A\.indices\[1\] is 7"):
        call(A)
    A = sp.csr_array(np.eye(2))
    A.data = np.ones(1)
    with pytest.raises(ValueError, match=r"A\.data has shape \(1,\), but there are 2 entries"):
        call(A)


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
    """Where a piece is a few entries, and rows are empty, long, or all."""
    rng = np.random.default_rng(3)
    for shape in ((40, 9), (9, 40), (1, 5), (5, 1)):
        rows, cols = (np.sort(rng.integers(0, n, 150)) for n in shape)
        indptr = np.searchsorted(rows, np.arange(shape[0] + 1))
        A = sp.csr_array((rng.integers(-2, 3, 150) / 4, rng.permutation(cols), indptr), shape)
        expected = as_weighted(A.copy())
        with monkeypatch.context() as patched:
            patched.setattr(duplicates, "_ADDED_AT_ONCE", 4)
            found = as_weighted(A)
        assert np.array_equal(found.magnitude, expected.magnitude)
        for name in ("indptr", "indices"):
            assert np.array_equal(getattr(found.graph, name), getattr(expected.graph, name))
        dense = abs(sp.coo_array((A.data, (rows, A.indices)), shape).toarray())
        assert np.array_equal(dense[dense != 0], found.magnitude)
