"""What solvers accept and refuse: patterns, duplicates, singular matrices, wrong arguments."""

import copy
import pickle
import sys
import types
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import outside
from sparsematch import solvers
from sparsematch.solvers import _external, _ilu
from test_solvers import check


def test_the_pattern_is_checked():
    A = sp.csr_array(np.array([[1.0, 2, 0], [0, 3, 4], [5, 0, 6]]))
    analysis = solvers.analyse(A)
    B = A.copy()
    B.indices[:2] = 2, 0
    with pytest.raises(ValueError, match="another pattern"):
        analysis.factorise(B)
    with pytest.raises(ValueError, match="shape"):
        analysis.factorise(A[:2])
    with pytest.raises(ValueError, match=r"values of shape \(5,\) for a matrix with 6 entries"):
        analysis.factorise(A.data[1:])
    with pytest.raises(TypeError, match="array of values"):
        analysis.factorise([1.0] * 6)
    # the same pattern in another format
    check(A.toarray(), analysis.factorise(A.tocsc()), np.ones(3))


def test_duplicates_are_added():
    """In compressed and coordinate form, sorted or not, int32 or int64."""
    rows, cols = np.array([0, 1, 0, 0, 1]), np.array([1, 0, 1, 0, 1])
    values = np.array([1.0, 2, 3, 4, 5])
    dense = np.array([[4.0, 4], [2, 5]])
    for dtype in (np.int32, np.int64):
        coo = sp.coo_array((values, (rows.astype(dtype), cols.astype(dtype))), shape=(2, 2))
        order = np.argsort(rows, kind="stable")
        indptr = np.array([0, 3, 5], dtype)
        csr = sp.csr_array((values[order], cols[order].astype(dtype), indptr), shape=(2, 2))
        for A in (coo, csr, csr.T):
            expected = dense.T if A.format == "csc" else dense
            lu = solvers.splu(A)
            check(expected, lu, np.array([1.0, 2]))
            lu.refactorise(A.data)
            check(expected, lu, np.array([1.0, 2]))


@pytest.mark.parametrize("kind", [float, complex])
def test_an_incomplete_factorisation_of_a_singular_matrix(kind):
    """With everything kept, there is no pivot; SuperLU's own error does not come through."""
    with pytest.raises(solvers.SingularMatrixError, match="3 rows and columns") as caught:
        solvers.spilu(sp.csc_array(np.ones((3, 3), kind)), drop_tol=0)
    assert caught.value.rows.tolist() == caught.value.cols.tolist() == [0, 1, 2]


@pytest.mark.parametrize("drop_tol", [0, 0.0, 1e-300])
def test_superlu_is_not_asked_to_keep_zeros(drop_tol, monkeypatch):
    """Its workspace is too small for a column that has some of them twice."""
    given = {}

    def factorise(matrix, **options):
        given.update(options)
        return sp.linalg.spilu(matrix, **options)

    monkeypatch.setattr(_ilu, "_spilu", factorise)
    A = sp.csc_array(np.array([[1.0, 0.5], [0.5, 1.0]]))
    x = solvers.spilu(A, drop_tol).solve(A @ [1.0, 2.0])
    assert np.finfo(float).eps ** 2 <= given["drop_tol"] < np.finfo(float).eps
    assert np.allclose(x, [1, 2], rtol=1e-14)


@pytest.mark.parametrize(
    ("drop_tol", "error"), [("small", TypeError), (-1e-3, ValueError), (np.nan, ValueError)]
)
def test_a_drop_tolerance_is_a_number(drop_tol, error):
    with pytest.raises(error, match="drop_tol"):
        solvers.spilu(sp.eye_array(2, format="csc"), drop_tol)


def test_superlu_without_memory(monkeypatch):
    def no_memory(*args, **options):
        raise RuntimeError("SUPERLU_MALLOC fails for buf in intCalloc() at line 168 in file m.c")

    monkeypatch.setattr(_external, "splu", no_memory)
    monkeypatch.setattr(_ilu, "_spilu", no_memory)
    A = sp.csc_array(np.array([[4.0, 1, 1], [1, 4, 1], [1, 1, 4]]))
    everything = {"solver": outside()}
    for call in (
        partial(solvers.splu, **everything),
        solvers.spilu,
        partial(solvers.spsolve, b=np.ones(3), **everything),
    ):
        with pytest.raises(MemoryError, match="less fill"):
            call(A)


