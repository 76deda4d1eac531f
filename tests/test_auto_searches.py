"""Which search `auto` takes after a cheap initialisation, and how far."""

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import certify, random_matrix
from sparsematch._engines.cpu.matching import searches


def names(info):
    return [step.engine for step in info.steps]


def test_long_lists_are_looked_ahead_in():
    A = random_matrix(2000, 2000, 80, 31)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert names(info) == ["cheap", "pothen_fan"]
    hubs = random_matrix(2000, 2000, 8, 32).tolil()
    hubs[:80] = 1
    _, info = sm.maximum_transversal(hubs.tocsr(), return_info=True)
    assert "pothen_fan" not in names(info)


def test_a_transpose_waits_for_brief_searches_and_degrees():
    """Far more rows than columns: what `cheap` leaves needs no search from the columns."""
    n = 20_000
    A = random_matrix(3 * n, n, 4, 33).tolil()
    A[:, n - 1] = 0
    A[5, n - 1] = 1
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


@pytest.mark.parametrize("workers", [1, 2])
def test_wide_searches_of_the_same_vertices_are_made_together(workers):
    """Hardly any row that is free has a path: one forest visits their trees once."""
    A = pages(40_000, 71)
    m, info = sm.maximum_transversal(A, workers=workers, return_info=True)
    certify(A, m)
    assert "ms_bfs_graft" in names(info)


def test_searches_of_few_vertices_are_not_made_together():
    """In a staircase they visit the same vertices, too, but few of all."""
    A = staircase(60_000, 72)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert names(info)[:2] == ["cheap", "single_source_bfs"]
    assert info.steps[1].exhausted
    assert "ms_bfs_graft" not in names(info)
