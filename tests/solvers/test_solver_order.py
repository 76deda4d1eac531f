"""Which diagonal and which order a large block gets is decided before anything is factorised."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from calls import grid as without_diagonal
from calls import incidence, limited
from sparsematch import solvers
from test_solvers import revision


def exchanged(lu):
    """Whether the values have chosen the diagonal of a block."""
    return any(way[0] == "product" for way in lu.analysis._plan.blocks.chosen.values())


def grid(n):
    """The pattern of five-point differences on n x n points."""
    return sp.csc_array(without_diagonal(n) + sp.eye_array(n * n))


def random_values(A, weak):
    """Random values for a pattern, a share of the diagonal tiny."""
    rng = np.random.default_rng(3)
    A = A.tocoo()
    A.data = rng.uniform(0.5, 2.0, A.nnz) * rng.choice([-1, 1], A.nnz)
    A.data[(A.row == A.col) & (rng.random(A.shape[0])[A.row] < weak)] = 1e-9
    return sp.csc_array(A)


def saddle_point(n):
    """[I, B'; B, 0] for the edges and all points but one of a grid of n x n."""
    B = incidence(n)[1:]
    return sp.csc_array(sp.block_array([[sp.eye_array(B.shape[1]), B.T], [B, None]]))


def solves(A, lu):
    b = np.random.default_rng(8).standard_normal(A.shape[0])
    return np.allclose(A @ lu.solve(b), b, rtol=1e-8, atol=1e-8)


def test_a_heavy_block_of_weak_pivots_is_decided_at_once():
    A = random_values(grid(80), 0.2)
    lu = solvers.splu(A)
    assert exchanged(lu) or lu.analysis.outside == [0]
    assert revision(lu) == 0
    assert solves(A, lu)


def test_a_dense_row_is_no_pivot_before_the_others():
    """Small pivots would leave the diagonal for its large entries, and fill all that is behind."""
    G = random_values(grid(30), 0.0)
    ones = np.ones((900, 1))
    A = sp.csc_array(sp.block_array([[G, ones], [ones.T, [[1.0]]]]))
    small = np.random.default_rng(4).random(901) < 0.05
    A.setdiag(np.where(small, 2e-3, 3.0))
    lu = solvers.splu(A)
    assert lu.nnz < 1.1 * lu.analysis._plan.blocks.predicted_inside
    assert solves(A, lu)


def test_a_row_near_in_the_order_is_the_pivot_instead_of_the_diagonal():
    G = grid(20).astype(float)
    G.data = np.random.default_rng(1).standard_normal(G.nnz)
    lu = solvers.splu(G, pivoting="structure")
    assert lu.nnz < 1.1 * lu.analysis._plan.blocks.predicted_inside
    assert solves(G, lu)


def test_an_order_by_values_keeps_the_scaling_of_the_product():
    """So that its condition is that of the scaled block."""
    rng = np.random.default_rng(1)
    n = 300
    places = np.r_[rng.integers(0, n, 900), np.arange(n)], np.r_[rng.integers(0, n, 900), :n]
    A = sp.coo_array((rng.standard_normal(1200), places), shape=(n, n))
    sizes = (sp.diags_array(10 ** rng.uniform(-6, 6, n)) for _ in "rc")
    A = sp.csc_array(next(sizes) @ A @ next(sizes))
    lu = solvers.splu(A, solver=limited(product=(0.0, 0, 1e9), by_values=(1.0, 0, 1e9)))
    assert largest(lu.analysis)[:2] == ("product", "values")
    assert lu.rcond.min() > 1e-8


def test_a_light_block_is_tried_as_it_is():
    band = sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(900, 900))
    A = random_values(band, 0.05)
    lu = solvers.splu(A)
    assert lu.analysis.outside == []
    assert not exchanged(lu)
    assert revision(lu) == 0
    assert solves(A, lu)


def scrambled(A):
    """Rows and columns permuted at random, each by an order of its own."""
    rng = np.random.default_rng(2)
    return sp.csc_array(A)[rng.permutation(A.shape[0])][:, rng.permutation(A.shape[0])]


def cube(n):
    """Seven-point differences on n x n x n points: no diagonal of them would have weak pivots."""
    line, one = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(n, n)), sp.eye_array(n)
    A = sum(
        sp.kron(sp.kron(a, b), c)
        for a, b, c in ((line, one, one), (one, line, one), (one, one, line))
    )
    A = sp.coo_array(A)
    A.data = np.random.default_rng(2).choice([-1.0, 1.0], A.nnz)
    return sp.coo_array(A + 1.5 * sp.eye_array(n**3))


