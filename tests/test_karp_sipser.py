"""Karp-Sipser: what it says is settled, by one owner thread, two, or shared degrees.

Also: two owner threads that cannot run at the same time, and interrupts.
"""

import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import sparsematch as sm
from calls import random_matrix
from sparsematch._engines.cpu.core.run_engine import run_engine, transpose
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import larger, matrices

WORKERS = (1, 2, 4)


def start(A, workers, **options):
    """The graph, the matching that the start leaves, what it says is settled, and the run."""
    graph, run = as_bipartite(A), Run(workers, 0, options)
    matching = Matching.start(graph)
    settled = np.zeros(graph.n_major, bool), np.zeros(graph.n_minor, bool)
    run_engine("karp_sipser", graph, matching, run, settled=settled)
    return graph, matching, settled, run


@given(matrices() | larger(), st.sampled_from(WORKERS), st.booleans())
def test_the_core_is_enough_for_a_maximum_matching(A, workers, with_xor):
    """A search that never visits settled vertices still finds a maximum matching."""
    graph, matching, settled, run = start(A, workers, neighbour_xor=with_xor)
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


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not bind a process to a core"
)
def test_two_owner_threads_on_one_core():
    """A thread that waits for the other too long goes on alone; no pair in a ring is lost."""
    A = random_matrix(200_000, 200_000, 4, seed=3)
    cores, results = os.sched_getaffinity(0), []

    def bound():
        os.sched_setaffinity(0, {min(cores)})  # of this thread, and of the team that it starts
        results.append(sm.maximum_transversal(A, init="karp_sipser", method="none", workers=2))

    for _ in range(3):
        thread = threading.Thread(target=bound)
        thread.start()
        thread.join()
    rank = sm.structural_rank(A)
    for m in results:
        assert sm.is_maximal(A, m)
        assert m.cardinality > 0.999 * rank


@pytest.mark.large
@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timer that interrupts"
)
@pytest.mark.parametrize("workers", WORKERS)
def test_an_interrupted_start_leaves_a_valid_matching(workers):
    """Pairs that the row owner has not consumed yet are written on both sides."""
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
