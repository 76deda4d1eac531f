"""Allocations that fail one after another, in a core built with SPARSEMATCH_FAILING_NEW."""

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import grid, limited, random_matrix, scrambled
from sparsematch._engines.cpu import _core
from sparsematch.solvers import lstsq

pytestmark = [
    pytest.mark.asan,
    pytest.mark.skipif(
        not hasattr(_core, "fail_allocation"),
        reason="the core is built without failing allocations",
    ),
]

MATRIX = scrambled(random_matrix(600, 580, 2, seed=311), seed=313)
LARGE = random_matrix(30_000, 30_000, 2, seed=317)  # its loops are shared among threads
BASIS = sp.csc_array(random_matrix(400, 400, 2, seed=331) + 2 * sp.eye_array(400))
GRAPH = grid(24)
WEIGHTED = sp.csr_array((np.arange(1.0, MATRIX.nnz + 1), MATRIX.indices, MATRIX.indptr))
SYMMETRIC = sp.csr_array(WEIGHTED[:580] + WEIGHTED[:580].T)
ENGINES = [e for e in sm.engines() if e.backend == "numpy" and e.kind != "approximate"]
HEURISTICS = [e.name for e in ENGINES if e.kind == "heuristic"]
GENERAL = ["local_max", "suitor", "red_blue", "greedy", "gpa", "hem"]


def transversal(A, name, kind):
    how = {"method": name, "init": "none"} if kind == "exact" else {"method": "none", "init": name}
    return lambda w: sm.maximum_transversal(A, workers=w, **how).cardinality


def calls():
    """Every operation of the core with a name, as a function of the number of workers."""
    yield "auto", lambda w: sm.maximum_transversal(MATRIX, workers=w).cardinality
    yield "block form", lambda w: sm.block_triangular_form(MATRIX, workers=w).n_blocks
    yield "explain", lambda w: len(sm.explain_singularity(MATRIX, workers=w).overdetermined)
    yield "product", lambda w: sm.maximum_product_transversal(WEIGHTED).cardinality
    yield "least squares", lambda w: lstsq(MATRIX[:, ::3], np.ones(MATRIX.shape[0])).rank
    yield "symmetric product", lambda w: len(sm.symmetric_product_transversal(SYMMETRIC).pairs)
    yield "Markowitz", lambda w: factorise(BASIS, limited(by_values=(1.0, 0, 1e9)).policy).entries
    for name in GENERAL:
        yield (
            name,
            lambda w, name=name: (
                sm.approximate_matching(GRAPH, method=name, rng=1, workers=w).cardinality
            ),
        )
    mate = sm.approximate_matching(GRAPH, rng=1)
    yield "coarsen", lambda w: sm.coarsen(GRAPH, mate, workers=w).matrix.nnz
    for engine in ENGINES:
        if engine.name != "auto" and engine.name != "reference":
            for size, A in (("small", MATRIX), ("large", LARGE)):
                yield f"{size} {engine.name}", transversal(A, engine.name, engine.kind)


def factorise(A, policy):
    """As `splu` does, without a look at the analysis: nanobind ends the process where it has no
    memory to share one."""
    arrays = A.indptr, A.indices, A.data, A.shape[0]
    wishes = _core.Wishes(policy, True, 0.01, 0.0)
    return _core.factorise_square(*arrays, False, False, wishes)[0]


CALLS = dict(calls())


def each_failure(call, workers, most):
    """Let the k-th allocation fail for k = 0, 1, ...: all of few, ever fewer of many."""
    k = 0
    while True:
        _core.fail_allocation(k)
        try:
            result = call(workers)
            raised = False
        except MemoryError:
            result, raised = None, True
        failed = _core.fail_allocation(-1)
        yield k, failed, raised, result
        if not failed:
            return
        k += max(1, k // most)


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", CALLS)
def test_each_allocation_may_fail(name, workers):
    """It becomes MemoryError, or fewer workers, and the next call is as good as ever."""
    call = CALLS[name]
    expected = call(1)
    raised = False
    for k, failed, error, result in each_failure(call, workers, most=40):
        assert failed or not error, k
        raised |= error
        if not error and name.split()[-1] not in HEURISTICS:
            assert result == expected, k
    assert raised or name.endswith("cheap")  # by one worker it allocates nothing
    assert call(workers) is not None
