"""What elimination orders cost is known exactly before anything is factorised."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import Delaunay

from sparsematch import solvers
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.lu.factorisation import LIMITS


def pattern(edges, n):
    """The symmetric pattern of these edges, without a diagonal."""
    i, j = np.array(edges, int).reshape(-1, 2).T
    A = sp.coo_array((np.ones(2 * i.size), (np.r_[i, j], np.r_[j, i])), shape=(n, n)).tocsr()
    A.sort_indices()
    return A


def eliminated(A, order):
    """The pattern of L below its diagonal, by elimination as defined."""
    filled = A[order][:, order].toarray() != 0
    for k in range(A.shape[0]):
        below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        filled[np.ix_(below, below)] = True
    return np.tril(filled, -1)


def check_tree(A, order):
    arrays = (np.asarray(x, np.int32) for x in (A.indptr, A.indices, order))
    new, parent, counts = _core.elimination_tree(*arrays)
    assert sorted(new) == list(range(A.shape[0]))
    L = eliminated(A, new)
    assert counts.tolist() == L.sum(axis=0).tolist()
    assert counts.sum() == eliminated(A, order).sum()  # the same fill
    assert parent.tolist() == [np.argmax(column) if column.any() else -1 for column in L.T]
    size = np.ones(A.shape[0], int)  # of subtrees: in a postorder, each is a range
    for k, above in enumerate(parent):
        size[above] += size[k] if above >= 0 else 0
    first = np.arange(A.shape[0]) - size + 1
    assert all(first[above] <= first[k] for k, above in enumerate(parent) if above >= 0)


def test_counts_of_all_small_graphs():
    """Of five vertices in one order: in all others it is another graph."""
    pairs = list(itertools.combinations(range(5), 2))
    for bits in range(1 << len(pairs)):
        edges = [pair for k, pair in enumerate(pairs) if bits >> k & 1]
        check_tree(pattern(edges, 5), np.arange(5))


@pytest.mark.parametrize("density", [0.02, 0.05, 0.2])
def test_counts_of_random_graphs(density):
    rng = np.random.default_rng(5)
    for _ in range(5):
        A = sp.csr_array(np.triu(rng.random((60, 60)) < density, 1))
        check_tree(pattern(np.argwhere(A.toarray()), 60), rng.permutation(60))


def faces(n):
    """The matrix of the faces of tetrahedra among n points: those of each are neighbours."""
    corners = Delaunay(np.random.default_rng(1).random((n, 3))).simplices
    each = np.sort(np.vstack([np.delete(corners, k, axis=1) for k in range(4)]), axis=1)
    _, number = np.unique(each, axis=0, return_inverse=True)
    cell = np.tile(np.arange(len(corners)), 4)
    B = sp.csr_array((np.ones(cell.size), (number.ravel(), cell)))
    return sp.csc_array(B @ B.T + sp.eye_array(B.shape[0]))


def test_superlu_makes_the_fill_that_is_foreseen(monkeypatch):
    """It takes neighbours in the order for relatives in the tree: they have to be."""
    monkeypatch.setitem(LIMITS, "work_per_entry", -1.0)
    A = faces(300)
    lu = solvers.splu(A)
    foreseen = lu.analysis._plan.blocks.expected_entries(0)
    assert lu.analysis.outside == [0]
    assert foreseen <= lu.nnz < 1.1 * foreseen


def test_fill_beyond_forty_times_is_no_reason_to_give_up_an_order():
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(26, 26))
    one = sp.eye_array(26)
    square = sp.kron(line, one) + sp.kron(one, line)
    A = sp.csc_array(sp.kron(square, one) + sp.kron(sp.eye_array(676), line))
    assert solvers.analyse(A)._plan.blocks.expected_entries(0) > 40 * A.nnz
