"""New values: pivots that serve again, those that do not, and growth that no pivot shows."""

import numpy as np
import pytest
import scipy.sparse as sp

from calls import incidence
from sparsematch import solvers
from test_solvers import check


def ring(diagonal, kind=float):
    """A cycle and an even diagonal: one block."""
    n = len(diagonal)
    shift = np.roll(np.arange(n), 1)
    cycle = sp.coo_array((np.ones(n), (np.arange(n), shift)), shape=(n, n))
    return sp.csc_array(cycle + sp.diags_array(np.asarray(diagonal, kind)))


def staircase_of_ones(n, diagonal, kind):
    """Wilkinson's matrix: what is left of each column doubles, or grows as the diagonal is less."""
    A = np.diag(np.full(n, diagonal, kind)) - np.tril(np.ones((n, n)), -1)
    A[:-1, -1] = 1
    return A


@pytest.mark.parametrize("kind", [float, complex])
def test_growth_that_no_pivot_shows(kind):
    """Each pivot is large enough beside its column; one after the other they are not."""
    n = 20
    A, B = staircase_of_ones(n, 50.0, kind), staircase_of_ones(n, 0.005, kind)
    lu = solvers.splu(sp.csc_array(A), matching=np.arange(n))
    lu.refactorise(sp.csc_array(B))
    assert lu.growth < 100
    check(B, lu, np.ones(n))
    lu.refactorise(sp.csc_array(A))
    check(A, lu, np.ones(n))


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("where", [0, 20, 50, -1])
@pytest.mark.parametrize("density", [0.06, 0.4])
def test_new_pivots_from_the_first_column_that_needs_one(kind, where, density):
    """Pivots before that column stay; several blocks, and factors used again after that.

    Columns of the denser ones are eliminated in pairs.
    """
    rng = np.random.default_rng(4)
    n = 60
    block = (
        (rng.random((n, n)) < density) * rng.standard_normal((n, n)) * (1 + (kind is complex) * 1j)
    )
    block += np.eye(n, k=1) + np.eye(n, k=1 - n) + 4 * np.eye(n)
    dense = np.kron(np.eye(3), block)
    dense[:n, 2 * n :] = 1
    A = sp.csc_array(dense)
    lu = solvers.splu(A, matching=np.arange(3 * n))
    before = lu.row_perm.copy(), lu.col_perm.copy()
    start = n  # the second block, in the order of the pivots
    column = start + where % n
    j = lu.col_perm[column]
    B = A.tolil()
    B[:, [j]] = np.abs(A[:, [j]].toarray()) > 0
    B[before[0][column], j] = 1e-9
    B = sp.csc_array(B)
    lu.refactorise(B)
    check(B.toarray(), lu, rng.standard_normal((3 * n, 2)))
    assert np.array_equal(lu.row_perm[:column], before[0][:column]), "these were good enough"
    for C in (2 * B, A, B):
        lu.refactorise(C)
        check(C.toarray(), lu, rng.standard_normal(3 * n))


def test_a_singular_block_after_good_columns():
    A = ring(np.full(8, 4.0))
    lu = solvers.splu(A, matching=np.arange(8))
    singular = A.copy()
    singular.data[:] = np.where(A.data == 4, 1, -1)
    with pytest.raises(solvers.SingularMatrixError):
        lu.refactorise(singular)
    lu.refactorise(A)
    check(A.toarray(), lu, np.ones(8))


def test_pivots_may_be_smaller_where_there_is_more_fill_than_predicted():
    """The last row and column are full, so that most pivots are small once they are eliminated."""
    B, rng = incidence(40), np.random.default_rng(0)
    weights = sp.diags_array(10.0 ** rng.uniform(-2, 2, B.shape[1]))
    ones = np.ones((B.shape[0], 1))
    A = sp.csc_array(sp.block_array([[B @ weights @ B.T, ones], [ones.T, None]]))
    lu = solvers.splu(A)
    report, b = lu.report(), rng.standard_normal(A.shape[0])
    assert report.external == ()
    assert report.own_made < 2.5 * report.own_predicted  # 3.1 times if all had to be large
    assert lu.growth < 1e6
    for factor in (1, 3):
        lu.refactorise(factor * A)
        x = lu.solve(b)
        residual = np.abs(factor * (A @ x) - b).max()
        assert residual < 1e-14 * (factor * (abs(A) @ np.abs(x)).max() + np.abs(b).max())
