"""Breadth-first renumbering: the copy is the same matrix, for any number of workers."""

import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from calls import grid, scrambled
from sparsematch._engines.cpu.core.run_engine import transpose
from sparsematch._engines.cpu.core.workspace import Workspace
from sparsematch._engines.cpu.ordering.bfs_renumbering import renumber
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import larger, matrices, partial_matching

WORKERS = (1, 2, 3)


def renumbered(graph, workers=1):
    return renumber(
        graph, Workspace.of(Matching.start(graph)), transpose(graph, Run(workers)), workers
    )


def lists(graph):
    return [
        graph.indices[b:e].tolist()
        for b, e in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    ]


def search(graph):
    """Both orders by the textbook: one queue, lists and roots in the order of the matrix."""
    forward, backward = lists(graph), lists(transpose(graph, Run()))
    majors, minors = {}, {}
    for root in range(graph.n_major):
        queue = [root] if forward[root] and root not in majors else []
        majors.update(dict.fromkeys(queue))
        while queue:
            reached = [j for i in queue for j in forward[i]]
            new_minors = [j for j in dict.fromkeys(reached) if j not in minors]
            minors.update(dict.fromkeys(new_minors))
            queue = [
                i
                for i in dict.fromkeys(i for j in new_minors for i in backward[j])
                if i not in majors
            ]
            majors.update(dict.fromkeys(queue))
    sides = [range(n) for n in (graph.n_major, graph.n_minor)]
    return [
        [*visited, *(v for v in side if v not in visited)]
        for visited, side in zip((majors, minors), sides, strict=True)
    ]


def assert_renumbered(graph, copy):
    """Each list of the copy is that of the same major, in the new numbers, ascending."""
    place = np.empty(graph.n_minor, int)
    place[copy.minor_order] = np.arange(graph.n_minor)
    before = lists(graph)
    assert lists(copy.graph) == [sorted(place[before[i]].tolist()) for i in copy.major_order]
    assert copy.major_place[copy.major_order].tolist() == list(range(graph.n_major))


@given(matrices() | larger(), st.sampled_from(WORKERS))
def test_the_copy_is_the_matrix_in_breadth_first_order(A, workers):
    graph = as_bipartite(A)
    copy = renumbered(graph, workers)
    assert [copy.major_order.tolist(), copy.minor_order.tolist()] == search(graph)
    assert_renumbered(graph, copy)


@given(matrices() | larger(), st.sampled_from(WORKERS))
def test_a_matching_is_permuted_there_and_back(A, workers):
    graph, rng = as_bipartite(A), np.random.default_rng(1)
    rows, cols = (mates.astype(graph.dtype) for mates in partial_matching(A, rng))
    given, back = Matching(rows, cols), Matching.start(graph)
    copy = renumber(graph, Workspace.of(back), transpose(graph, Run()), workers)
    copy.permute_matching(given)
    copy.unpermute_matching(back, workers)
    assert np.array_equal(back.row_mate, rows)
    assert np.array_equal(back.col_mate, cols)


def several_meshes():
    """Two scrambled meshes, a matching and an empty row: several roots, searches of any width."""
    return sp.csr_array(
        sp.block_diag(
            [scrambled(grid(90), 1), sp.eye(500), sp.csr_array((1, 2)), scrambled(grid(40), 2)]
        )
    )


@pytest.mark.parametrize("workers", WORKERS)
def test_several_components(workers):
    graph = as_bipartite(several_meshes())
    copy, alone = renumbered(graph, workers), renumbered(graph)
    assert_renumbered(graph, copy)
    assert np.array_equal(copy.major_order, alone.major_order)
    assert np.array_equal(copy.minor_order, alone.minor_order)


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not bind a process to a core"
)
def test_two_workers_on_one_core():
    """Where waiting takes too long one thread does the rest, and the order is the same."""
    graph, copies = as_bipartite(scrambled(grid(400), 3)), []
    alone = renumbered(graph)

    def bound():
        # of this thread, and of the team that it starts
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        copies.append(renumbered(graph, 2))

    for _ in range(3):
        thread = threading.Thread(target=bound)
        thread.start()
        thread.join()
    for copy in copies:
        assert np.array_equal(copy.graph.indices, alone.graph.indices)
        assert np.array_equal(copy.graph.indptr, alone.graph.indptr)
        assert np.array_equal(copy.minor_order, alone.minor_order)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_long_ladder(workers):
    """A chain of many levels is not renumbered; its rank is that of any other engine."""
    A = scrambled(grid(8000, 3), 4)
    m, info = sm.maximum_transversal(A, workers=workers, return_info=True)
    assert m.cardinality == sm.structural_rank(A, method="hopcroft_karp")
    assert sm.is_maximum(A, m)
    assert [s.engine for s in info.steps].count("cheap") == 1
