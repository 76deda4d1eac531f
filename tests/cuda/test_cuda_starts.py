"""The starts on a GPU: symmetric patterns, lists in an order, and what they leave to the search."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import oracle
import sparsematch as sm
from calls import grid, random_matrix, scrambled
from gpu_calls import certified, host, on_device, to_gpu
from gpu_rank_checks import with_rare_columns
from sparsematch._engines.cuda.core import host_fallback
from sparsematch._engines.cuda.core.by_products import DeviceByProducts
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching import karp_sipser, min_degree, rare_columns
from sparsematch._engines.cuda.matching.choice import POLICY
from sparsematch._engines.cuda.matching.features import (
    features,
    match_row_singletons,
    with_symmetry,
)
from sparsematch._engines.registry import Run
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import INDEX_TYPES, with_index_type

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
        assert same or not (with_symmetry(graph, None).symmetric or features(graph, 8).symmetric)


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
    assert with_symmetry(graph, None).symmetric
    assert with_symmetry(graph, None).symmetric
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
            finished = match_row_singletons(graph, matching, run)
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


def lower(n_rows, n_cols, below):
    """Row i has column i and some to its left: all last entries differ; rows in any order."""
    rng = np.random.default_rng(5)
    rows = np.repeat(np.arange(n_rows), below)
    cols = (rows * rng.random(rows.size)).astype(int)
    i = np.arange(n_rows)
    at = np.r_[i, rows], np.r_[i, cols]
    A = sp.csr_array((np.ones(at[0].size), at), shape=(n_rows, n_cols))
    return sp.csr_array(A[rng.permutation(n_rows)])


def turned(A):
    """The same from right to left: first entries where the last were."""
    A = sp.csr_array(A[:, ::-1])
    A.sort_indices()
    return A


def steps_of(A, **how):
    return gpu_calls.certified(A, **how)[1].steps


@pytest.mark.usefixtures("no_matrix_is_small")
@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("turn", [lambda A: A, turned], ids=["last", "first"])
@pytest.mark.parametrize("shape", [(3000, 3000), (2500, 4000)])
def test_lists_whose_ends_differ_are_matched_at_once(shape, turn, dtype):
    A = with_index_type(turn(lower(*shape, 2)), dtype)
    (step,) = steps_of(A)
    assert step.engine == "ends"
    assert ("first" if turn is turned else "last") in step.reason
    (step,) = steps_of(A.T.tocsc())
    assert "column" in step.reason


@pytest.mark.usefixtures("no_matrix_is_small")
def test_rows_without_entries_stay_free():
    A = lower(3000, 3000, 2).tolil()
    A[::7] = 0
    (step,) = steps_of(sp.csr_array(A))
    assert step.engine == "ends"


@pytest.mark.usefixtures("no_matrix_is_small")
def test_a_matching_that_was_given_is_kept():
    A = lower(3000, 3000, 2)
    usual = sm.maximum_transversal(A).row_mate.copy()
    usual[::5] = -1
    steps = steps_of(A, initial=gpu_calls.CUPY.asarray(usual))
    assert "ends" not in [step.engine for step in steps]


@pytest.mark.parametrize("rows_only", [False, True])
def test_a_strip_shares_as_many_ends_as_it_is_wide(rows_only):
    A = sp.csr_array(grid(400, 8))
    if rows_only:
        A = sp.csr_array(A[np.random.default_rng(2).permutation(A.shape[0])])
    A.sort_indices()
    seen = features(on_device(A)[0], 4)
    assert seen.in_order
    assert all(0 < shared <= 8 for shared in (seen.first_shared, seen.last_shared))


def test_other_matrices_share_many():
    for A in (scrambled(grid(400, 8), 3), random_matrix(5000, 5000, 3, seed=1)):
        seen = features(on_device(A)[0], 4)
        assert min(seen.first_shared, seen.last_shared) > POLICY.max_shared
        assert not seen.in_order


def test_less_is_expected_of_the_host_where_there_is_an_order():
    """In a block form; of a search: test_gpu_choice.py."""
    n = 1 << 18
    graph = sm.BipartiteCSR(n, n, np.arange(n + 1) * 4, np.zeros(4 * n, int))
    few, many = (
        host_fallback.allowed_levels(graph, DeviceByProducts(host=True, in_order=order))
        for order in (True, False)
    )
    assert 100 < few < 0.7 * many
