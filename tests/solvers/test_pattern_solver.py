"""A solver that knows the patterns it has met."""

import contextlib
import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import MatrixRankWarning

from foreign import Bcsr, SparseTensor
from sparsematch.solvers import PatternSolver, SingularMatrixError
from test_solver_zeros import compressed

A = sp.csr_array([[4.0, 1, 0], [0, 2, 1], [1, 0, 3]])
B = sp.csr_array([[4.0, 0, 1], [1, 2, 0], [0, 1, 3]])
b = np.array([1.0, 2, 3])


def counts(solver):
    return solver.n_analyses, solver.n_factorisations


def with_duplicates(M, form):
    """The same matrix in disorder, each entry stored as two."""
    M = M.tocoo()
    order = np.random.default_rng(1).permutation(2 * M.nnz)
    data = np.tile(M.data / 2, 2)[order]
    C = sp.coo_array((data, tuple(np.tile(side, 2)[order] for side in M.coords)), shape=M.shape)
    return compressed(C, form)


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_new_values_of_a_known_pattern(form, duplicates):
    M = with_duplicates(A, form) if duplicates else A.asformat(form)
    solver, dense = PatternSolver(), M.toarray()
    for scale in (1.0, 2.0, -0.5):
        assert np.allclose(solver(scale * M, b), np.linalg.solve(scale * dense, b))
        assert np.allclose(solver(3 * scale * M.data, b), np.linalg.solve(3 * scale * dense, b))
    assert counts(solver) == (1, 6)
    assert repr(solver) == "PatternSolver(1 pattern known, 1 analysis, 6 factorisations)"


def test_other_formats_are_patterns_of_their_own():
    solver = PatternSolver()
    kinds = A, A.tocsc(), A.tocoo(), SparseTensor(A), Bcsr(A), (A.tocoo().data, A.tocoo().coords)
    for M in kinds * 2:
        assert np.allclose(A @ solver.solve(M, b), b)
    assert solver.n_analyses == 3


def test_the_same_values_are_not_factorised_again():
    solver, M = PatternSolver(), A.copy()
    for right in (b, np.stack([b, 2 * b], axis=1), sp.csc_array(b[:, np.newaxis])):
        expected = right.toarray().ravel() if sp.issparse(right) else right
        assert np.allclose(A @ solver(M, right), expected)
    assert sp.issparse(solver(M, sp.csc_array(np.eye(3))))
    assert counts(solver) == (1, 1)
    M.data[3] += 1  # in place
    assert np.allclose(M @ solver(M, b), b)
    assert counts(solver) == (1, 2)


def test_sorting_indices_in_place_is_noticed():
    """The arrays are the same objects, and the order of the values another one."""
    M = sp.csr_array(([1.0, 4, 1, 2, 3, 1], [1, 0, 2, 1, 2, 0], [0, 2, 4, 6]), shape=(3, 3))
    solver = PatternSolver()
    solver(M, b)
    M.sort_indices()
    assert np.allclose(solver(M, b), np.linalg.solve(A.toarray(), b))
    assert solver.n_analyses == 2


def test_patterns_in_turn():
    solver = PatternSolver(patterns=2)
    for _ in range(3):
        for M in (A, B):
            assert np.allclose(M @ solver(M, b), b)
    assert counts(solver) == (2, 2)
    solver(A, b)
    solver(sp.eye_array(3, format="csr"), b)  # A was used last: B makes room
    solver(A, b)
    assert solver.n_analyses == 3
    solver(B, b)
    assert solver.n_analyses == 4
    assert solver.lu.shape == (3, 3)
    assert PatternSolver().lu is None


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_after_a_matrix_that_has_no_solution(bad):
    M = sp.csr_array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]])
    broken = M.copy()
    broken.data[1] = bad
    solver = PatternSolver()
    solver(M, b)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            solver(broken, b)
    assert np.allclose(M @ solver(M, b), b)
    assert solver.n_analyses == 1
    lenient = PatternSolver(singular="nan")
    for matrix in (broken, M, broken, broken.data):
        if matrix is M:
            assert np.allclose(M @ lenient(matrix, b), b)
            continue
        with pytest.warns(MatrixRankWarning, match="exactly singular"):
            assert np.isnan(lenient(matrix, b)).all()
    with pytest.raises(RuntimeError):
        lenient(broken, sp.csc_array(np.ones((3, 2))))


def test_real_then_complex():
    solver = PatternSolver()
    for M in (A, 1j * A, A, A.astype(np.float32), A.astype(int)):
        assert np.allclose(M @ solver(M, b), b)
    assert solver.n_analyses == 1


def test_what_is_refused():
    with pytest.raises(ValueError, match="patterns is 0"):
        PatternSolver(patterns=0)
    with pytest.raises(TypeError, match="patterns must be an integer"):
        PatternSolver(patterns=1.5)
    with pytest.raises(ValueError, match="singular"):
        PatternSolver(singular="warn")
    solver = PatternSolver()
    with pytest.raises(TypeError, match="A must be"):
        solver(A.data, b)  # of no pattern yet
    with pytest.raises(ValueError, match="square"):
        solver(A[:2], b)
    solver(A, b)
    with pytest.raises(ValueError, match=r"values, has shape \(3, 3\)"):
        solver(A.toarray(), b)
    with pytest.raises(ValueError, match="b has shape"):
        solver(A, b[:2])
    assert np.allclose(A @ solver(A, b), b)


def test_copies_know_nothing():
    solver = PatternSolver(singular="nan", patterns=3)
    solver(A, b)
    for other in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        assert counts(other) == (0, 0)
        assert other._settings == solver._settings


@pytest.mark.parametrize("singular", ["nan", "raise"])
def test_values_alone_are_never_of_the_pattern_before(singular):
    A, B = sp.csc_array([[2.0, 1.0], [0.0, 4.0]]), sp.csc_array([[3.0, 0.0], [5.0, 7.0]])
    b, first = np.array([1.0, 2.0]), B.copy()
    first.data = np.array([3.0, 5.0, 0.0])  # a new pattern, singular at once
    solver = PatternSolver(singular=singular)
    solver.solve(A, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(SingularMatrixError):
            assert np.isnan(solver.solve(first, b)).all()
    assert solver.lu is None
    with pytest.raises(TypeError, match="must be a SciPy sparse"):
        solver.solve(B.data, b)
    expected = np.linalg.solve(B.toarray(), b)
    for values in (B, B.data):
        np.testing.assert_allclose(solver.solve(values, b), expected, rtol=1e-15)
