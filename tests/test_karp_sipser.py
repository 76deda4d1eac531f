"""Karp-Sipser by one worker and by several: what it says is settled, chains, and interrupts."""

import signal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracle
import sparsematch as sm
from calls import certify, random_matrix, scrambled
from sparsematch._engines.cpu.core.run_engine import run_engine, transpose
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import larger, matrices

WORKERS = (1, 2, 8)


def start(A, workers, **options):
    """The graph, the matching that the start leaves, what it says is settled, and the run."""
    graph, run = as_bipartite(A), Run(workers, 0, options)
    matching = Matching.start(graph)
    settled = np.zeros(graph.n_major, bool), np.zeros(graph.n_minor, bool)
    run_engine("karp_sipser", graph, matching, run, settled=settled)
    return graph, matching, settled, run


@given(matrices() | larger(), st.sampled_from(WORKERS))
def test_the_core_is_enough_for_a_maximum_matching(A, workers):
    """A search that never visits settled vertices still finds a maximum matching."""
    graph, matching, settled, run = start(A, workers)
    done = run_engine("single_source_bfs", graph, matching, run, settled=settled)
    assert done.cardinality == oracle.rank(A)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_large_core(workers):
    A = random_matrix(40_000, 40_000, 3, seed=4)
    graph, matching, settled, run = start(A, workers)
    core = int(np.count_nonzero(~settled[0]))
    assert 0 < core < graph.n_major / 2
    assert run_engine(
        "single_source_bfs", graph, matching, run, settled=settled
    ).cardinality == sm.structural_rank(A)


@pytest.mark.parametrize("workers", WORKERS)
def test_chains_and_hubs(workers):
    """Chains, triangles, and hubs of more rows than a byte can count need no pick."""
    n = 3000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    hub = sp.coo_array((np.ones(n), (np.arange(n), np.zeros(n, int))), shape=(n, n))
    triangle = sp.triu(random_matrix(n, n, 4, seed=6)) + sp.eye_array(n)
    for A in (scrambled(path, 7), sp.eye_array(n) + hub, scrambled(triangle, 8)):
        m = sm.maximum_transversal(
            A,
            init="karp_sipser",
            method="none",
            options={"degree_one_only": True},
            workers=workers,
        )
        certify(A, m, rank=n)


@given(matrices() | larger(), st.sampled_from(WORKERS), st.integers(0, 2**32 - 1))
def test_a_warm_start_stays_matched(A, workers, seed):
    """Some pairs of a matching are given: their ends are no neighbours of any other vertex."""
    row_mate = sm.maximum_transversal(A).row_mate.copy()
    row_mate[np.random.default_rng(seed).random(row_mate.size) < 0.5] = -1
    m = sm.maximum_transversal(
        A, init="karp_sipser", method="none", initial=row_mate, workers=workers
    )
    given_rows = row_mate >= 0
    assert np.array_equal(m.row_mate[given_rows], row_mate[given_rows])
    assert sm.is_maximal(A, m)


@pytest.mark.large
@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timer that interrupts"
)
@pytest.mark.parametrize("workers", WORKERS)
def test_an_interrupted_start_leaves_a_valid_matching(workers):
    """The pairs made until then are written on both sides."""
    graph, stopped = as_bipartite(random_matrix(1_000_000, 1_000_000, 4, seed=3)), 0
    run = Run(workers)
    transpose(graph, run)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for seconds in (0.03, 0.05, 0.07, 0.09):
            matching = Matching.start(graph)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                run_engine("karp_sipser", graph, matching, run)
            except KeyboardInterrupt:
                stopped += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            rows = np.flatnonzero(matching.row_mate >= 0)
            assert np.array_equal(matching.col_mate[matching.row_mate[rows]], rows)
            assert np.count_nonzero(matching.col_mate >= 0) == rows.size
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stopped
