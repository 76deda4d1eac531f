"""Coarsening level by level: the product of prolongations is the oracle; PyAMG solves with it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from graphs import graphs, random_graph, star

pytestmark = pytest.mark.tsan


@given(graphs(max_side=30, max_edges=80), st.integers(0, 8))
def test_hierarchy(G, least):
    h = sm.coarsening_hierarchy(G, min_vertices=least)
    assert isinstance(h, sm.CoarseningHierarchy)
    assert h.levels[0].matrix is G
    assert list(h.sizes) == sorted(h.sizes, reverse=True)
    assert [isinstance(level, sm.CoarseLevel) for level in h.levels] == [True] * len(h)
    assert h.levels[-1].prolongation is h.levels[-1].matching is None
    product = sp.eye_array(G.shape[0], format="csr")
    for k, level in enumerate(h.levels):
        assert (h.prolongation(k) != product).nnz == 0
        assert np.array_equal(h.aggregates(k), product.indices)
        expected = (product.T @ G @ product).toarray()
        np.testing.assert_allclose(expected, level.matrix.toarray(), atol=1e-9)
        if level.prolongation is not None:
            assert level.matching.cardinality > 0
            product = sp.csr_array(product @ level.prolongation)
    if h.stopped_by == "min_vertices":
        assert h.sizes[-1] <= least
    else:
        assert h.stopped_by == "max_ratio"


def test_stars_do_not_stall():
    G = sp.block_diag([star(300), star(200)], format="csr")
    h = sm.coarsening_hierarchy(G, min_vertices=2)
    assert h.sizes == (500, 2)
    assert repr(h) == "CoarseningHierarchy(500 -> 2 vertices, stopped by min_vertices)"
    alone = sm.coarsening_hierarchy(G, min_vertices=2, join_unmatched=False)
    assert (alone.sizes, alone.stopped_by) == ((500,), "max_ratio")
    assert alone.prolongation().shape == (500, 500)
    how = {"min_vertices": 2, "join_unmatched": False, "max_ratio": 0.9999, "max_levels": 400}
    # one leaf of each star a level, until both are single vertices
    assert len(sm.coarsening_hierarchy(G, **how)) == 300


def test_limits_of_the_hierarchy():
    G = random_graph(2000, 6, seed=9)
    how = {"method": "greedy", "weights": False, "rng": 3}
    h = sm.coarsening_hierarchy(G, max_levels=3, min_vertices=1, workers=2, **how)
    assert (len(h), h.stopped_by) == (3, "max_levels")
    assert h.levels[1].matching == sm.approximate_matching(h.levels[1].matrix, **how)
    one_sided = sp.csr_array(sp.triu(G))
    with pytest.raises(ValueError, match="must be symmetric"):
        sm.coarsening_hierarchy(one_sided)
    assert sm.coarsening_hierarchy(one_sided, symmetrize=True).sizes[-1] < 1000
    for how, error, words in (
        ({"min_vertices": -1}, ValueError, "min_vertices is -1"),
        ({"min_vertices": 1.5}, TypeError, "min_vertices must be an integer"),
        ({"max_levels": 0}, ValueError, "max_levels is 0"),
        ({"max_ratio": 1.0}, ValueError, "max_ratio is 1.0"),
        ({"max_ratio": "half"}, TypeError, "max_ratio must be a number"),
    ):
        with pytest.raises(error, match=words):
            sm.coarsening_hierarchy(G, **how)
    with pytest.raises(ValueError, match="level is 3, but there are 3"):
        h.aggregates(3)
    with pytest.raises(TypeError, match="level must be an integer"):
        h.prolongation("last")


def test_pyamg_solves_with_the_aggregation():
    pyamg = pytest.importorskip("pyamg", reason="PyAMG is not installed")
    A = pyamg.gallery.poisson((40, 40), format="csr")
    coarse = sm.coarsen(A, sm.approximate_matching(A), join_unmatched=True)
    h = sm.coarsening_hierarchy(A, min_vertices=30)
    steps = [("predefined", {"AggOp": level.prolongation}) for level in h.levels[:-1]]
    b = np.ones(A.shape[0])
    for aggregate in (("predefined", {"AggOp": coarse.prolongation}), steps):
        solver = pyamg.smoothed_aggregation_solver(A, aggregate=aggregate, max_coarse=30)
        residuals = []
        x = solver.solve(b, tol=1e-8, accel="cg", residuals=residuals)
        assert np.linalg.norm(b - A @ x) <= 1e-7 * np.linalg.norm(b)
        assert len(residuals) < 40
    assert [level.A.shape[0] for level in solver.levels] == list(h.sizes)
