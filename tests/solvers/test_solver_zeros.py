"""Stored zeros: dropped by spsolve, and by the others if they are told to."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from sparsematch import solvers
from test_solvers import FORMS, check, staircase
from test_stored_zeros import glued

CALLS = (
    solvers.splu,
    lambda A, **named: solvers.analyse(A, **named).factorise(A),
)


@st.composite
def systems(draw):
    """A dense nonsingular matrix of several blocks, and one that stores zeros as well."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    dense = staircase(rng, sizes, 0.5, draw(st.sampled_from((float, complex))))
    n = len(dense)
    stored = (dense != 0) | (rng.random((n, n)) < draw(st.floats(0, 0.5)))
    rows, cols = np.nonzero(stored)
    repeated = rng.random(rows.size) < draw(st.sampled_from((0, 0.3)))  # a zero as 1 - 1
    values = np.concatenate([dense[rows, cols] - repeated, np.ones(repeated.sum())])
    rows, cols = (np.concatenate([side, side[repeated]]) for side in (rows, cols))
    shuffled = rng.permutation(rows.size)
    A = sp.coo_array((values[shuffled], (rows[shuffled], cols[shuffled])), shape=(n, n))
    return dense, compressed(A, draw(st.sampled_from(FORMS)))


def compressed(A, layout):
    """As it is stored: SciPy's conversion adds up."""
    if layout == "coo":
        return A
    major, minor = A.coords if layout == "csr" else A.coords[::-1]
    order = np.argsort(major, kind="stable")
    indptr = np.searchsorted(major[order], np.arange(A.shape[0] + 1))
    make = sp.csr_array if layout == "csr" else sp.csc_array
    return make((A.data[order], minor[order], indptr), shape=A.shape)


@given(systems(), st.sampled_from(CALLS), st.integers(0, 2**32))
def test_dropped_or_not_the_solution_is_the_same(system, call, seed):
    dense, A = system
    n, b = len(dense), np.ones(len(dense))
    without = solvers.splu(sp.csc_array(dense))
    x = np.linalg.solve(dense, b)
    assert np.allclose(solvers.spsolve(A, b), x)
    assert np.allclose(call(A).solve(b), x)
    lu = call(sm.view(A, zeros="drop"))
    check(dense, lu, b)
    assert lu.n_blocks == without.n_blocks
    assert lu.nnz == without.nnz
    # new values for what the user has, dropped entries included
    factor = np.random.default_rng(seed).uniform(1, 2, n)
    B = A.copy()
    rows = A.tocoo().row if A.format != "coo" else A.row
    if A.format in ("csr", "csc"):
        major = np.repeat(np.arange(n), np.diff(A.indptr))
        rows = major if A.format == "csr" else A.indices
    B.data = A.data * factor[rows]
    lu.refactorise(B)
    check(dense * factor[:, np.newaxis], lu, b)
    check(dense * factor[:, np.newaxis], lu.analysis.factorise(B.data), b)


@pytest.mark.parametrize("layout", FORMS)
def test_a_dropped_entry_that_is_no_longer_zero(layout):
    A = sp.coo_array(np.arange(1.0, 10).reshape(3, 3)).asformat(layout)
    A.data[A.data == 8] = 0  # row 2, column 1
    lu = solvers.splu(sm.view(A, zeros="drop"))
    B = A.copy()
    B.data[A.data == 0] = 8.5
    for again in (lu.refactorise, lu.analysis.factorise):
        for values in (B, B.data):
            with pytest.raises(ValueError, match=r"A\[2, 1\] is 8.5, but it was 0"):
                again(values)
    with pytest.raises(ValueError, match=r"A\[2, 1\] is nan"):
        lu.refactorise(np.where(A.data == 0, np.nan, A.data))
    lu.refactorise(2 * A)
    check(2 * A.toarray(), lu, np.ones(3))


def test_an_entry_kept_may_become_zero():
    A = sp.csc_array([[4.0, 1, 0], [1, 4, 1], [0, 1, 4]])
    A.data[A.data == 1] = [0, 1, 1, 1]
    lu = solvers.splu(sm.view(A, zeros="drop"))
    B = A.copy()
    B.data[B.data == 1] = 0
    lu.refactorise(B)
    check(B.toarray(), lu, np.ones(3))


def test_zeros_that_make_the_structure_singular():
    A = sp.csc_array(np.ones((2, 2)))
    A.data[:2] = 0
    for call in (lambda A: solvers.spsolve(A, np.ones(2)), solvers.splu):
        with pytest.raises(solvers.SingularMatrixError) as caught:
            call(A)
        assert caught.value.report.structural_rank == 1
    with pytest.raises(solvers.SingularMatrixError, match=r"^Structurally singular"):
        solvers.analyse(sm.view(A, zeros="drop"))
    assert solvers.analyse(A).shape == (2, 2)


def test_blocks_that_zeros_glue_together():
    """Only the call that never sees other values takes them apart by itself."""
    rng = np.random.default_rng(0)
    A = glued([rng.random((3, 3)) + 3 * np.eye(3) for _ in range(9)], rng)
    assert solvers.splu(A).n_blocks == 1
    assert solvers.splu(sm.view(A, zeros="drop")).n_blocks == 9
    assert np.allclose(solvers.spsolve(A, A @ np.ones(27)), 1)


def test_pattern_without_zeros_is_not_copied():
    A = sp.csc_array(np.eye(3))
    analysis = solvers.analyse(sm.view(A, zeros="drop"))
    assert not analysis._plan.blocks.places.size
