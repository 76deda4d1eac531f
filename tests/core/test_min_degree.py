"""The minimum degree heuristic against its definition, in a few lines of Python."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import sparsematch as sm
from strategies import larger, matrices, partial_matching

pytestmark = pytest.mark.tsan


def in_plain_python(A, row_mate, col_mate):
    """Match rows by ascending degree, each to its first free column of least degree.

    For degrees that fit in a byte.
    """
    degree = np.bincount(A.indices[: A.indptr[-1]], minlength=A.shape[1])
    for i in np.argsort(np.diff(A.indptr), kind="stable"):
        free = [j for j in A.indices[A.indptr[i] : A.indptr[i + 1]] if col_mate[j] == -1]
        if row_mate[i] == -1 and free:
            row_mate[i] = min(free, key=lambda j: (degree[j], j))
            col_mate[row_mate[i]] = i
    return row_mate


@given(matrices(forms=("csr",)) | larger(forms=("csr",)))
def test_random_matrices(A):
    A.sort_indices()
    initial = partial_matching(A, np.random.default_rng(0))
    found = sm.maximum_transversal(A, init="min_degree", method="none", initial=initial)
    assert found.row_mate.tolist() == in_plain_python(A, *initial).tolist()


def matched(A):
    """The mates of the rows after this start, from the empty matching."""
    return sm.maximum_transversal(A, init="min_degree", method="none").row_mate.tolist()


def test_long_rows():
    """Columns of degree one and two stand anywhere in the lists, which are scanned in parts."""
    rng = np.random.default_rng(0)
    n = 1000
    A = sp.random_array((60, n), density=0.2, rng=rng, format="lil")
    few = rng.choice(n, 160, replace=False)
    A[:, few] = 0
    A[rng.integers(60, size=160), few] = 1
    A[rng.integers(60, size=80), few[:80]] = 1
    A = sp.csr_array(A)
    assert matched(A) == in_plain_python(A, np.full(60, -1), np.full(n, -1)).tolist()


@pytest.mark.parametrize("degree", [253, 254, 255, 256, 257, 300, 512])
class TestDegreesBeyondAByte:
    def test_a_full_column_is_not_taken_for_one_of_low_degree(self, degree):
        """Row 0 is the shortest; its column 1 has two entries, its column 0 one in every row."""
        A = np.zeros((degree, degree + 3))
        A[:, 0] = A[:2, 1] = 1
        for i in range(1, degree):
            A[i, [i + 1, i + 2, i + 3]] = 1
        assert matched(sp.csr_array(A))[0] == 1

    def test_a_full_column_is_not_taken_for_a_matched_one(self, degree):
        assert matched(sp.csr_array(np.ones((degree, 1)))).count(0) == 1

    def test_a_full_row_comes_after_a_short_one(self, degree):
        """Both want column 0, which has the fewest entries of all."""
        A = np.ones((4, degree))
        A[1, 2:] = A[2:, 0] = 0
        assert matched(sp.csr_array(A))[1] == 0