def test_a_hidden_symmetry_is_looked_for_by_the_product():
    A = scrambled(cube(10))
    lu = solvers.splu(A)
    assert exchanged(lu)
    assert lu.nnz < 0.7 * solvers.splu(A, pivoting="structure").nnz
    assert solves(A, lu)


def test_no_symmetry_is_looked_for_where_rows_and_columns_differ_in_length():
    A, rng = cube(10), np.random.default_rng(2)
    moved = (rng.random(A.nnz) < 0.35) & (A.row != A.col)
    cols = np.where(moved, rng.integers(0, A.shape[0] // 8, A.nnz), A.col)
    A = scrambled(sp.coo_array((A.data, (A.row, cols)), A.shape))
    lu = solvers.splu(A)
    assert not exchanged(lu)
    assert solves(A, lu)


def test_a_block_that_is_nearly_full_is_one_front():
    rng = np.random.default_rng(1)
    A = sp.csc_array(rng.standard_normal((300, 300)) * (rng.random((300, 300)) < 0.7))
    lu = solvers.splu(A)
    (way,) = lu.analysis._plan.blocks.chosen.values()
    assert way[1:3] == ("given", "fronts")
    assert lu.nnz <= 300 * 300
    assert solves(A, lu)
    B = A * rng.uniform(0.9, 1.1)
    lu.refactorise(B)
    assert solves(B, lu)


def test_few_weak_pivots_move():
    A = random_values(grid(30), 0.0)
    A[450, 450] = 1e-9
    lu = solvers.splu(A)
    assert not exchanged(lu)
    assert revision(lu) == 0
    assert (lu.row_perm != lu.col_perm).any()
    assert solves(A, lu)


def test_a_saddle_point_keeps_its_diagonal_of_zeros():
    A = saddle_point(50)
    lu = solvers.splu(A)
    assert lu.nnz < 0.5 * splu(A).nnz
    assert lu.growth < 10
    assert solves(A, lu)
    lu.refactorise(3 * A)
    assert solves(3 * A, lu)


@pytest.mark.parametrize("first", [False, True])
def test_zeros_are_kept_only_if_the_order_fills_them(first):
    """The least degree comes first: where that is a zero, nothing has filled it."""
    if first:  # each zero has the degree 2, all others at least 4
        n = 40
        B = sp.eye_array(n // 2, n) + sp.eye_array(n // 2, n, k=1)
        H = sum(sp.eye_array(n, k=k) for k in (-2, -1, 1, 2, n - 1, 1 - n, n - 2, 2 - n))
        H = H + 9 * sp.eye_array(n)
        A = sp.csc_array(sp.block_array([[H, B.T], [B, None]]))
    else:
        A = saddle_point(12)
    analysis = solvers.analyse(A, solver=limited(few_rows=1, given=(0, 0, 1), product=(0, 0, 0)))
    blocks = analysis._plan.blocks
    assert (blocks.row_perm == blocks.col_perm).all() == (not first)
    assert solves(A, analysis.factorise(A))


def signs(n, seed):
    """Entries of 1 and -1 at random, in one large block and few small ones."""
    rng = np.random.default_rng(seed)
    A = sp.csc_array(sp.random_array((n, n), density=4 / n, rng=rng) + sp.eye_array(n))
    A.data = rng.choice([-1.0, 1.0], A.nnz)
    return A


def largest(factors):
    """What was chosen for the block with most fill."""
    ways = getattr(factors, "analysis", factors)._plan.blocks.chosen.values()
    return max(ways, key=lambda way: way[3])


#: Searches that are never made: they cost something, and save nothing.
NEVER = dict.fromkeys(("given", "product", "dissection", "by_values"), (1e-9, 0.0, 0.0))


@pytest.mark.parametrize("kind", [float, complex])
def test_another_order_is_looked_for_once_other_values_have_come(kind):
    """Its price is what some factorisations take: not paid at first, but once they have come."""
    A, calls = signs(200, 5).astype(kind), 100
    seconds = largest(solvers.analyse(A, solver=limited(few_rows=1, **NEVER)))[5]
    policy = NEVER | {"by_values": (4 * seconds, 0.0, 1.0)}
    analysis = solvers.analyse(A, solver=limited(few_rows=1, **policy))
    lu, orders = analysis.factorise(A), []
    for _ in range(calls):
        orders.append(largest(lu)[1])
        lu.refactorise(A)
        assert solves(A, lu)
    changed = orders.index("values")
    assert changed > 4  # its price over that of a factorisation
    assert orders == ["minimum degree"] * changed + ["values"] * (calls - changed)
    assert revision(lu) <= np.log2(calls)
    assert revision(analysis) == 0


def test_what_is_counted_replaces_what_was_predicted():
    """Another kernel is taken that was predicted to be slower, where small pivots have made fill.

    Each point of a grid has a leaf, which comes first and leaves next to nothing on its diagonal.
    """
    one = sp.eye_array(400)
    G = sp.csc_array(without_diagonal(20), dtype=float)
    G.data = np.random.default_rng(1).uniform(0.1, 0.4, G.nnz)
    A = sp.csc_array(sp.block_array([[one, one], [one, (1 + 1e-6) * one + G]]))
    predicted = largest(solvers.analyse(A, solver=limited(few_rows=1, **NEVER)))[3]
    costs = {"own": (0.0, 0.0, 1.0, 0.0), "fronts": (1.2 * predicted, 0.0, 0.0, 0.0)}
    lu = solvers.splu(A, solver=limited(few_rows=1, overrun=1e9, **NEVER, **costs))
    assert largest(lu.analysis)[2] == "own"
    assert lu.nnz > 2.5 * predicted
    for _ in range(8):
        lu.refactorise(A)
        assert solves(A, lu)
    assert largest(lu.analysis)[2] == "fronts"
    assert 1 <= revision(lu) <= 2


def reducible(kind, rng):
    """A matrix of several blocks, rows and columns shuffled, sizes of many magnitudes."""
    n = 30
    A = sp.random_array((n, n), density=0.05, rng=rng) + sp.eye_array(n)
    A = sp.csc_array(A)[rng.permutation(n)][:, rng.permutation(n)].astype(kind)
    A.data *= 10.0 ** rng.uniform(-6, 6, A.nnz)
    if kind is complex:
        A.data *= np.exp(1j * rng.uniform(0, 6, A.nnz))
    return sp.csc_array(A)


@pytest.mark.parametrize("pivoting", ["auto", "structure", "product"])
@pytest.mark.parametrize("kind", [float, complex])
def test_one_block_has_plain_factors(kind, pivoting):
    rng = np.random.default_rng(5)
    for _ in range(5):
        A = reducible(kind, rng)
        columns = rng.permutation(A.shape[0])
        assert solvers.splu(A).n_blocks > 1
        for order in ("whole", columns):
            lu = solvers.analyse(A, order=order, pivoting=pivoting).factorise(A)
            for B in (A, A * 2):
                lu.refactorise(B)
                L, U = lu.L.toarray(), lu.U.toarray()
                assert lu.n_blocks == 1
                assert (np.diag(L) == 1).all()
                assert not np.triu(L, 1).any()
                assert not np.tril(U, -1).any()
                permuted = B[lu.row_perm][:, lu.col_perm].toarray()
                assert (np.abs(permuted - L @ U) <= 1e-13 * (np.abs(L) @ np.abs(U))).all()
                solves(B, lu)
        assert np.array_equal(lu.col_perm, columns)


def test_factors_are_plain_where_there_is_one_block():
    lu = solvers.splu(sp.csc_array(np.eye(3)))
    with pytest.raises(AttributeError, match="each block"):
        lu.L  # noqa: B018
    assert not hasattr(lu, "U")
    assert hasattr(solvers.splu(random_values(grid(5), 0)), "U")


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        ({"order": "blocked"}, ValueError, "'blocks', 'whole'"),
        ({"order": [0, 1]}, ValueError, "each of 3 columns once"),
        ({"order": [0, 1, 1]}, ValueError, "each of 3 columns once"),
        ({"order": [0.0, 1.0, 2.0]}, ValueError, "each of 3 columns once"),
        ({"order": 0}, ValueError, "each of 3 columns once"),
        ({"order": "whole", "solver": "superlu"}, ValueError, 'only solver="auto"'),
    ],
)
def test_orders_that_are_none(how, error, match):
    for call in (solvers.splu, solvers.analyse):
        with pytest.raises(error, match=match):
            call(sp.csc_array(np.eye(3)), **how)
