"""What each engine for general graphs does beyond the contract: definition, work, threads."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from graphs import (
    assert_maximal,
    edges_of,
    graph,
    path,
    random_graph,
    red_blue,
    vertex_hash,
    weight_of,
)

pytestmark = [pytest.mark.tsan, pytest.mark.wheel]

THREADED = ["suitor", "red_blue", "local_max"]


def seed_of(rng):
    return int(np.random.default_rng(rng).integers(2**63))


@pytest.mark.parametrize("weights", [True, False])
def test_red_blue_reports_its_rounds(weights):
    G = random_graph(400, 6, seed=41)
    _, matched = red_blue(G, weights, seed_of(3))
    m = sm.approximate_matching(G, method="red_blue", weights=weights, rng=3, return_info=True)
    published = m.info.steps[0].matched
    assert list(published[: len(matched)]) == matched
    # the rest of the rounds only finds dead vertices
    assert set(published[len(matched) :]) <= {2 * m.cardinality}


def test_share_of_the_first_round():
    """Equation 2 of the paper, at its greatest: 63.5 % of the vertices of a large random graph."""
    G, p = random_graph(20_000, 40, seed=43), 0.53406
    m = sm.approximate_matching(G, method="red_blue", weights=False, return_info=True)
    expected = 2 * (1 - p) * (1 - np.exp(-p / (1 - p)))
    assert m.info.steps[0].matched[0] / G.shape[0] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("value", [0.001, 1.0, 2, -1.0])
def test_probability_that_is_none(value):
    with pytest.raises(ValueError, match=r"options\['p'\] is "):
        sm.approximate_matching(path([1.0]), method="red_blue", options={"p": value})


@given(st.lists(st.floats(0, 10), min_size=1, max_size=12), st.booleans())
def test_gpa_is_exact_on_paths_and_even_cycles(weights, closed):
    n = len(weights)
    closed = closed and n % 2 == 0 and n >= 4
    edges = [(v, (v + 1) % n if closed else v + 1) for v in range(n)]
    G = graph(n if closed else n + 1, edges, weights)
    m = sm.approximate_matching(G, method="gpa")
    assert_maximal(G, m.mate)
    known = nx.Graph()
    known.add_weighted_edges_from((u, v, w) for (u, v), w in edges_of(G).items())
    heaviest = sum(known[u][v]["weight"] for u, v in nx.max_weight_matching(known))
    # equal weights may close the cycle at another place, never for worse
    if len(set(weights)) == n:
        assert m.weight == pytest.approx(heaviest)
    assert m.weight == pytest.approx(weight_of(G, m.mate))


def test_gpa_is_heavier_than_greedy():
    for seed, degree in ((47, 3), (53, 8), (59, 20)):
        G = random_graph(2000, degree, seed=seed)
        gpa, greedy = (sm.approximate_matching(G, method=name) for name in ("gpa", "greedy"))
        assert gpa.weight > greedy.weight


def test_hem_by_its_definition():
    G = random_graph(300, 5, seed=61)
    seed, n = seed_of(2), G.shape[0]
    turn = []
    for v in range(n):
        k = vertex_hash(v, 0, seed) % (v + 1)
        turn.append(v)
        turn[v], turn[k] = turn[k], v
    edges, mate = edges_of(G), np.full(n, -1)
    for v in turn:
        free = [(w, *({u, x} - {v})) for (u, x), w in edges.items() if v in (u, x)]
        free = [(w, u) for w, u in free if mate[u] == -1]
        if mate[v] == -1 and free:
            u = max(free)[1]
            mate[u], mate[v] = v, u
    assert sm.approximate_matching(G, method="hem", rng=2).mate.tolist() == mate.tolist()


@pytest.mark.parametrize("method", ["local_max", "suitor"])
def test_linear_work_and_few_rounds(method):
    """At most four scans of each edge and 3 log2(n) rounds, weighted or not, skewed or not."""
    hubs = np.random.default_rng(67).zipf(1.7, (2, 60_000)).clip(1, 9_999)
    graphs = random_graph(20_000, 8, seed=71), random_graph(5_000, 60, seed=73)
    for G in (*graphs, graph(10_000, hubs.T)):
        for weights in (True, False):
            (step,) = sm.approximate_matching(G, method=method, weights=weights).info.steps
            assert step.edges <= 4 * len(edges_of(G)) + G.shape[0]
            assert step.phases <= 3 * np.log2(G.shape[0])


@pytest.mark.parametrize("method", THREADED)
@pytest.mark.parametrize("ascending", [True, False])
def test_long_path_of_ascending_weights(method, ascending):
    """Edges dominate one after another: a round for each would never end."""
    n = 200_001
    weights = np.arange(1.0, n + 1)
    G = path(weights if ascending else weights[::-1])
    for workers in (1, 3):
        m = sm.approximate_matching(G, method=method, workers=workers)
        if method != "red_blue":
            assert m.weight == weights[::-2].sum()
            assert m.info.steps[0].edges <= 8 * n


@pytest.mark.parametrize("method", THREADED)
@pytest.mark.parametrize("kind", ["random", "ties", "unit", "star"])
def test_many_vertices_and_workers(method, kind):
    """Enough work for all threads at a time; they find what one finds."""
    G = random_graph(30_000, 10, seed=79)
    if kind == "ties":
        G.data = np.ceil(G.data * 3)
    if kind == "star":
        ends = np.r_[np.zeros(29_999, int), 1:29_999], np.r_[1:30_000, 2:30_000]
        G = graph(30_000, np.transpose(ends))
    call = partial(sm.approximate_matching, G, weights=kind != "unit")
    one = call(method=method)
    for workers in (2, 4):
        assert call(method=method, workers=workers) == one
    if method != "red_blue":
        assert one == call(method="greedy")


def test_entries_that_differ_in_one_place_are_seen():
    """The fingerprint of both triangles: one value, one place, or two places swapped."""
    G = random_graph(1000, 6, seed=83)
    G.sort_indices()
    for k in (0, G.nnz // 2, G.nnz - 1):
        H = G.copy()
        H.data[k] = np.nextafter(H.data[k], 2)
        with pytest.raises(ValueError, match="not of the same absolute value"):
            sm.approximate_matching(H)
        sm.maximal_matching(H)
    square = sp.csr_array(([1.0] * 4, ([0, 1, 3, 2], [3, 2, 1, 0])), shape=(4, 4))
    with pytest.raises(ValueError, match="symmetric"):
        sm.maximal_matching(sp.csr_array(([1.0] * 4, ([0, 1, 2, 3], [3, 2, 0, 1])), shape=(4, 4)))
    with pytest.raises(ValueError, match="symmetric"):
        sm.maximal_matching(square)
