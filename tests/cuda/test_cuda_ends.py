"""Lists that follow an order, on a GPU: what their ends tell about it, and what follows."""

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import sparsematch as sm
from calls import grid, random_matrix, scrambled
from gpu_calls import on_device
from sparsematch._engines.cuda.core import host_fallback
from sparsematch._engines.cuda.core.by_products import DeviceByProducts
from sparsematch._engines.cuda.matching.choice import POLICY
from sparsematch._engines.cuda.matching.features import features
from strategies import INDEX_TYPES, with_index_type

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("no_matrix_is_small")]


def lower(n_rows, n_cols, below):
    """Row i has column i and some to its left: all last entries differ; rows in any order."""
    rng = np.random.default_rng(5)
    rows = np.repeat(np.arange(n_rows), below)
    cols = (rows * rng.random(rows.size)).astype(int)
    i = np.arange(n_rows)
    at = np.r_[i, rows], np.r_[i, cols]
    A = sp.csr_array((np.ones(at[0].size), at), shape=(n_rows, n_cols))
    return sp.csr_array(A[rng.permutation(n_rows)])


def turned(A):
    """The same from right to left: first entries where the last were."""
    A = sp.csr_array(A[:, ::-1])
    A.sort_indices()
    return A


def solve(A, **how):
    return gpu_calls.certified(A, **how)[1].steps


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("turn", [lambda A: A, turned], ids=["last", "first"])
@pytest.mark.parametrize("shape", [(3000, 3000), (2500, 4000)])
def test_lists_whose_ends_differ_are_matched_at_once(shape, turn, dtype):
    A = with_index_type(turn(lower(*shape, 2)), dtype)
    (step,) = solve(A)
    assert step.engine == "ends"
    assert ("first" if turn is turned else "last") in step.reason
    (step,) = solve(A.T.tocsc())
    assert "column" in step.reason


def test_rows_without_entries_stay_free():
    A = lower(3000, 3000, 2).tolil()
    A[::7] = 0
    (step,) = solve(sp.csr_array(A))
    assert step.engine == "ends"


def test_a_matching_that_was_given_is_kept():
    A = lower(3000, 3000, 2)
    usual = sm.maximum_transversal(A).row_mate.copy()
    usual[::5] = -1
    steps = solve(A, initial=gpu_calls.CUPY.asarray(usual))
    assert "ends" not in [step.engine for step in steps]


@pytest.mark.parametrize("rows_only", [False, True])
def test_a_strip_shares_as_many_ends_as_it_is_wide(rows_only):
    A = sp.csr_array(grid(400, 8))
    if rows_only:
        A = sp.csr_array(A[np.random.default_rng(2).permutation(A.shape[0])])
    A.sort_indices()
    seen = features(on_device(A)[0], 4)
    assert seen.in_order
    assert all(0 < shared <= 8 for shared in (seen.first_shared, seen.last_shared))


def test_other_matrices_share_many():
    for A in (scrambled(grid(400, 8), 3), random_matrix(5000, 5000, 3, seed=1)):
        seen = features(on_device(A)[0], 4)
        assert min(seen.first_shared, seen.last_shared) > POLICY.max_shared
        assert not seen.in_order


def test_less_is_expected_of_the_host_where_there_is_an_order():
    """In a block form; of a search: test_gpu_choice.py."""
    n = 1 << 18
    graph = sm.BipartiteCSR(n, n, np.arange(n + 1) * 4, np.zeros(4 * n, int))
    few, many = (
        host_fallback.allowed_levels(graph, DeviceByProducts(host=True, in_order=order))
        for order in (True, False)
    )
    assert 100 < few < 0.7 * many
