"""Which search `auto` takes after a cheap initialisation, and how far."""

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import certify, grid, random_matrix, scrambled
from sparsematch._engines.cpu.core.run_engine import run_engine
from sparsematch._engines.cpu.matching import searches
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching


def names(info):
    return [step.engine for step in info.steps]


def test_long_lists_are_looked_ahead_in():
    A = random_matrix(2000, 2000, 80, 31)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert names(info) == ["cheap", "pothen_fan"]
    many_free = sp.hstack([random_matrix(4000, 3000, 30, 32), sp.csr_array((4000, 1000))]).tocsr()
    m, info = sm.maximum_transversal(many_free, return_info=True)
    certify(many_free, m)
    assert names(info)[:2] == ["cheap", "pothen_fan"]
    _, info = sm.maximum_transversal(random_matrix(9000, 9000, 40, 33), return_info=True)
    assert "pothen_fan" not in names(info)  # few are free
    hubs = random_matrix(2000, 2000, 8, 32).tolil()
    hubs[:80] = 1
    _, info = sm.maximum_transversal(hubs.tocsr(), return_info=True)
    assert "pothen_fan" not in names(info)


def test_a_scrambled_mesh_of_long_lists_is_pushed_through():
    """Of 27 entries in most rows, on a cube."""
    line = sp.csr_array(grid(22, 1))
    A = scrambled(sp.csr_array(sp.kron(sp.kron(line, line), line)), 35)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert "push_relabel" in names(info)
    assert "pothen_fan" not in names(info)


def test_a_transpose_waits_for_brief_searches_and_degrees():
    """Far more rows than columns: what `cheap` leaves needs no search from the columns."""
    n = 20_000
    A = random_matrix(3 * n, n, 4, 33).tolil()
    A[:, n - 9 :] = 0
    for k in range(9):
        A[5 + k, n - 9 + k] = 1
    A = A.tocsr()
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert names(info) == ["cheap", "single_source_bfs", "min_degree"]
    assert info.steps[1].exhausted
    assert info.steps[1].edges < 2 * searches.UNTRANSPOSED * A.nnz
    assert info.transposes_built == 0


def test_searches_end_when_no_column_is_free():
    A = random_matrix(30_000, 5_000, 6, 34)
    _, info = sm.maximum_transversal(A, method="single_source_bfs", init="cheap", return_info=True)
    search = info.steps[-1]
    roots = np.count_nonzero(np.diff(A.indptr)) - info.steps[0].cardinality
    assert search.cardinality == 5_000
    assert search.phases < roots / 2


def pages(n, seed):
    """Each row copies half of its links from an earlier one: few columns have most. By degree."""
    random, row = np.random.default_rng(seed), np.arange(n)
    j = random.integers(0, np.maximum(1, row), size=(6, n)).T
    source = (row * random.random(n)).astype(int)
    for k in range(3):
        j[:, k] = j[source, k]
    ones = np.ones(j.size)
    A = sp.csr_array((ones, (np.repeat(row, 6), j.ravel())), shape=(n, n))
    return A[np.argsort(np.diff(A.indptr), kind="stable")]


def staircase(n, seed):
    """Stages of 200 rows with four entries each, in the columns of their stage and the next."""
    i = np.repeat(np.arange(n), 4)
    j = i // 200 * 200 + np.random.default_rng(seed).integers(0, 280, i.size)
    return sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n + 400))


def bicliques(n, seed):
    """Some rows by some columns, all with all, again and again: of many there are too many."""
    random = np.random.default_rng(seed)
    i, j = [], []
    for n_rows, n_cols in random.geometric(1 / 6, size=(n // 6, 2)) + 1:
        i.append(np.repeat(random.integers(0, n, n_rows), n_cols))
        j.append(np.tile(random.integers(0, n, n_cols), n_rows))
    ones = np.ones(sum(map(len, i)))
    return sp.csr_array((ones, (np.concatenate(i), np.concatenate(j))), shape=(n, n))


def test_trees_that_fail_are_shared():
    """Where most searches have failed before they were given up."""
    A = bicliques(40_000, 5)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    search, forest = info.steps[-2:]
    assert (search.engine, forest.engine) == ("single_source_bfs", "ms_bfs_graft")
    assert search.exhausted
    assert search.augmentations < searches.FOUND_SHARE * search.phases
    assert "have no path" in forest.reason


@pytest.mark.parametrize("workers", [1, 2])
def test_wide_searches_of_the_same_vertices_are_made_together(workers):
    """Hardly any row that is free has a path: one forest visits their trees once."""
    A = pages(40_000, 71)
    m, info = sm.maximum_transversal(A, workers=workers, return_info=True)
    certify(A, m)
    forest = info.steps[names(info).index("ms_bfs_graft")]
    assert "visits what the others have visited" in forest.reason


def test_searches_of_few_vertices_are_not_made_together():
    """In a staircase they visit the same vertices, too, but few of all."""
    A = staircase(60_000, 72)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert names(info)[:2] == ["cheap", "single_source_bfs"]
    assert info.steps[1].exhausted
    assert "ms_bfs_graft" not in names(info)


def test_a_few_are_searched_for_without_a_transpose():
    """However many rows may end in them."""
    n = 20_000
    A = random_matrix(3 * n, n, 4, 33).tolil()
    A[:, n - 1] = 0
    A[5, n - 1] = 1
    m, info = sm.maximum_transversal(A.tocsr(), return_info=True)
    certify(A.tocsr(), m)
    assert names(info) == ["cheap", "single_source_bfs"]
    assert info.transposes_built == 0


def forced(n, seed):
    """A hidden triangle that begins at one row of one entry: five entries in all the others."""
    random = np.random.default_rng(seed)
    i = np.repeat(np.arange(1, n), 4)
    j = random.integers(np.maximum(i - 40, 0), i)
    A = sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n)) + sp.eye_array(n)
    return scrambled(sp.csr_array(A), seed)


def test_one_vertex_of_degree_one_may_lead_through_all():
    A = forced(60_000, 73)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert "karp_sipser" in names(info)
    assert "push_relabel" not in names(info)[names(info).index("karp_sipser") :]


def test_a_search_ends_within_its_budget():
    """The last row of a path is matched by a search through all of it, or by none."""
    n = 200_000
    A = sp.csr_array(sp.eye_array(n) + sp.eye_array(n, k=-1))
    A = A[np.r_[1:n, 0]]  # each row takes the column of the next one
    graph, run = as_bipartite(A), Run(1)
    matching = Matching.start(graph)
    run_engine("cheap", graph, matching, run)
    step = run_engine("single_source_bfs", graph, matching, run, edge_limit=A.nnz // 4)
    assert step.exhausted
    assert step.augmentations == 0
    assert step.edges < A.nnz / 2
    step = run_engine("single_source_bfs", graph, matching, run)
    assert step.cardinality == n
