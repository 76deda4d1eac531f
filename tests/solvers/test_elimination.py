"""What elimination orders cost is known exactly before anything is factorised."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import Delaunay

import orders
from calls import limited
from graphs import graph, star
from sparsematch import solvers


def eliminated(A, order):
    """The pattern of L below its diagonal, by elimination as defined."""
    filled = A[order][:, order].toarray() != 0
    for k in range(A.shape[0]):
        below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        filled[np.ix_(below, below)] = True
    return np.tril(filled, -1)


def check_tree(A, order):
    new, parent, counts = orders.elimination_tree(A, order)
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


def test_counts_and_orders_of_all_small_graphs():
    """Of five vertices in one order: in all others it is another graph."""
    pairs = list(itertools.combinations(range(5), 2))
    for bits in range(1 << len(pairs)):
        A = graph(5, [pair for k, pair in enumerate(pairs) if bits >> k & 1])
        check_tree(A, np.arange(5))
        work(A, False)
        work(A, True, 1)


@pytest.mark.parametrize("density", [0.02, 0.05, 0.2])
def test_counts_of_random_graphs(density):
    rng = np.random.default_rng(5)
    for _ in range(5):
        A = sp.csr_array(np.triu(rng.random((60, 60)) < density, 1))
        check_tree(graph(60, np.argwhere(A.toarray())), rng.permutation(60))


def faces(n):
    """The matrix of the faces of tetrahedra among n points: those of each are neighbours."""
    corners = Delaunay(np.random.default_rng(1).random((n, 3))).simplices
    each = np.sort(np.vstack([np.delete(corners, k, axis=1) for k in range(4)]), axis=1)
    _, number = np.unique(each, axis=0, return_inverse=True)
    cell = np.tile(np.arange(len(corners)), 4)
    B = sp.csr_array((np.ones(cell.size), (number.ravel(), cell)))
    return sp.csc_array(B @ B.T + sp.eye_array(B.shape[0]))


def grid(*sizes):
    """The pattern of differences on a grid, without its diagonal."""
    A = sp.csr_array((1, 1))
    for n in sizes:
        line = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(n, n))
        A = sp.kron(A, sp.eye_array(n)) + sp.kron(sp.eye_array(A.shape[0]), line)
    return sp.csr_array(A)


def random_on_a_grid(*sizes):
    """The same with a diagonal, and random values."""
    A = sp.csc_array(grid(*sizes) + sp.eye_array(np.prod(sizes)))
    A.data = np.random.default_rng(5).standard_normal(A.nnz)
    return A


@pytest.mark.parametrize("A", [faces(300), random_on_a_grid(13, 13, 13), random_on_a_grid(35, 35)])
def test_fronts_make_the_fill_that_is_predicted(A):
    """And few zeros, or columns that wait for a pivot; refinement restores the digits."""
    lu = solvers.splu(A, solver=limited(forced="fronts", few_rows=1), pivoting="structure")
    _, _, kernel, predicted, multiplications, _ = lu.analysis._plan.blocks.chosen[0]
    assert kernel == "fronts"
    assert multiplications > predicted
    assert 0.9 * predicted <= lu.nnz < 1.3 * predicted
    x = np.random.default_rng(5).standard_normal(A.shape[0])
    np.testing.assert_allclose(lu.solve(A @ x), x, atol=1e-8)


def test_fill_beyond_forty_times_is_no_reason_to_give_up_an_order():
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(26, 26))
    one = sp.eye_array(26)
    square = sp.kron(line, one) + sp.kron(one, line)
    A = sp.csc_array(sp.kron(square, one) + sp.kron(sp.eye_array(676), line))
    assert solvers.analyse(A)._plan.blocks.chosen[0][3] > 40 * A.nnz


def work(A, dissect, leaf=200):
    """Multiplications of an order, checked to be one."""
    order = orders.elimination_order(A, dissect, leaf)
    assert sorted(order) == list(range(A.shape[0]))
    _, _, counts = orders.elimination_tree(A, order)
    return float((counts.astype(float) ** 2).sum())


def awkward_graphs():
    """Graphs on which a multilevel scheme may stall: stars, cliques, paths, pieces, no edges."""
    rng = np.random.default_rng(7)
    n = 300
    yield "path", grid(n)
    yield "star", star(n)
    yield "stars", graph(n, [(k % 7, k) for k in range(7, n)])
    yield "clique", graph(60, list(itertools.combinations(range(60), 2)))
    yield "cliques", graph(360, [(k, k - k % 9 + j) for k in range(360) for j in range(k % 9)])
    yield "no edges", sp.csr_array((n, n))
    yield "pieces", sp.csr_array(sp.block_diag([grid(20, 20)] * 3))
    scattered = sp.random_array((n, n), density=0.02, rng=rng)
    yield "random", sp.csr_array(sp.triu(scattered, 1) + sp.triu(scattered, 1).T)
    yield "grid", grid(30, 40)


@pytest.mark.parametrize(
    ("name", "A"), list(awkward_graphs()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_separator_separates(name, A):
    part = orders.vertex_separator(A)
    i, j = A.nonzero()
    assert not ((part[i] == 0) & (part[j] == 1)).any()
    sizes = np.bincount(part, minlength=3)
    assert name in ("clique", "star") or max(sizes[:2]) <= 0.66 * A.shape[0]
    assert (part == orders.vertex_separator(A)).all()
    assert work(A, True, 1) >= 0


def test_separators_of_grids_are_short():
    part = orders.vertex_separator(grid(40, 60))
    assert np.count_nonzero(part == 2) <= 48
    part = orders.vertex_separator(grid(12, 12, 24))
    assert np.count_nonzero(part == 2) <= 173


def test_nested_dissection_saves_work_on_grids():
    assert work(grid(18, 18, 18), True) < 0.8 * work(grid(18, 18, 18), False)
    assert work(grid(100, 100), True) < 1.3 * work(grid(100, 100), False)
