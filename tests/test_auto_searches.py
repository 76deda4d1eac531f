"""Which search `auto` takes after a cheap initialisation, and how far."""

import numpy as np

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
