"""Where Pothen-Fan stops, and what it does not search again."""

import pytest
import scipy.sparse as sp

from calls import random_matrix, shifted_path
from sparsematch._engines.cpu.core.run_engine import run_engine
from sparsematch._engines.registry import Run
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.matching import Matching


def start(A, workers):
    graph, run = as_bipartite(A), Run(workers)
    matching = Matching.start(graph)
    run_engine("cheap", graph, matching, run)
    return graph, matching, run


@pytest.mark.parametrize("workers", [1, 4])
def test_phases_that_will_not_suffice_end_early(workers):
    """A projection ends them before the allowance is used up; they would take 22 passes or more."""
    A = random_matrix(100_000, 100_000, 3, 73)
    step, _ = run_engine("pothen_fan", *start(A, workers), edge_limit=4 * A.nnz)
    assert step.exhausted
    assert step.edges < 3.6 * A.nnz


@pytest.mark.parametrize(
    ("name", "workers"), [("pothen_fan", 1), ("pothen_fan", 4), ("single_source_bfs", 1)]
)
def test_a_search_ends_within_its_budget(name, workers):
    """The last row of a path is matched by a search through all of it, or by none."""
    A, n = shifted_path(200_000), 200_000
    graph, matching, run = start(A, 1)
    run.workers = workers
    step, _ = run_engine(name, graph, matching, run, edge_limit=A.nnz // 4)
    assert step.exhausted
    assert step.augmentations == 0
    assert step.edges < A.nnz / 2
    step, _ = run_engine(name, graph, matching, run)
    assert step.cardinality == n


def test_roots_of_failed_searches_are_given_up():
    """Beside a random square, which takes several phases, rows that share too few columns."""
    square, tall = random_matrix(10_000, 10_000, 4, 74), random_matrix(30_000, 3000, 4, 75)
    A = sp.block_diag([square, tall], format="csr")
    step, _ = run_engine("pothen_fan", *start(A, 1))
    assert step.phases >= 8
    assert step.edges < 5 * A.nnz  # 11 where each phase searches from them again
