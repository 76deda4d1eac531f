"""Karp-Sipser against a plain twin, chains, interrupts; minimum degree by its definition."""

import signal
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracle
import sparsematch as sm
from calls import few, random_matrix
from gallery import pattern
from sparsematch._engines.cpu.core.run_engine import HostByProducts, run_engine, transpose
from sparsematch._engines.cpu.matching.auto import nothing_finished
from sparsematch._engines.registry import Run
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import larger, matrices, partial_matching
from test_interrupt import alarms

pytestmark = pytest.mark.tsan

WORKERS = (1, 2, 8)
ALONE = {"init": "karp_sipser", "method": "none"}
FORCED = ALONE | {"options": {"degree_one_only": True}}


def degree_one_by_hand(A):
    """How many pairs degrees of one force, and which rows and columns are left with entries.

    Neither depends on the order in which vertices are matched. An entry counts as often as it is
    repeated.
    """
    n_rows = A.shape[0]
    neighbours = [[] for _ in range(sum(A.shape))]
    for i, j in zip(*(x.tolist() for x in oracle.entries(A)), strict=True):
        neighbours[i].append(n_rows + j)
        neighbours[n_rows + j].append(i)
    degree, gone, pairs = [len(x) for x in neighbours], [False] * len(neighbours), 0
    stack = [v for v, d in enumerate(degree) if d == 1]
    while stack:
        v = stack.pop()
        if gone[v] or degree[v] != 1:
            continue
        w = next(w for w in neighbours[v] if not gone[w])
        gone[v] = gone[w] = True
        pairs += 1
        for u in neighbours[w]:
            degree[u] -= 1
            if degree[u] == 1:
                stack.append(u)
    left = (np.array(degree) > 0) & ~np.array(gone)
    return pairs, left[:n_rows], left[n_rows:]


def side_by_side(patterns, couplings=0, seed=0):
    """Small patterns (of counts of entries) as blocks of one matrix, coupled and scrambled."""
    rng, places, n = np.random.default_rng(seed), [], np.zeros(2, int)
    for block in patterns:
        places.append(np.argwhere(block).repeat(block[block > 0], axis=0) + n)
        n += block.shape
    places.append(rng.integers(0, n, (couplings, 2)))
    rows, cols = np.concatenate(places).T
    rows, cols = rng.permutation(n[0])[rows], rng.permutation(n[1])[cols]
    return pattern(rows, cols, tuple(n))


