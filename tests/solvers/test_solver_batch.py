"""Many matrices of one pattern, factorised and solved in one call."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import MatrixRankWarning

from calls import batch_of
from sparsematch import set_workers, solvers
from test_solvers import FORMS, staircase, turned


@settings(max_examples=25)
@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from((1, 1, 2, 5)), min_size=1, max_size=5),
    st.sampled_from(FORMS),
    st.sampled_from((float, complex)),
    st.sampled_from((float, complex)),
    st.integers(0, 5),
    st.integers(1, 3),
)
def test_solves_each(seed, sizes, form, kind, right, k, workers):
    """By a judge that knows dense matrices; a right-hand side for each, and one for all."""
    rng = np.random.default_rng(seed)
    A, values, whole = batch_of(rng, staircase(rng, sizes, 0.7), form, k, kind)
    lu, n = solvers.splu(A), A.shape[0]
    before = lu.solve(np.ones(n))
    b = rng.standard_normal((k, n)).astype(right)
    for trans in "NTH":
        x = lu.solve_batch(values, b, trans, workers=workers)
        assert x.shape == (k, n)
        assert x.dtype == np.result_type(values, b)
        for B, y, c in zip(whole, x, b, strict=True):
            assert np.allclose(turned(B, trans) @ y, c, rtol=1e-9, atol=1e-9)
        again = lu.solve_batch(values, np.ones(n), trans, workers=workers)
        for B, y in zip(whole, again, strict=True):
            assert np.allclose(turned(B, trans) @ y, 1, rtol=1e-9, atol=1e-9)
    assert np.array_equal(lu.solve(np.ones(n)), before)


def test_lists_and_other_types():
    lu = solvers.splu(sp.csc_array([[4.0, 1.0], [0.0, 2.0]]))
    assert lu.solve_batch([[4, 1, 2]], [5, 2]).tolist() == [[1, 1]]
    assert lu.solve_batch(np.array([[4, 1, 2]], np.float32), [[5, 2]]).dtype == np.float64
    values = np.array([[4, 1, 2]], ">f8")
    assert lu.solve_batch(values, [5, 2]).tolist() == [[1, 1]]


def singular_batch():
    A = sp.csr_array([[1.0, 2, 0], [3, 4, 0], [0, 1, 1]])
    values = np.array([[1.0, 2, 3, 4, 1, 1]] * 6)
    values[[1, 4], 3] = 6  # twice the first row
    values[3, 4] = np.inf
    return solvers.splu(A), values


@pytest.mark.parametrize("workers", [1, 2, 6])
def test_what_is_refused(workers):
    """The first item with its reason, and which others; or NaN for these alone."""
    lu, values = singular_batch()
    values[1, 2:4] = 3, 6
    values[4, 2:4] = 3, 6
    words = r"^item 1: numerically singular: a block .*; refused as well, of 6: 3, 4"
    with pytest.raises(solvers.SingularMatrixError, match=words) as caught:
        lu.solve_batch(values, np.ones(3), workers=workers)
    assert caught.value.rows.tolist() == [0, 1]
    assert "rank 2" in str(caught.value)
    words = r"^item 0: A\[2, 1\] is inf, but values must be finite$"
    with pytest.raises(solvers.NotFiniteError, match=words) as caught:
        lu.solve_batch(values[3:4], np.ones(3), workers=workers)
    assert (caught.value.row, caught.value.col) == (2, 1)
    words = r"3 of 6 matrices are singular, or not finite: .* NaN \(items 1, 3, 4\)"
    with pytest.warns(MatrixRankWarning, match=words):
        x = lu.solve_batch(values, np.ones(3), singular="nan", workers=workers)
    assert np.isnan(x).all(axis=1).tolist() == [False, True, False, True, True, False]
    assert np.allclose(x[[0, 2, 5]], [-1, 1, 0])
    assert np.allclose(lu.solve(np.ones(3)), [-1, 1, 0])


def test_many_that_are_refused_are_not_all_named():
    lu, values = singular_batch()
    values = np.repeat(values[3:4], 20, axis=0)
    with pytest.raises(solvers.NotFiniteError, match=r"of 20: 1, 2, .*, 10, \.\.\.$"):
        lu.solve_batch(values, np.ones(3))


def test_bad_arguments():
    lu, values = singular_batch()
    b = np.ones(3)
    for given_values, right, options, error, text in (
        (values[0], b, {}, ValueError, r"values has shape \(6,\), but must have shape \(k, 6\)"),
        (values[:, :5], b, {}, ValueError, r"values has shape \(6, 5\)"),
        (values, np.ones(4), {}, ValueError, r"b has shape \(4,\), .* \(3,\) or \(6, 3\)"),
        (values, np.ones((5, 3)), {}, ValueError, r"b has shape \(5, 3\)"),
        (values, values.astype(str)[:, :3], {}, TypeError, "b must be an array of numbers"),
        (values.astype(object), b, {}, TypeError, "values must be an array of numbers"),
        (values, b, {"trans": "X"}, ValueError, "'X'.*'N', 'T', 'H'"),
        (values, b, {"singular": "zero"}, ValueError, "'zero'.*'raise', 'nan'"),
        (values, b, {"workers": 0}, ValueError, "workers is 0"),
    ):
        with pytest.raises(error, match=text):
            lu.solve_batch(given_values, right, **options)


def test_workers_share_the_items(monkeypatch):
    """As many threads as asked for, by the call or around it, and no more than items."""
    lu, values = singular_batch()
    monkeypatch.setenv("SPARSEMATCH_CORES", "8")
    seen, exact = set(), solvers.BlockTriangularLU.solve
    barrier = threading.Barrier(3)

    def solve(self, b, trans):
        barrier.wait(20)
        seen.add(threading.get_ident())
        return exact(self, b, trans)

    monkeypatch.setattr(solvers.BlockTriangularLU, "solve", solve)
    with set_workers(3):
        lu.solve_batch(values[:3] * 0 + values[0], np.ones(3))
    assert len(seen) == 3


@pytest.mark.parametrize("workers", [1, 2])
def test_other_errors_end_the_call(monkeypatch, workers):
    lu, values = singular_batch()

    def fail(self, b, trans):
        raise KeyboardInterrupt

    monkeypatch.setattr(solvers.BlockTriangularLU, "solve", fail)
    with pytest.raises(KeyboardInterrupt):
        lu.solve_batch(values[[0, 0, 0, 0]], np.ones(3), workers=workers)