def test_after_an_error_there_is_nothing():
    A = sp.csc_array(np.array([[1.0, 2], [3, 4]]))
    lu = solvers.splu(A)
    with pytest.raises(solvers.SingularMatrixError):
        lu.refactorise(np.ones(4))
    assert "failed" in repr(lu)
    with pytest.raises(RuntimeError, match="nothing to solve with"):
        lu.solve(np.ones(2))
    lu.refactorise(A)
    assert np.allclose(A @ lu.solve(np.ones(2)), 1)


def test_bad_input():
    A = sp.csc_array(np.eye(3))
    for call, error, text in (
        (lambda: solvers.splu(np.eye(3)), TypeError, "SciPy sparse"),
        (lambda: solvers.splu(sp.csc_array((2, 3))), ValueError, r"square, but has shape \(2, 3\)"),
        (lambda: solvers.splu(A, solver="ssids"), ValueError, "'ssids'.*'superlu'"),
        (lambda: solvers.splu(A, pivoting="best"), ValueError, "'best'.*'auto', 'structure', 'pro"),
        (lambda: solvers.spilu(A, pivoting=1), TypeError, "pivoting"),
        (lambda: solvers.splu(A * np.nan), ValueError, r"A\[0, 0\] is nan"),
    ):
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("factorise", [solvers.splu, solvers.spilu])
@pytest.mark.parametrize(
    ("b", "trans", "error", "message"),
    [
        (np.ones(3), "N", ValueError, r"b has shape \(3,\), but must have shape \(2,\)"),
        (np.ones((2, 1, 1)), "N", ValueError, r"b has shape \(2, 1, 1\)"),
        (["a", "b"], "N", TypeError, "b must be an array of numbers"),
        (np.ones(2), "t", ValueError, "trans is 't', but must be one of 'N', 'T', 'H'"),
        (np.ones(2), 1, TypeError, "trans"),
    ],
)
def test_right_hand_sides_are_checked_alike(factorise, b, trans, error, message):
    with pytest.raises(error, match=message):
        factorise(sp.csc_array([[0.0, 2.0], [4.0, 1.0]])).solve(b, trans)


def test_arrays_of_pydata_sparse(monkeypatch):
    """Whatever their format; a stand-in will do, as the library is not imported."""
    dense = np.array([[4.0, 1], [1, 3]])

    class SparseArray:
        def to_scipy_sparse(self):
            return sp.coo_array(dense)

    monkeypatch.setitem(sys.modules, "sparse", types.SimpleNamespace(SparseArray=SparseArray))
    A, b = SparseArray(), np.ones(2)
    assert np.allclose(dense @ solvers.spsolve(A, b), b)
    assert np.allclose(dense @ solvers.spilu(A).solve(b), b)
    lu = solvers.analyse(A).factorise(A)
    lu.refactorise(A)
    check(dense, lu, b)


def test_empty():
    lu = solvers.splu(sp.csc_array((0, 0)))
    assert lu.solve(np.empty(0)).shape == (0,)
    assert lu.solve(np.empty((0, 2))).shape == (0, 2)
    assert solvers.splu(sp.csc_array(np.eye(2))).solve(np.empty((2, 0))).shape == (2, 0)


def test_factors_refuse_to_be_pickled():
    lu = solvers.splu(sp.csc_array(np.eye(3)))
    if hasattr(lu, "analysis"):
        with pytest.raises(TypeError, match="call splu there"):
            pickle.dumps(lu)
    analysis = solvers.analyse(sp.csc_array(np.eye(3)))
    assert copy.copy(analysis) is analysis
    assert copy.deepcopy(analysis) is analysis
    with pytest.raises(TypeError, match="call analyse there"):
        pickle.dumps(analysis)


@pytest.mark.parametrize("p", [[np.inf, 1.0], np.array([2**64 - 1, 1], np.uint64)])
def test_what_is_no_place(p):
    with pytest.raises(ValueError, match="p has the element"):
        sm.Matching.from_matlab(p, 2)


def test_whether_to_check_is_a_flag():
    lu = solvers.splu(sp.csc_array(np.array([[0.0, 2.0], [4.0, 1.0]])))
    assert np.allclose(lu.solve(np.array([2.0, 5.0]), check=False), 1)
    with pytest.raises(TypeError, match="True or False"):
        lu.solve(np.ones(2), check="no")
