"""The transpose: the same as SciPy's, in ascending order, for any number of workers."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from calls import random_matrix
from sparsematch._engines.cpu.core.run_engine import transpose
from sparsematch._engines.registry import Run
from sparsematch._input.bipartite import as_bipartite
from strategies import larger, matrices, with_index_type

pytestmark = [pytest.mark.tsan, pytest.mark.wheel]


def check(A, workers):
    graph = as_bipartite(A)
    found = transpose(graph, Run(workers))
    assert (found.n_major, found.n_minor, found.flipped) == (
        graph.n_minor,
        graph.n_major,
        not graph.flipped,
    )
    majors = np.repeat(np.arange(graph.n_major), np.diff(graph.indptr))
    order = np.argsort(graph.indices, kind="stable")
    assert np.array_equal(found.indices, majors[order])
    assert np.array_equal(
        found.indptr, np.searchsorted(graph.indices[order], np.arange(graph.n_minor + 1))
    )


@given(matrices() | larger(), st.sampled_from((1, 2, 3)))
def test_any_matrix(A, workers):
    check(A, workers)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    ("n_rows", "n_cols", "degree"),
    [
        (3_000, 2_000, 20),  # several buckets, with three workers
        (150_000, 150_000, 8),  # with 64-bit indices more than the cache holds
        (70_000, 70_000, 0.05),  # a row and a column of one bucket do not fit into 32 bits
        (100, 300_000, 500),
        (300_000, 100, 0.5),
    ],
)
def test_buckets(n_rows, n_cols, degree, workers):
    A = random_matrix(n_rows, n_cols, degree, seed=2)
    check(A, workers)
    check(with_index_type(A, np.int64), workers)


def test_a_large_matrix_that_is_well_numbered():
    """As a single pass is best."""
    n = 150_000
    A = sp.diags_array(np.ones((9, n)), offsets=np.arange(-4, 5) * 40, shape=(n, n)).tocsr()
    check(with_index_type(A, np.int64), 1)


@pytest.mark.large
def test_more_buckets_where_rows_are_many():
    check(random_matrix(2_200_000, 1_500_000, 2, seed=3), 2)
