"""Solvers on real matrices: errors as small as SuperLU's, pivots that serve again."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import sparsematch as sm
import suitesparse
from sparsematch import solvers

HEAVY = {"cvxqp3", "CVXQP2_L_kkt", "cage10"}  # seconds each, in SuperLU


def is_system(row):
    return row["rows"] == row["cols"] and row["values"] != "pattern" and row["name"] not in HEAVY


REGULAR = suitesparse.cases(lambda row: is_system(row) and row["sprank"] == row["rows"])
SINGULAR = suitesparse.cases(lambda row: is_system(row) and row["sprank"] != row["rows"])


@functools.lru_cache(maxsize=1)
def load(name):
    A = sp.csc_array(suitesparse.load(name))
    return A if A.dtype.kind == "c" else A.astype(np.float64)


def backward_error(A, x, b):
    return np.abs(A @ x - b).max() / (abs(A).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())


def reference(A, b):
    """SuperLU's backward error; infinite where it finds the matrix singular."""
    try:
        return backward_error(A, splu(A).solve(b), b)
    except RuntimeError:
        return np.inf


@pytest.mark.filterwarnings("ignore::sparsematch.solvers.IllConditionedWarning")
@pytest.mark.parametrize("name", REGULAR)
def test_backward_error(name):
    """Of a solution by blocks: small, in whatever order the pivots are."""
    A = load(name)
    b = A @ np.ones(A.shape[0])
    if not reference(A, b) < 1e-10:
        pytest.skip("SuperLU does not solve it either")
    lu = solvers.splu(A)
    for _ in range(2):
        for B, trans in ((A, "N"), (A.T, "T")):
            b = B @ np.ones(A.shape[0])
            assert backward_error(B, lu.solve(b, trans), b) < 1e-14
        lu.refactorise(A.data)


@pytest.mark.parametrize("name", SINGULAR)
def test_singular(name):
    with pytest.raises(solvers.SingularMatrixError) as caught:
        solvers.splu(load(name))
    report = caught.value.report
    assert report.structural_rank == sm.structural_rank(load(name))
    assert np.unique(caught.value.rows).size == caught.value.rows.size > 0
