"""The contract that every registered engine keeps, whatever its options."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracle
import sparsematch as sm
from calls import certify, frozen, grid, random_matrix, scrambled, solve, variants
from gallery import GALLERY
from sparsematch._api.cores import usable_cores
from strategies import larger, matrices, partial_matching

pytestmark = [pytest.mark.every_backend, pytest.mark.tsan, pytest.mark.wheel]


def check(A, engine, options, m):
    """Valid; maximum from an exact engine, else maximal unless an option stops it early."""
    if engine.kind == "exact":
        oracle.assert_maximum(A, m.row_mate, m.col_mate)
    elif options.get("degree_one_only") or options.get("patience", 1) < 1:
        oracle.assert_matching(A, m.row_mate, m.col_mate)
    else:
        oracle.assert_maximal(A, m.row_mate, m.col_mate)


def test_gallery(engine, variant, matrix):
    for workers in (1, 2, 4):
        m, _ = solve(matrix, engine, variant, workers=workers)
        check(matrix, engine, variant, m)


def test_random_matrices(engine, variant):
    @given(matrices() | larger(), st.sampled_from([1, 2, 4]))
    def holds(A, workers):
        m, _ = solve(A, engine, variant, workers=workers)
        check(A, engine, variant, m)
        index_type = (A.row if A.format == "coo" else A.indices).dtype
        assert m.row_mate.dtype == m.col_mate.dtype == index_type

    holds()


def test_against_brute_force(exact):
    @given(matrices(max_side=6, max_entries=18))
    def holds(A):
        assert solve(A, exact)[0].cardinality == oracle.rank_by_brute_force(A)

    holds()


def test_failures_in_a_row(exact):
    """Searches that fail, with augmenting paths in their midst: rows that share too few columns."""
    rng = np.random.default_rng(5)
    for n in (8, 40, 200, 600):
        lucky = np.flatnonzero(rng.random(n) < 0.2)  # they have two columns more, out of as many
        others = n // 20 + 1
        cols = np.r_[
            rng.integers(0, others, 2 * n), others + rng.integers(0, n // 5, 2 * lucky.size)
        ]
        rows = np.r_[np.tile(np.arange(n), 2), np.tile(lucky, 2)]
        A = sp.csr_array((np.ones(rows.size), (rows, cols)), (n, n))
        for B in (A, A[::-1], scrambled(A, n)):
            m, _ = solve(B, exact)
            oracle.assert_maximum(B, m.row_mate, m.col_mate)


def test_warm_start(engine, variant):
    """The result is never smaller than what it started from, which is left alone."""

    @given(matrices() | larger(), st.integers(1, 2**32), st.floats(0, 1), st.sampled_from([1, 3]))
    def holds(A, seed, share, workers):
        start = partial_matching(A, np.random.default_rng(seed), share)
        before = start[0].copy(), start[1].copy()
        m, _ = solve(A, engine, variant, initial=start, workers=workers)
        check(A, engine, variant, m)
        assert m.cardinality >= np.count_nonzero(before[0] != -1)
        assert np.array_equal(start[0], before[0])
        assert np.array_equal(start[1], before[1])

    holds()


def test_a_maximum_matching_is_left_as_it_is(exact, matrix):
    first, _ = solve(matrix, exact)
    again, info = solve(matrix, exact, initial=first)
    assert np.array_equal(first.row_mate, again.row_mate)
    assert np.array_equal(first.col_mate, again.col_mate)
    assert sum(step.augmentations for step in info.steps) == 0


def test_input_is_only_read(engine, variant):
    """Read-only arrays are accepted, and a writable matrix has the same bytes afterwards."""
    for make, form in product(GALLERY.values(), [sp.csr_array, sp.csc_array]):
        A = form(make())
        solve(frozen(A), engine, variant, workers=2)
        before = [x.tobytes() for x in (A.data, A.indices, A.indptr)]
        solve(A, engine, variant, workers=2)
        assert [x.tobytes() for x in (A.data, A.indices, A.indptr)] == before


def test_one_worker_gives_one_answer(engine, variant):
    if engine.backend == "cupy":
        pytest.skip("on a GPU, which row gets a column depends on which thread comes first")
    A = random_matrix(300, 280, 3, seed=17)
    first, second = (solve(A, engine, variant, workers=1)[0] for _ in range(2))
    assert np.array_equal(first.row_mate, second.row_mate)
    first, second = (solve(A, engine, variant, workers=1, rng=19)[0] for _ in range(2))
    assert np.array_equal(first.row_mate, second.row_mate)


def test_every_step_is_listed(engine, variant):
    """The engine auto has no step of its own: it lists those of the engines it runs."""
    m, info = solve(random_matrix(400, 400, 3, seed=23), engine, variant)
    names = [step.engine for step in info.steps]
    known = {e.name for e in sm.engines(backend=engine.backend)}
    assert names == [engine.name] if engine.name != "auto" else set(names) <= known
    allowed = usable_cores() if engine.backend == "cupy" else 1  # where the host takes over
    assert (info.cardinality, info.workers) == (m.cardinality, allowed)
    assert all(step.seconds > 0 for step in info.steps)
    assert info.seconds == pytest.approx(sum(step.seconds for step in info.steps))


def test_an_engine_reports_its_work(engine, variant):
    if engine.backend == "cupy":
        pytest.skip("kernels do not count all that the host's engines do")
    if engine.name == "auto":
        pytest.skip("lists the steps of other engines")
    m, info = solve(random_matrix(400, 400, 3, seed=23), engine, variant)
    (step,) = info.steps
    wanted = f"{engine.name} must report this, as registry.Engine says: "
    assert step.cardinality == m.cardinality, wanted + "cardinality, the pairs it leaves"
    assert step.edges > 0, wanted + "edges, the entries it reads"
    if engine.kind == "heuristic":
        return
    assert step.phases >= 1, wanted + "phases, its rounds or searches"
    assert step.augmentations == m.cardinality, wanted + "augmentations, one for each pair it adds"
    assert step.levels == 0 or step.levels >= step.phases, wanted + "one level in a phase at least"
    odd = step.path_edges >= step.augmentations and (step.path_edges - step.augmentations) % 2 == 0
    no_paths = engine.name == "push_relabel" and step.path_edges == 0
    assert odd or no_paths, wanted + "path_edges, the sum of the paths' lengths, each of them odd"


def test_transposes_are_built_when_needed_only(engine):
    A = random_matrix(50, 60, 3, seed=29)
    _, info = solve(A, engine)
    expected = {"unused": (0,), "optional": (0, 1), "required": (1,)}
    assert info.transposes_built in expected[engine.transpose]


# Large enough that a team of threads is given work, and meets itself: many rows after few columns,
# hubs, long paths.
BUSY = {
    "random": lambda: random_matrix(40_000, 38_000, 3, seed=211),
    "grid": lambda: scrambled(grid(200), seed=223),
    "tall": lambda: random_matrix(60_000, 700, 2, seed=227),
    "wide": lambda: random_matrix(3_000, 50_000, 12, seed=229),
    "hub": lambda: (
        random_matrix(20_000, 20_000, 3, seed=233)
        + random_matrix(4, 20_000, 5_000, seed=239).T @ FEW
    ),
}
FEW = sp.csr_array((np.ones(4, np.int8), (np.arange(4), [5, 77, 8_000, 19_999])), shape=(4, 20_000))


@pytest.mark.parametrize("case", BUSY)
@pytest.mark.parametrize("workers", [pytest.param([2, 3], marks=pytest.mark.large), [4]])
def test_a_team_at_work(case, workers):
    """Every engine that uses threads, with all its options; on four of them by sanitizers, too."""
    A = BUSY[case]()
    rank = sm.structural_rank(A)
    for engine in [e for e in sm.engines() if e.multithreaded and e.kind != "approximate"]:
        for options, n in product(variants(engine), workers):
            m, _ = solve(A, engine, options, workers=n)
            if engine.kind == "exact":
                certify(A, m, rank)
            else:
                check(A, engine, options, m)


def statistics(A, engine, options):
    m, info = solve(A, engine, options)
    step = info.steps[-1]
    return m.row_mate.tolist(), step.edges, step.phases, step.levels, step.path_edges


def test_every_option_makes_a_difference(engine, variant):
    """Each option, away from its default, changes what the engine does on one matrix at least."""
    trials = [
        scrambled(grid(30), seed=31),
        random_matrix(3000, 3000, 2.6, seed=37),
        random_matrix(2000, 500, 6, seed=41),
        random_matrix(400, 400, 40, seed=43),
    ]
    if engine.backend == "cupy":
        pytest.skip("two runs on a GPU differ anyway")
    # more patience than can be used up
    if not variant or variant.get("patience", 0) > 1:
        return
    assert any(statistics(A, engine, variant) != statistics(A, engine, {}) for A in trials)


def test_a_heuristic_finds_most_of_the_maximum(engine):
    """Any maximal matching has half of the pairs; on sparse random matrices these have more."""
    if engine.kind == "exact":
        pytest.skip("finds all")
    A = random_matrix(500, 500, 0.9, seed=53)
    assert solve(A, engine)[0].cardinality >= 0.9 * oracle.rank(A)
