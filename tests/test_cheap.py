"""The cheap initialisation by several workers: nearly as good as by one where numbering is good."""

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
from calls import grid, random_matrix, scrambled
from sparsematch._engines.cpu.core.run_engine import run_engine
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import with_index_type


def free_rows(A, workers, matching=None):
    """How many rows are left free; more workers than cores, too."""
    graph = as_bipartite(A)
    matching = matching or Matching.start(graph)
    run_engine("cheap", graph, matching, Run(workers))
    oracle.assert_maximal(A, matching.row_mate, matching.col_mate)
    return np.count_nonzero(matching.row_mate < 0)


def saddle_point(n):
    """A grid, and a constraint for each second point: [A B; B^T 0]."""
    B = sp.eye_array(n * n, format="csr")[:, ::2]
    return sp.block_array([[grid(n), B], [B.T, None]])


WELL_NUMBERED = {
    "five points": grid(200),
    "rows in reverse": grid(200)[::-1, ::-1],
    "more rows": grid(200)[:, ::2],
    "saddle point": saddle_point(180),
    "two diagonals": sp.diags_array(np.ones((2, 40_000)), offsets=[-3, 2], shape=(40_000,) * 2),
}


@pytest.mark.parametrize(("workers", "dtype"), [(2, np.int32), (16, np.int64)])
@pytest.mark.parametrize("A", WELL_NUMBERED.values(), ids=WELL_NUMBERED)
def test_a_good_numbering_is_as_good_for_several_workers(A, workers, dtype):
    """At most two rows more for each block of rows; a line of the grid has two hundred."""
    A = with_index_type(sp.csr_array(A), dtype)
    assert free_rows(A, workers) <= free_rows(A, 1) + 2 * workers


@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize(
    "A",
    [
        scrambled(grid(150), 3),
        random_matrix(30_000, 20_000, 3, 5),
        sp.csr_array((20_000, 5)),
        sp.vstack([sp.csr_array((30_000, 9_000)), grid(30) @ sp.eye_array(900, 9_000)]),
        sp.block_array([[None, grid(90)], [grid(90), None]]),  # the other half of the columns
        random_matrix(9_000, 1, 1, 7),
    ],
)
def test_any_numbering_is_matched_maximally(A, workers):
    """Also from a matching that was given, which is kept."""
    A = sp.csr_array(A)
    free_rows(A, workers)
    graph = as_bipartite(A)
    warm = Matching.start(graph)
    rows = np.flatnonzero(np.diff(A.indptr))[::7]
    cols, first = np.unique(A.indices[A.indptr[rows]], return_index=True)
    warm.row_mate[rows[first]], warm.col_mate[cols] = cols, rows[first]
    before = warm.row_mate.copy()
    free_rows(A, workers, warm)
    assert np.array_equal(warm.row_mate[before >= 0], before[before >= 0])
