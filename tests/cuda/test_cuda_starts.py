"""The starts on a GPU: patterns that are symmetric or nearly, and what they leave to the search."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import oracle
import sparsematch as sm
from calls import random_matrix, scrambled
from gpu_calls import certified, host, to_gpu
from gpu_rank_checks import with_rare_columns
from sparsematch._engines.cuda.core.by_products import DeviceByProducts
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching import karp_sipser, min_degree, rare_columns
from sparsematch._engines.cuda.matching import row_singletons as singletons
from sparsematch._engines.cuda.matching.choice import POLICY
from sparsematch._engines.cuda.matching.features import features, is_symmetric, with_symmetry
from sparsematch._engines.registry import Run
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import with_index_type

pytestmark = pytest.mark.kernels

STARTS = [engine.name for engine in sm.engines("heuristic", backend="cupy")]


def pattern(i, j, n, dtype=np.int32):
    return with_index_type(sp.csr_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n)), dtype)


def symmetric(n, degree, seed, loops=0, dtype=np.int32):
    """A random symmetric pattern; `loops` entries on the diagonal."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, n * degree // 2))
    i, j = i[i != j], j[i != j]
    d = rng.choice(n, loops, replace=False)
    return pattern(np.r_[i, j, d], np.r_[j, i, d], n, dtype)


def triangles(n):
    """n triangles in a row, each joined to the next by an edge."""
    v = np.arange(3 * n)
    i, j = np.r_[v, v[2:-1:3]], np.r_[v - v % 3 + (v + 1) % 3, v[3::3]]
    return pattern(np.r_[i, j], np.r_[j, i], 3 * n)


def hub(n):
    """One vertex joined to all, and a path through the others: a list of more than LONG entries."""
    v = np.arange(1, n)
    i, j = np.r_[np.zeros(n - 1, int), v[:-1]], np.r_[v, v[1:]]
    return pattern(np.r_[i, j], np.r_[j, i], n)


SYMMETRIC = {
    "dense": symmetric(300, 6, 1),
    "sparse": symmetric(400, 2, 2),
    "loops": symmetric(300, 3, 3, loops=80),
    "triangles": triangles(60),
    "hub": hub(2600),
    "path": pattern(np.r_[:99, 1:100], np.r_[1:100, :99], 100),
    "wide indices": symmetric(200, 5, 4, dtype=np.int64),
}


def changed(A, seed):
    """The same with one entry moved."""
    rng, C = np.random.default_rng(seed), A.tocoo()
    i, j = C.coords[0].copy(), C.coords[1].copy()
    k = rng.integers(len(i))
    j[k] = (j[k] + 1 + rng.integers(A.shape[0] - 1)) % A.shape[0]
    return pattern(i, j, A.shape[0], A.indices.dtype)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_patterns_are_recognised(name):
    A = SYMMETRIC[name]
    for form in (sp.csr_array, sp.csc_array):
        graph = as_bipartite(to_gpu(form(A)))
        known = with_symmetry(graph, None)
        assert known.symmetric
        seen = features(graph, 8)
        assert seen.symmetric is not (seen.has_diagonal or seen.hubs_with_leaves)
        mirror = transpose(graph, Run(), known.symmetric)
        assert mirror.flipped is not graph.flipped
        assert mirror.indices is graph.indices


@pytest.mark.parametrize("name", SYMMETRIC)
def test_one_entry_that_differs_is_seen(name):
    for seed in range(5):
        B = changed(SYMMETRIC[name], seed)
        graph, same = as_bipartite(to_gpu(B)), (B.astype(int) != B.T.astype(int)).nnz == 0
        assert same or not (is_symmetric(graph) or features(graph, 8).symmetric)


def test_a_rectangle_is_not_symmetric():
    for shape in ((30, 40), (40, 30)):
        graph = as_bipartite(to_gpu(random_matrix(*shape, 3, seed=5)))
        assert not is_symmetric(graph)
        assert not features(graph, 8).symmetric


@pytest.mark.parametrize(("init", "name"), list(itertools.product(STARTS, SYMMETRIC)))
def test_starts_are_maximal_on_symmetric_patterns(init, name):
    A = SYMMETRIC[name]
    for B in (A, changed(A, 7), sp.csc_array(A)):
        m = sm.maximum_transversal(to_gpu(B), init=init, method="none")
        oracle.assert_matching(B, host(m.row_mate), host(m.col_mate))
        assert sm.is_maximal(to_gpu(B), m)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_degree_one_only_takes_nothing_away(name):
    for B in (SYMMETRIC[name], changed(SYMMETRIC[name], 9)):
        options = {"degree_one_only": True}
        m = sm.maximum_transversal(to_gpu(B), init="karp_sipser", method="none", options=options)
        oracle.assert_matching(B, host(m.row_mate), host(m.col_mate))
        row_mate = host(m.row_mate)
        free = np.flatnonzero(row_mate < 0)
        columns = np.setdiff1d(np.arange(B.shape[1]), row_mate)
        rest = sm.structural_rank(B[free][:, columns])
        assert m.cardinality + rest == sm.structural_rank(B)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_start_keeps_what_was_given(name):
    A = SYMMETRIC[name]
    cheap = sm.maximum_transversal(A, init="cheap", method="none")
    half = np.where(np.arange(A.shape[0]) % 2, host(cheap.row_mate), -1).astype(A.indices.dtype)
    given = gpu_calls.CUPY.asarray(half)
    m = sm.maximum_transversal(to_gpu(A), initial=given, init="karp_sipser", method="none")
    row_mate = host(m.row_mate)
    oracle.assert_matching(A, row_mate, host(m.col_mate))
    assert np.array_equal(row_mate[half >= 0], half[half >= 0])
    assert sm.is_maximal(to_gpu(A), m)


