"""The minimum degree heuristic against its definition, in a few lines of Python."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given

import sparsematch as sm
from strategies import larger, matrices, partial_matching


def in_plain_python(A, row_mate, col_mate):
    """Rows by ascending degree, each matched to the first of its free columns of least degree.

    Degrees are compared as far as a byte holds them.
    """
    degree = np.minimum(np.bincount(A.indices[: A.indptr[-1]], minlength=A.shape[1]), 254)
    for i in np.argsort(np.minimum(np.diff(A.indptr), 255), kind="stable"):
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


def test_long_rows():
    # Their columns of degree one and two stand anywhere in the lists, and are taken one after the
    # other.
    rng = np.random.default_rng(0)
    n = 3000
    A = sp.random_array((60, n), density=0.3, rng=rng, format="lil")
    few = rng.choice(n, 160, replace=False)
    A[:, few] = 0
    A[rng.integers(60, size=160), few] = 1
    A[rng.integers(60, size=80), few[:80]] = 1
    A = sp.csr_array(A)
    empty = np.full(60, -1), np.full(n, -1)
    found = sm.maximum_transversal(A, init="min_degree", method="none")
    assert found.row_mate.tolist() == in_plain_python(A, *empty).tolist()
