"""The contract of engines for general graphs, what each does beyond it, what calls refuse."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gpu_calls
import sparsematch as sm
from calls import frozen, other_values
from graphs import (
    assert_maximal,
    edges_of,
    graph,
    graphs,
    greedy,
    path,
    random_graph,
    red_blue,
    star,
    vertex_hash,
    weight_of,
)
from strategies import INDEX_TYPES, with_index_type

pytestmark = [pytest.mark.tsan, pytest.mark.wheel]

#: Engines that find the one matching that the strict order of the edges determines.
SAME = {"auto", "greedy", "suitor", "local_max"}


#: In host memory, and on a GPU.
CALLS = [
    pytest.param(sm.approximate_matching, id="host"),
    pytest.param(gpu_calls.approximate, id="gpu", marks=pytest.mark.kernels),
]


def solve(G, engine, **how):
    """The matching that this engine makes of G; both in host memory, wherever it runs."""
    call = gpu_calls.approximate if engine.backend == "cupy" else sm.approximate_matching
    return call(G, method=engine.name, **how)


def seed_of(rng):
    return int(np.random.default_rng(rng).integers(2**63))


@pytest.mark.every_backend
def test_random_graphs(approximate):
    @given(graphs(), st.booleans(), st.sampled_from([1, 2, 4]))
    def holds(G, weights, workers):
        m = solve(G, approximate, weights=weights, workers=workers)
        assert_maximal(G, m.mate)
        assert m.mate.dtype == G.indices.dtype
        assert m.weight == pytest.approx(weight_of(G, m.mate) if weights else m.cardinality)

    holds()


@pytest.mark.every_backend
def test_one_matching_under_one_order(approximate):
    """On every back-end and any number of threads: the oracle processes the edges one by one."""
    if approximate.name not in SAME:
        pytest.skip("another matching by design")

    @given(graphs(), st.booleans(), st.integers(0, 5), st.sampled_from([1, 3]))
    def holds(G, weights, rng, workers):
        m = solve(G, approximate, weights=weights, rng=rng, workers=workers)
        assert m.mate.tolist() == greedy(G, weights, seed_of(rng)).tolist()

    holds()


@pytest.mark.every_backend
def test_red_blue_by_its_definition(approximate):
    if approximate.name != "red_blue":
        pytest.skip("another matching by design")

    p, workers = st.sampled_from([0.53406, 0.1, 0.9]), st.sampled_from([1, 3])

    @given(graphs(), st.booleans(), st.integers(0, 3), p, workers)
    def holds(G, weights, rng, p, workers):
        G = sp.csr_array(G)
        G.sum_duplicates()
        how = {"weights": weights, "rng": rng, "options": {"p": p}, "workers": workers}
        m = solve(G, approximate, return_info=True, **how)
        mate, matched = red_blue(G, weights, seed_of(rng), p)
        assert m.mate.tolist() == mate.tolist()
        published = m.info.steps[0].matched
        assert list(published[: len(matched)]) == matched[: len(published)]
        # the rest of the rounds only finds dead vertices
        assert set(published[len(matched) :]) <= {2 * m.cardinality}

    holds()


@pytest.mark.every_backend
@pytest.mark.parametrize("weights", [True, False])
def test_the_same_answer_on_every_run(approximate, weights):
    G = random_graph(3000, 8, seed=17, weights=weights)
    first = solve(G, approximate, rng=7)
    for workers in (1, 2, 4):
        assert solve(G, approximate, rng=7, workers=workers) == first
    if approximate.name in SAME:
        assert first == sm.approximate_matching(G, method="greedy", rng=7)


@pytest.mark.every_backend
def test_at_least_half_of_the_optimum(approximate):
    @given(graphs(max_side=10))
    def holds(G):
        edges = nx.Graph()
        edges.add_weighted_edges_from((u, v, w) for (u, v), w in edges_of(G).items())
        heaviest = sum(edges[u][v]["weight"] for u, v in nx.max_weight_matching(edges))
        m = solve(G, approximate)
        assert m.guarantee == approximate.guarantee
        assert m.weight >= m.guarantee * heaviest * (1 - 1e-12)
        largest = len(nx.max_weight_matching(edges, maxcardinality=True))
        assert 2 * m.cardinality >= largest

    holds()


@pytest.mark.every_backend
def test_without_weights_values_are_not_read(approximate):
    G = random_graph(200, 4, seed=19)
    H = G.copy()
    H.data[:] = np.nan
    assert solve(G, approximate, weights=False) == solve(H, approximate, weights=False)


@pytest.mark.every_backend
def test_options(approximate):
    G = random_graph(500, 6, seed=23)
    for name, default in approximate.options.items():
        for value in other_values(default):
            if name == "p":
                value = min(value, 0.9)
            assert_maximal(G, solve(G, approximate, options={name: value}).mate)


@pytest.mark.every_backend
def test_stars_and_paths(approximate):
    assert solve(star(500), approximate).cardinality == 1
    m = solve(path([1, 2, 3, 4, 5, 6, 7, 8]), approximate)
    assert_maximal(path(np.ones(8)), m.mate)
    assert solve(sp.csr_array((0, 0)), approximate).cardinality == 0
    assert solve(sp.csr_array((5, 5)), approximate).mate.tolist() == [-1] * 5
    assert solve(sp.eye_array(5, format="csr"), approximate).cardinality == 0


@pytest.mark.every_backend
def test_report(approximate):
    G = random_graph(1000, 6, seed=29)
    m = solve(G, approximate, return_info=True)
    (step,) = m.info.steps
    assert step.cardinality == m.info.cardinality == m.cardinality
    assert step.edges > 0
    assert step.phases >= 1
    if step.matched:
        assert list(step.matched) == sorted(step.matched)
        assert list(step.live_edges) == sorted(step.live_edges, reverse=True)
        assert step.matched[-1] == 2 * m.cardinality
        assert len(step.matched) == len(step.live_edges) == step.phases
        assert step.live_edges[0] == len(edges_of(G))


@pytest.mark.every_backend
def test_input_is_only_read(approximate):
    G = frozen(random_graph(300, 5, seed=31))
    before = [x.tobytes() for x in (G.data, G.indices, G.indptr)]
    solve(G, approximate, workers=2)
    assert [x.tobytes() for x in (G.data, G.indices, G.indptr)] == before


def test_result_is_a_matching_of_the_matrix():
    G = path([3, 1, 2])
    m = sm.approximate_matching(G)
    assert isinstance(m, sm.GraphMatching)
    assert isinstance(m, sm.Matching)
    assert m.row_mate is m.col_mate
    assert sm.is_matching(G, m)
    assert sm.is_maximal(G, m)
    assert m.mate.tolist() == [1, 0, 3, 2]
    assert (m.weight, m.cardinality, m.is_perfect, m.guarantee) == (5.0, 2, True, 0.5)
    assert [x.tolist() for x in m.pairs()] == [[0, 2], [1, 3]]
    assert m.as_permutation().tolist() == [1, 0, 3, 2]
    assert repr(m) == "GraphMatching(4 vertices, cardinality 2, weight 5)"
    with pytest.raises(ValueError, match="read-only"):
        m.mate[0] = 2


@pytest.mark.parametrize("call", CALLS)
def test_formats(call):
    G = random_graph(100, 4, seed=37)
    expected = sm.approximate_matching(G)
    for form in ("csr", "csc", "coo"):
        m = call(G.asformat(form))
        assert m == expected
        assert m.weight == pytest.approx(expected.weight)


def test_types():
    G = random_graph(100, 4, seed=37)
    expected = sm.approximate_matching(G)
    for dtype in INDEX_TYPES:
        assert sm.approximate_matching(with_index_type(G, dtype)).mate.dtype == dtype
    scaled = (G * 100).astype(np.int32)
    assert sm.approximate_matching(scaled) == sm.approximate_matching(scaled.astype(np.float32))
    assert sm.approximate_matching(G * 1j) == expected
    assert sm.approximate_matching(-G) == expected
    with pytest.warns(sp.SparseEfficiencyWarning):
        assert sm.approximate_matching(G.tolil()) == expected


@given(graphs(), st.booleans())
def test_a_matrix_that_is_not_symmetric_is_refused_by_its_first_entry(G, weights):
    """The lower triangle is dropped; the message names the first unpaired entry by rows."""
    upper = sp.csr_array(sp.triu(G, format="csr"))
    edges = sorted(edges_of(upper))
    if not edges:
        sm.approximate_matching(upper, weights=weights)
        return
    (i, j) = edges[0]
    with pytest.raises(ValueError, match=rf"G\[{i}, {j}\] is an entry, but G\[{j}, {i}\] is no"):
        sm.approximate_matching(upper, weights=weights)
    m = sm.approximate_matching(upper, weights=weights, symmetrize=True)
    assert m.mate.tolist() == greedy(G, weights).tolist()


def test_symmetrize_keeps_the_larger():
    G = sp.csr_array(np.array([[0.0, 1, 0, 0], [-9, 0, 5, 0], [0, 5, 0, 1], [0, 0, 2, 0]]))
    words = r"G\[0, 1\] is an entry, but G\[1, 0\] is not of the same absolute value"
    with pytest.raises(ValueError, match=words):
        sm.approximate_matching(G)
    m = sm.approximate_matching(G, symmetrize=True)
    assert (m.mate.tolist(), m.weight) == ([1, 0, 3, 2], 11.0)
    assert sm.maximal_matching(G).cardinality >= 1, "without weights its pattern is symmetric"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("call", CALLS)
def test_weights_that_are_no_numbers_are_refused(call, value, dtype):
    with pytest.raises(ValueError, match=rf"G\[1, 2\] is {value}, but weights must be finite"):
        call(path([1.0, value, 1.0]).astype(dtype))
    on_the_diagonal = (path([1.0]) + sp.diags_array([value, 0.0])).tocsr().astype(dtype)
    assert call(on_the_diagonal).cardinality == 1


@pytest.mark.parametrize(
    ("G", "how", "error", "words"),
    [
        (np.eye(3), {}, TypeError, "sparse"),
        (sp.csr_array((2, 3)), {}, ValueError, r"shape \(2, 3\)"),
        (path([1.0]), {"method": "fast"}, ValueError, "'local_max'"),
        (path([1.0]), {"method": "hopcroft_karp"}, ValueError, "'local_max'"),
        (path([1.0]), {"method": 3}, TypeError, "method"),
        (path([1.0]), {"weights": "yes"}, TypeError, "weights must be True or False"),
        (path([1.0]), {"workers": 0}, ValueError, "workers is 0"),
        (path([1.0]), {"rng": -1}, ValueError, "rng is -1"),
        (path([1.0]), {"options": {"q": 1}}, ValueError, "options"),
        *(
            (path([1.0]), {"method": "red_blue", "options": {"p": p}}, ValueError, r"\['p'\] is ")
            for p in (0.001, 1.0, 2, -1.0)
        ),
    ],
)
def test_bad_input(G, how, error, words):
    with pytest.raises(error, match=words):
        sm.approximate_matching(G, **how)


THREADED = ["suitor", "red_blue", "local_max"]


def test_share_of_the_first_round():
    """Equation 2 of the paper, at its greatest: 63.5 % of the vertices of a large random graph."""
    G, p = random_graph(20_000, 40, seed=43), 0.53406
    m = sm.approximate_matching(G, method="red_blue", weights=False, return_info=True)
    expected = 2 * (1 - p) * (1 - np.exp(-p / (1 - p)))
    assert m.info.steps[0].matched[0] / G.shape[0] == pytest.approx(expected, abs=0.02)


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
