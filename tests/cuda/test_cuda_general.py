"""General graphs on a GPU: what is special to the kernels, and the calls on matrices there."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gpu_calls
import sparsematch as sm
from calls import grid
from gpu_calls import CUPY, host, to_gpu
from graphs import edges_of, graph, graphs, greedy, path, random_graph, star
from sparsematch._engines.cuda.graph import local_max
from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.registry import Run
from sparsematch._input.graph import as_graph
from strategies import INDEX_TYPES, with_index_type

pytestmark = [pytest.mark.asan, pytest.mark.kernels]

SEED = int(np.random.default_rng(0).integers(2**63))


def caterpillar(n, legs):
    """A path of ascending weights, each vertex with a few light edges: a pair frees many."""
    edges = [(v, v + 1) for v in range(n - 1)]
    edges += [(v, n + v * legs + k) for v in range(n) for k in range(legs)]
    weights = [*range(n, 2 * n - 1), *(1 + k % n for k in range(n * legs))]
    return graph(n * (legs + 1), edges, weights)


def hubs(n=5000):
    """Two vertices with lists in several parts, between them and among the others random edges."""
    rng = np.random.default_rng(101)
    edges = {(v, h) for h in (0, 1) for v in range(2 + h, n, 1 + h)}
    pairs = rng.integers(2, n, size=(n, 2)).tolist()
    edges |= {(max(u, v), min(u, v)) for u, v in pairs if u != v}
    return graph(n, sorted(edges), rng.random(len(edges)))


LARGER = {
    "path": lambda: path(np.arange(1.0, 700)),
    "paths": lambda: sp.block_diag([path(np.arange(1.0, k)) for k in (300, 20, 150, 7)], "csr"),
    "caterpillar": lambda: caterpillar(60, 5),
    "star": lambda: star(3000, np.arange(2999.0)),
    "hubs": hubs,
    "random": lambda: random_graph(3000, 10, seed=103),
    "sparse": lambda: random_graph(4000, 2, seed=107),
    "equal_weights": lambda: grid(40).astype(float),
}


def match(G, narrow):
    """The matching by local max in host memory, and the account of it."""
    view = as_graph(to_gpu(G))
    mate = CUPY.asarray(np.full(view.n, -1, view.dtype))
    with gpu_calls.one_call:
        words, _ = local_max.match(view, mate, Run(seed=SEED), narrow=narrow)
    assert words["matched"] == np.count_nonzero(host(mate) >= 0)
    return host(mate), words


@given(graphs(), st.sampled_from([0, 1, 2, 256]))
def test_few_losers_are_left_to_one_block(G, narrow):
    G = sp.csr_array(G)
    G.sum_duplicates()
    assert match(G, narrow)[0].tolist() == greedy(G, True, SEED).tolist()


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("case", LARGER)
@pytest.mark.parametrize("limit", [general.LIMIT, 3])
def test_rounds_by_the_grid_and_by_one_block(case, dtype, limit, monkeypatch):
    """In one launch or in many; the number of rounds is the same as well."""
    monkeypatch.setattr(general, "LIMIT", limit)
    G = with_index_type(LARGER[case](), dtype)
    expected = sm.approximate_matching(G, method="local_max", rng=0)
    rounds = set()
    for narrow in (0, 3, 256):
        mate, words = match(G, narrow)
        assert mate.dtype == dtype
        assert np.array_equal(mate, expected.mate)
        rounds.add(int(words["rounds"]))
    assert len(rounds) == 1


@pytest.mark.parametrize("case", LARGER)
def test_every_type_of_weights(case):
    G = LARGER[case]()
    G.data = np.float32(G.data).astype(float)
    m = sm.approximate_matching(G, rng=0)
    for dtype in (np.float64, np.float32, np.complex64, np.complex128):
        unit = 1j if np.issubdtype(dtype, np.complexfloating) else -1
        H = sp.csr_array((G.data.astype(dtype) * unit, G.indices, G.indptr), shape=G.shape)
        assert gpu_calls.approximate(H, rng=0) == m
        assert gpu_calls.approximate(H, rng=0).weight == pytest.approx(m.weight)
    without = sm.approximate_matching(G, rng=0, weights=False)
    assert gpu_calls.approximate(G, rng=0, weights=False) == without


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("case", LARGER)
def test_red_blue_of_larger_graphs(case, weights, monkeypatch):
    G, how = LARGER[case](), {"method": "red_blue", "weights": weights, "rng": 0}
    m = gpu_calls.approximate(G, **how)
    assert m == sm.approximate_matching(G, **how)
    monkeypatch.setattr(general, "LIMIT", 2)
    for dtype in INDEX_TYPES:
        assert np.array_equal(gpu_calls.approximate(with_index_type(G, dtype), **how).mate, m.mate)


def test_answers_are_on_the_gpu():
    G = random_graph(300, 5, seed=113)
    B = to_gpu(G)
    before = [x.get() for x in (B.data, B.indices, B.indptr)]
    with gpu_calls.one_call:
        found = sm.approximate_matching(B), sm.approximate_matching(sm.view(G, device="cuda"))
        for m in (*found, sm.maximal_matching(B)):
            assert all(isinstance(x, CUPY.ndarray) for x in (m.mate, m.weight_sum, *m.pairs()))
            assert m.weight_sum.shape == ()
            assert m.get().weight == m.weight
            assert m.row_mate is m.col_mate
            assert m.cardinality == m.info.cardinality == m.get().cardinality
            assert m.is_perfect == m.get().is_perfect
            assert sm.is_maximal(B, m)
    assert all(map(np.array_equal, before, [x.get() for x in (B.data, B.indices, B.indptr)]))


@given(graphs(), st.booleans())
def test_a_matrix_that_is_not_symmetric(G, weights):
    """The same words as for a matrix in host memory, or the same matching."""
    upper = sp.csr_array(sp.triu(G, format="csr"))
    if edges_of(upper):
        words = []
        for call in (sm.approximate_matching, gpu_calls.approximate):
            with pytest.raises(ValueError) as caught:
                call(upper, weights=weights)
            words.append(str(caught.value))
        assert words[0] == words[1]
    m = gpu_calls.approximate(upper, weights=weights, symmetrize=True)
    assert m == sm.approximate_matching(upper, weights=weights, symmetrize=True)


def test_long_lists_are_surveyed_too():
    G = hubs()
    assert gpu_calls.approximate(G) == sm.approximate_matching(G)
    p = G.indptr[1] - 2  # within the second part or later of the first list
    for value, words in ((np.nan, "must be finite"), (-2 * G.data[p], "must be symmetric")):
        H = G.copy()
        H.data[p] = value
        with pytest.raises(ValueError, match=words):
            gpu_calls.approximate(H)
    H = G.copy()
    H.indices[p], H.indices[p + 1] = H.indices[p + 1], H.indices[p]
    H.data[p], H.data[p + 1] = H.data[p + 1], H.data[p]
    assert gpu_calls.approximate(H) == sm.approximate_matching(G)  # sorted


def test_repeats_are_added_up_in_order():
    """Three entries in one place, whose sum in single precision depends on their order."""
    edges = [(0, 1)] * 3 + [(1, 2)] + [(2, 3)] * 2
    G = graph(4, edges, [1, 2**-30, 2**-30, 1 + 2**-29.5, 0.25, 0.25])
    for dtype in (np.float32, np.float64):
        H = sp.csr_array((G.data.astype(dtype), G.indices, G.indptr), shape=G.shape)
        assert gpu_calls.approximate(H) == sm.approximate_matching(H)


def test_bad_arguments():
    words = "method is 'greedy', but must be one of 'auto', .*'local_max', 'red_blue'"
    with pytest.raises(ValueError, match=words):
        gpu_calls.approximate(path([1.0]), method="greedy")
    with pytest.raises(TypeError, match="sparse"):
        sm.approximate_matching(CUPY.asarray(np.eye(3)))
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        gpu_calls.approximate(sp.csr_array((2, 3)))