def test_long_rows_choose_after_shorter_ones():
    """On a triangle nothing but a tie within a class of lengths can go wrong."""
    n = 160
    A = scrambled(pattern(*np.tril_indices(n), n), 17)
    m = sm.maximum_transversal(to_gpu(A), init="min_degree", method="none")
    assert m.cardinality > 0.95 * n


def test_every_test_of_symmetry_draws_new_numbers(monkeypatch):
    seeds, graph = [], as_bipartite(to_gpu(SYMMETRIC["sparse"]))
    drawn = lambda n: seeds.append(n) or bytes([len(seeds)] * n)
    monkeypatch.setattr("os.urandom", drawn)
    assert is_symmetric(graph)
    assert is_symmetric(graph)
    assert seeds == [8, 8]


def left_out(finished, n):
    """The vertices that are not in a set, one bit each."""
    return np.flatnonzero(np.unpackbits(host(finished).view(np.uint8), bitorder="little")[:n] == 0)


def leaves(n, hubs, seed):
    """Leaves of a few hubs, in rows and in columns, and a random rest."""
    rng = np.random.default_rng(seed)
    i, j = np.arange(n), rng.integers(0, hubs, n)
    rest = rng.integers(0, n, (2, n // 3))
    return pattern(np.r_[i, j, rest[0]], np.r_[j, i, rest[1]], n)


@pytest.mark.parametrize("start", ["row_singletons", "karp_sipser"])
def test_no_search_needs_what_is_finished(start):
    """Rows and columns of the rest have as many pairs as are missing."""
    A = leaves(600, 20, 1) if start == "row_singletons" else random_matrix(500, 500, 2, seed=3)
    for B in (A, sp.csc_array(A)):
        graph, run = as_bipartite(to_gpu(B)), Run(options={"degree_one_only": True})
        matching = Matching.start(graph)
        if start == "row_singletons":
            finished = singletons.match_row_singletons(graph, matching, run)
        else:
            given = DeviceByProducts(symmetric=False)
            finished = karp_sipser.improve(graph, matching, run, given).finished
        oracle.assert_matching(B, host(matching.row_mate), host(matching.col_mate))
        sides = zip(finished, (graph.n_major, graph.n_minor), strict=True)
        rows, cols = graph.orient(*(left_out(*side) for side in sides))
        assert matching.cardinality > 0
        assert len(rows) < 0.9 * B.shape[0]
        rest = sm.structural_rank(sp.csr_array(B)[rows][:, cols])
        assert matching.cardinality + rest == sm.structural_rank(B)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
@pytest.mark.usefixtures("no_matrix_is_small")
def test_what_a_start_has_finished_is_turned_round_with_the_matrix(form):
    """A tall matrix is searched from its columns; the start went from the rows."""
    A = sp.block_diag([np.ones((300, 1)), random_matrix(600, 600, 4, 2)])
    certified(form(A) if form is sp.csr_array else form(A.T), init="karp_sipser")


def test_leaves_of_hubs_come_first():
    A = leaves(40_000, 30, 5)
    assert features(as_bipartite(to_gpu(A)), 8).hubs_with_leaves
    certified(A, options={"host": False})


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rare_columns_are_matched_first(monkeypatch, dtype):
    """As many as possible; then the search knows that nothing is left to find."""
    monkeypatch.setattr(rare_columns, "LEAST", 0)
    A = with_index_type(with_rare_columns(), dtype)
    most, rank = sm.structural_rank(A[:, 200:]), sm.structural_rank(A)
    m = sm.maximum_transversal(to_gpu(A), init="min_degree", method="none")
    assert np.count_nonzero(host(m.col_mate)[200:] >= 0) == most < 60
    m, info = certified(A, init="min_degree", method="ms_bfs")
    assert m.cardinality == rank == 200 + most
    assert info.steps[-1].phases == 0


@pytest.mark.parametrize("wrong", [0, 1, 127])
def test_wrong_degrees_cost_no_pair(monkeypatch, wrong):
    monkeypatch.setattr(rare_columns, "LEAST", 0)
    degrees = gpu_calls.CUPY.full(260, wrong, np.uint8)
    monkeypatch.setattr(min_degree, "_degrees", lambda *_: degrees)
    certified(with_rare_columns(), init="min_degree", method="ms_bfs")


def test_hubs_without_leaves_may_be_symmetric():
    C, far = symmetric(30_000, 4, 23).tocoo(), np.arange(30_000)
    i, j = np.r_[C.coords[0], far // 10_000], np.r_[C.coords[1], far]
    i, j = i[i != j], j[i != j]
    A = pattern(np.r_[i, j], np.r_[j, i], 30_000)
    seen = features(as_bipartite(to_gpu(A)), 8)
    assert seen.skew > POLICY.hubs
    assert seen.symmetric
    certified(A, options={"host": False})