def small_patterns():
    """All of three rows and columns with up to two entries in a place, all of four with up to one,
    up to the order of rows; chains, some with a repeated entry; and hubs.
    """
    for side, most in (3, 2), (4, 1):
        rows = product(range(most + 1), repeat=side)
        yield from map(np.array, combinations_with_replacement(rows, side))
    for n, more in product((1, 2, 3, 10, 50, 51), (0, 1)):
        chain = np.eye(n, n + more, dtype=int) + np.eye(n, n + more, 1, dtype=int)
        yield from (chain, chain.T.copy())
        chain[n // 2, n // 2] = 2
        yield chain
    # a column, or a row and a column, of more entries than a degree can say
    for row in (0, 1):
        hub = np.eye(300, dtype=int)
        hub[0] |= row
        hub[:, 0] = 1
        yield hub


def start(A, workers, **options):
    """The graph, the matching that the start leaves, the run and the by-products."""
    graph, run = as_bipartite(A), Run(workers, 0, options, for_blocks=True)
    matching = Matching.start(graph)
    flags = HostByProducts(finished=nothing_finished(graph))
    _, found = run_engine("karp_sipser", graph, matching, run, flags)
    return graph, matching, run, found


@pytest.mark.parametrize("couplings", [0, 3000, 12_000])
def test_all_small_patterns_as_by_hand(couplings):
    """The same pairs are forced and the same vertices finished, whichever worker comes first."""
    A = side_by_side(list(small_patterns()), couplings, seed=couplings)
    pairs, rows, cols = degree_one_by_hand(A)
    assert 0 < pairs < A.shape[0] - np.count_nonzero(rows)
    for form, workers in product((A, A.tocsc()), (1, *few(2, 3, 8) * 4)):
        _, matching, _, left = start(form, workers, degree_one_only=True)
        oracle.assert_matching(A, matching.row_mate, matching.col_mate)
        assert matching.cardinality == pairs
        flags = left.finished if form is A else left.finished[::-1]
        for found, core in zip(flags, (rows, cols), strict=True):
            assert np.array_equal(found, ~core)


def scrambled_chains(n, seed):
    """A path, a triangle with few entries, and a tree: one pair forces the next, all the way."""
    rng = np.random.default_rng(seed)
    v = np.arange(n)
    path = sp.coo_array((np.ones(2 * n - 1), (np.r_[v, v[1:]], np.r_[v, v[:-1]])))
    above = np.minimum(rng.integers(v, n), v + 50), np.minimum(rng.integers(v, n), v + 9)
    triangle = sp.coo_array((np.ones(3 * n), (np.r_[v, v, v], np.r_[v, *above])))
    parent = rng.integers(0, np.maximum(v[1:], 1))
    tree = sp.coo_array((np.ones(2 * n - 2), (np.r_[v[1:], parent], np.r_[parent, v[1:]])))
    A = sp.block_diag([path, triangle, tree], format="csr")
    return sp.csr_array(A[rng.permutation(3 * n)][:, rng.permutation(3 * n)])


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_one_pair_that_forces_all_is_shared(form):
    """A tree from its root: the worker that comes to it has all, and gives it away as it grows."""
    n, children = 40_000, 30
    v = np.arange(n)
    entries = np.ones(2 * n - 1), (np.r_[v, (v[1:] - 1) // children], np.r_[v, v[1:]])
    p, q = (np.random.default_rng(seed).permutation(n) for seed in (3, 5))
    A = sp.csr_array(entries)[p][:, q].asformat(form)
    for workers in (1, *few(2, 3, 8) * 3):
        _, matching, _, left = start(A, workers, degree_one_only=True)
        oracle.assert_matching(A, matching.row_mate, matching.col_mate)
        assert matching.cardinality == n
        assert left.finished[0].all()
        assert left.finished[1].all()
        blocks = sm.block_triangular_form(A, workers=workers)
        assert blocks.n_blocks == n
        assert sm.is_block_form(A, blocks)


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_what_forces_a_pair_was_forced_before(workers, seed):
    """All other columns of a row, or rows of a column, belong to pairs earlier in the list."""
    A = scrambled_chains(20_000, seed)
    for form in (A, A.tocsc()):
        graph, matching, _, left = start(form, workers, degree_one_only=True)
        rows, by_row, by_col = left.forced
        assert by_row + by_col == matching.cardinality > 0
        lists = form if form is A else A.T.tocsr()
        mate = graph.orient(matching.row_mate, matching.col_mate)
        for matrix, forced, partners in (
            (lists, rows[:by_row], mate[0][rows[:by_row]]),
            (lists.T.tocsr(), mate[0][rows[::-1][:by_col]], rows[::-1][:by_col]),
        ):
            place = np.full(matrix.shape[1], np.iinfo(int).max)
            place[partners] = np.arange(partners.size)
            assert np.unique(forced).size == forced.size
            entries = matrix[forced].tocoo()
            assert (place[entries.col] <= entries.row).all()


@pytest.mark.parametrize("couplings", [0, 3000, 12_000])
def test_all_small_patterns_with_picks(couplings):
    """The matching is maximal, and maximum once the core has been searched."""
    A = side_by_side(list(small_patterns()), couplings, seed=couplings)
    rank = oracle.rank(A)
    for workers in (1, *few(2, 3, 8) * 4):
        graph, matching, run, left = start(A, workers)
        oracle.assert_maximal(A, matching.row_mate, matching.col_mate)
        done, _ = run_engine("single_source_bfs", graph, matching, run, left)
        assert done.cardinality == rank


def test_vertices_with_numbers_of_more_than_three_bytes():
    """Words have eight bytes then."""
    A = side_by_side(list(small_patterns()), 3000, seed=1)
    pairs, rows, _ = degree_one_by_hand(A)
    far = ((1 << 24) - 1 - 500 * A.indices, A.indptr)
    A = sp.csr_array((A.data, *far), shape=(A.shape[0], 1 << 24))
    for workers in few(1, 8):
        _, matching, _, left = start(A, workers, degree_one_only=True)
        assert matching.cardinality == pairs
        assert np.array_equal(left.finished[0], ~rows)


@given(
    matrices() | larger(),
    st.sampled_from(WORKERS),
    st.sampled_from(["single_source_bfs", "pothen_fan"]),
    st.booleans(),
)
def test_the_core_is_enough_for_a_maximum_matching(A, workers, engine, exchanged):
    """A search that never visits finished vertices still finds a maximum matching."""
    graph, matching, run, left = start(A, workers)
    sides = "exchanged" if exchanged else "both"
    done, _ = run_engine(engine, graph, matching, run, left, sides=sides)
    assert done.cardinality == oracle.rank(A)


@given(matrices() | larger(), st.sampled_from(WORKERS), st.integers(0, 2**32 - 1))
def test_a_warm_start_stays_matched(A, workers, seed):
    """Some pairs of a matching are given: their ends are no neighbours of any other vertex."""
    row_mate = sm.maximum_transversal(A).row_mate.copy()
    row_mate[np.random.default_rng(seed).random(row_mate.size) < 0.5] = -1
    m = sm.maximum_transversal(A, **ALONE, initial=row_mate, workers=workers)
    given_rows = row_mate >= 0
    assert np.array_equal(m.row_mate[given_rows], row_mate[given_rows])
    assert sm.is_maximal(A, m)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_warm_start_as_by_hand(workers):
    """What is given is as if its rows and columns were not there."""
    A = side_by_side(list(small_patterns()), 3000, seed=2)
    row_mate = sm.maximum_transversal(A).row_mate.copy()
    row_mate[np.random.default_rng(3).random(row_mate.size) < 0.8] = -1
    free_col = np.ones(A.shape[1], bool)
    free_col[row_mate[row_mate >= 0]] = False
    i, j = oracle.entries(A)
    left = (row_mate[i] < 0) & free_col[j]
    rest = sp.coo_array((np.ones(left.sum(), np.int8), (i[left], j[left])), shape=A.shape)
    pairs, _, _ = degree_one_by_hand(rest)
    m = sm.maximum_transversal(A, **FORCED, initial=row_mate, workers=workers)
    assert m.cardinality == np.count_nonzero(row_mate >= 0) + pairs > pairs > 0


@pytest.mark.large
@pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="this system has no timer that interrupts"
)
@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.library_independent
def test_an_interrupted_start_leaves_a_valid_matching(workers):
    """The pairs made until then are written on both sides."""
    graph, stopped = as_bipartite(random_matrix(1_000_000, 1_000_000, 4, seed=3)), 0
    run = Run(workers)
    given = HostByProducts(transposed=transpose(graph, run))
    for seconds in (0.03, 0.05, 0.07, 0.09):
        matching = Matching.start(graph)
        with alarms(signal.default_int_handler, seconds):
            try:
                run_engine("karp_sipser", graph, matching, run, given)
            except KeyboardInterrupt:
                stopped += 1
        rows = np.flatnonzero(matching.row_mate >= 0)
        assert np.array_equal(matching.col_mate[matching.row_mate[rows]], rows)
        assert np.count_nonzero(matching.col_mate >= 0) == rows.size
    assert stopped


def in_plain_python(A, row_mate, col_mate):
    """Match rows by ascending degree, each to its first free column of least degree.

    For degrees that fit in a byte.
    """
    degree = np.bincount(A.indices[: A.indptr[-1]], minlength=A.shape[1])
    for i in np.argsort(np.diff(A.indptr), kind="stable"):
        free = [j for j in A.indices[A.indptr[i] : A.indptr[i + 1]] if col_mate[j] == -1]
        if row_mate[i] == -1 and free:
            row_mate[i] = min(free, key=lambda j: (degree[j], j))
            col_mate[row_mate[i]] = i
    return row_mate


@given(matrices(forms=("csr",)) | larger(forms=("csr",)))
def test_minimum_degree_of_random_matrices(A):
    A.sort_indices()
    initial = partial_matching(A, np.random.default_rng(0))
    found = sm.maximum_transversal(A, init="min_degree", method="none", initial=initial)
    assert found.row_mate.tolist() == in_plain_python(A, *initial).tolist()


def matched(A):
    """The mates of the rows after this start, from the empty matching."""
    return sm.maximum_transversal(A, init="min_degree", method="none").row_mate.tolist()


def test_long_rows():
    """Columns of degree one and two stand anywhere in the lists, which are scanned in parts."""
    rng = np.random.default_rng(0)
    n = 1000
    A = sp.random_array((60, n), density=0.2, rng=rng, format="lil")
    few = rng.choice(n, 160, replace=False)
    A[:, few] = 0
    A[rng.integers(60, size=160), few] = 1
    A[rng.integers(60, size=80), few[:80]] = 1
    A = sp.csr_array(A)
    assert matched(A) == in_plain_python(A, np.full(60, -1), np.full(n, -1)).tolist()


@pytest.mark.parametrize("degree", [253, 254, 255, 256, 257, 300, 512])
class TestDegreesBeyondAByte:
    def test_a_full_column_is_not_taken_for_one_of_low_degree(self, degree):
        """Row 0 is the shortest; its column 1 has two entries, its column 0 one in every row."""
        A = np.zeros((degree, degree + 3))
        A[:, 0] = A[:2, 1] = 1
        for i in range(1, degree):
            A[i, [i + 1, i + 2, i + 3]] = 1
        assert matched(sp.csr_array(A))[0] == 1

    def test_a_full_column_is_not_taken_for_a_matched_one(self, degree):
        assert matched(sp.csr_array(np.ones((degree, 1)))).count(0) == 1

    def test_a_full_row_comes_after_a_short_one(self, degree):
        """Both want column 0, which has the fewest entries of all."""
        A = np.ones((4, degree))
        A[1, 2:] = A[2:, 0] = 0
        assert matched(sp.csr_array(A))[1] == 0
