"""Null spaces against dense SVDs; test_rectangular.py has them against exact ranks."""

import signal
import threading
import time

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from calls import incidence
from exact_ranks import exact_rank, in_units, integers
from sparsematch import solvers
from sparsematch._base import memory


@pytest.mark.parametrize("seed", range(30))
def test_orthonormal_as_a_dense_svd(seed):
    rng = np.random.default_rng(seed)
    A = integers(rng).astype(float) * (1 if seed % 2 else 1 + 2j)
    expected = scipy.linalg.null_space(A)
    found = solvers.null_space(sp.coo_array(A), basis="orthonormal").vectors
    assert found.shape == expected.shape
    assert np.allclose(found.conj().T @ found, np.eye(found.shape[1]), atol=1e-13)
    assert np.allclose(found @ found.conj().T, expected @ expected.conj().T, atol=1e-11)


def test_shapes_without_entries():
    for shape in ((0, 3), (3, 0), (0, 0), (2, 3)):
        found = solvers.null_space(sp.csr_array(shape))
        assert (found.rank, found.vectors.shape) == (0, (shape[1], shape[1]))
        both = solvers.null_space(sp.csr_array(shape), side="left", basis="orthonormal")
        assert both.vectors.shape == (shape[0], shape[0])
    assert isinstance(found, solvers.NullSpaceBasis)
    assert repr(found) == "NullSpaceBasis(2x3, rank 0, 3 sparse, right)"


def test_dense_rows_are_cut_and_columns_are_the_users():
    n = 3000
    A = sp.vstack([sp.csr_array(np.ones((3, n))), sp.eye_array(n - 500, n)]).tocsr()
    found = solvers.null_space(A)
    assert found.rank == n - 500 + 1
    assert np.array_equal(found.vectors[found.free].toarray(), np.eye(499))
    assert abs(A @ found.vectors).max() < 1e-13


def test_a_rank_near_the_tolerance_is_said_to_be_so():
    A = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 3e-14, 0.0], [0.0, 1.0, 1.0]])
    with pytest.warns(solvers.IllConditionedWarning, match="is not clear"):
        found = solvers.null_space(sp.csr_array(A))
    assert not found.is_settled
    assert solvers.null_space(sp.csr_array(A), rcond=1e-10).rank == 2
    assert solvers.null_space(sp.csr_array(A.astype(np.float32))).rank == 2


def test_a_clear_rank_is_settled_where_coefficients_are_small_in_other_units():
    """Singular values 0.33 and 0 of scaled entries; what is left is 4e-14 of terms elsewhere."""
    for case in (4451, 5960):
        rng = np.random.default_rng([5, case])
        M = integers(rng)
        found = solvers.null_space(sp.csr_array(in_units(M, rng)))
        assert (found.rank, found.is_settled) == (exact_rank(M), True)


def test_cycles_of_a_large_grid():
    A = incidence(120)
    found = solvers.null_space(A)
    assert found.rank == 120**2 - 1
    assert found.residuals.max() < 1e-14
    assert np.allclose(np.abs(found.vectors.data), 1)
    assert found.vectors.nnz < 30 * found.nullity
    left = solvers.null_space(A, side="left").vectors.toarray()
    assert np.allclose(left, 1, atol=1e-12)


def test_memory_is_looked_at_before(monkeypatch):
    from sparsematch._blame import circuits

    monkeypatch.setattr(circuits, "available_bytes", lambda _: 1e6)
    with pytest.raises(MemoryError, match=r"orthonormal basis of 3,481 vectors .* a sparse one"):
        solvers.null_space(incidence(60), basis="orthonormal")
    assert memory.available_bytes(np.inf) > 1e6


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"side": "both"}, ValueError, "side is 'both', but must be one of 'right', 'left'"),
        ({"basis": 3}, TypeError, "basis"),
        ({"rcond": 2}, ValueError, "rcond is 2"),
        ({"rcond": "small"}, TypeError, "rcond"),
    ],
)
def test_arguments(how, error, words):
    with pytest.raises(error, match=words):
        solvers.null_space(sp.csr_array(np.eye(2)), **how)


def test_matrices_that_are_refused():
    with pytest.raises(TypeError, match="csr_array"):
        solvers.null_space(np.eye(2))
    with pytest.raises(ValueError, match=r"A\[0, 1\] is nan"):
        solvers.null_space(sp.csr_array([[1.0, np.nan]]))


def test_ctrl_c():
    rng = np.random.default_rng(0)
    A = sp.random_array((8000, 16000), density=3e-4, rng=rng, format="csr")
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    for delay in 0.2, 0.8:
        timer = threading.Timer(delay, interrupt)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            solvers.null_space(A)
        assert time.monotonic() - sent[-1] < 1  # 0.3 s on an idle machine


def test_columns_that_were_exchanged_stay_where_the_rank_shows():
    # Nearly parallel columns: in the order before the exchange one of five is lost.
    left = np.array([[1, 0, 1, -1, -1], [0, 1, 1, 1, -1], [1, 0, 0, 0, 0]])
    left = np.vstack([left, [[0, 1, -1, 0, -1], [-1, 0, 0, -1, 1]]])
    A = left @ np.vander([0.05, 0.86, 0.06, 0.17, 0.67], 17)
    found = solvers.null_space(sp.csc_array(A))
    assert (found.rank, found.is_settled) == (5, True)
    assert np.abs(A @ found.vectors).max() < 1e-10 * np.abs(found.vectors).max()
    found = solvers.null_space(sp.csc_array(A), basis="orthonormal")
    assert found.rank == 5
    assert np.abs(A @ found.vectors).max() < 1e-10
