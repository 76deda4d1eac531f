"""The choice that `auto` makes: which steps it takes, why, and what one leaves to the next."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import sparsematch as sm
from calls import certify, grid, random_matrix, scrambled
from sparsematch._engines.cpu.core.run_engine import run_engine
from sparsematch._engines.cpu.matching import auto, searches
from sparsematch._engines.cpu.ordering import features
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from sparsematch.demo import build_circuit
from strategies import larger, matrices


def names(info):
    """The engines that were run, in order."""
    return [step.engine for step in info.steps]


def hidden_triangle(n, seed):
    """The pattern of a triangular matrix with a few long rows, rows and columns scrambled."""
    lower = sp.tril(random_matrix(n, n, 5, seed), -1) + sp.eye_array(n)
    return scrambled(sp.csr_array(lower), seed + 1)


@pytest.mark.parametrize(
    "A",
    [
        sp.csr_array(grid(150)),
        scrambled(grid(150), 1),
        random_matrix(30_000, 30_000, 3, 2),
        random_matrix(40_000, 20_000, 3, 3),
        random_matrix(20_000, 26_000, 2, 4),
        sp.csr_array(np.ones((3, 3))),
    ],
    ids=["mesh", "scrambled mesh", "random", "tall", "forest", "small"],
)
def test_every_step_has_a_reason_and_one_worker_is_deterministic(A):
    m, info = sm.maximum_transversal(A, workers=1, return_info=True)
    certify(A, m)
    assert all(step.reason for step in info.steps)
    again, other = sm.maximum_transversal(A, workers=1, return_info=True)
    assert np.array_equal(m.row_mate, again.row_mate)
    assert [(s.engine, s.edges) for s in info.steps] == [(s.engine, s.edges) for s in other.steps]


def test_a_step_that_the_user_chose_needs_no_reason():
    _, info = sm.maximum_transversal(
        grid(20)[:, 1:], method="hopcroft_karp", init="cheap", return_info=True
    )
    assert [step.reason for step in info.steps] == ["", ""]


def test_degrees_come_first_where_the_order_of_the_rows_says_nothing():
    """Neither a mesh nor well numbered, nor sorted by degree; the others begin cheaply."""
    A = random_matrix(30_000, 30_000, 8, 7)
    ascending = sp.csr_array(A[np.argsort(np.diff(A.indptr), kind="stable")])
    for B, by_degrees in (
        (A, True),
        (ascending, False),
        (sp.csr_array(grid(150)[:, 1:]), False),
        (scrambled(grid(150), 1), False),
        (random_matrix(30_000, 90_000, 5, 7), False),
    ):
        m, info = sm.maximum_transversal(B, return_info=True)
        certify(B, m)
        assert ("min_degree" in names(info)) == by_degrees


@pytest.mark.parametrize("by_columns", [False, True])
def test_a_part_of_the_rows_tells_whether_their_order_helps(by_columns):
    """Of a triangular matrix whose rows alone are scrambled, the first entries are the matching."""
    n = 20_000
    upper = sp.csr_array(sp.triu(random_matrix(n, n, 3, 31), 1) + sp.eye_array(n))
    A = sp.csr_array(upper[np.random.default_rng(32).permutation(n)])
    A = sp.csc_array(A.T) if by_columns else A
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert names(info) == ["cheap", "cheap"]
    assert info.steps[0].cardinality == n // auto.HEAD


def test_the_few_rows_that_a_start_leaves_are_searched_for():
    """A circuit, whose degrees are those of a scrambled mesh; stored by rows and by columns."""
    A = sp.csr_array(build_circuit(30_000).matrix)
    for B in (A, A.tocsc(), A.T.tocsr()):
        m, info = sm.maximum_transversal(B, workers=1, return_info=True)
        certify(B, m)
        assert 0 < A.shape[0] - max(s.cardinality for s in info.steps if s.engine == "cheap") < 30
        assert sum(step.edges for step in info.steps if step.engine != "cheap") < A.nnz / 100


def test_searches_for_few_rows_soon_end_where_paths_are_long():
    """The only free row of a long path, whose numbering says nothing."""
    n = 60_000
    path = sp.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, -1], format="csr")
    A = sp.csr_array(path[np.random.default_rng(33).permutation(n)])
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert m.is_perfect
    searched = next(step for step in info.steps if step.engine == "single_source_bfs")
    assert searched.exhausted
    assert searched.edges < 2 * searches.NEAR_PROBE * A.nnz + 2


def saddle_point(n, seed):
    """A diagonal block, and half as many constraints of three variables each, which come last."""
    constraints = random_matrix(n // 2, n, 3, seed)
    return sp.csr_array(sp.block_array([[sp.eye_array(n), constraints.T], [constraints, None]]))


def test_many_short_paths_are_found_in_a_phase():
    """The first rows take the columns of the last ones, and have others of their own."""
    A = saddle_point(60_000, 72)
    m, info = sm.maximum_transversal(A, workers=1, return_info=True)
    certify(A, m)
    assert names(info)[-2:] == ["single_source_bfs", "hopcroft_karp"]


def test_a_well_numbered_forest_may_begin_anew():
    """Of a path with a leaf at each vertex, first entries match half, least degrees all."""
    back = sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(30_000, 30_000))
    A = sp.csr_array(sp.block_array([[back - sp.eye_array(30_000), sp.eye_array(30_000)]]))
    A = sp.csr_array(sp.vstack([A, sp.eye_array(30_000, 60_000)]))
    m, info = sm.maximum_transversal(A, workers=1, return_info=True)
    certify(A, m)
    assert names(info) == ["cheap", "single_source_bfs", "min_degree"]


def test_phases_that_will_not_suffice_end_early():
    """A projection ends Hopcroft-Karp before its allowance is used up, as phases become longer."""
    A = random_matrix(100_000, 100_000, 4, 73)
    graph = as_bipartite(A)
    matching, run = Matching.start(graph), Run()
    course = auto.Course(graph, matching, run)
    course.start("cheap", "first")
    assert not course.search("hopcroft_karp", 4.0, "given up")
    assert run.steps[-1].edges < 3.5 * A.nnz


@pytest.mark.parametrize("random", [False, True])
def test_a_cheap_start_that_gives_up_says_so(random):
    """Rows that have no entries cost no patience."""
    A = sp.vstack([sp.csr_array((500, 20)), np.ones((4000, 20))], format="csr")
    graph = as_bipartite(A)
    for patience, gives_up in ((0.2, True), (1.0, False)):
        matching, run = Matching.start(graph), Run()
        options = {"patience": patience, "random": random}
        step = run_engine("cheap", graph, matching, run, options=options)
        assert (step.exhausted, step.cardinality) == (gives_up, 20)
        assert sm.is_matching(A, matching)


def test_degrees_begin_from_the_empty_matching():
    """What the cheap start of a part has matched is not in it."""
    for mean, init in ((8, "min_degree"), (3, "karp_sipser")):
        A = random_matrix(30_000, 30_000, mean, 33)
        m, info = sm.maximum_transversal(A, return_info=True)
        certify(A, m)
        alone = sm.maximum_transversal(A, method="none", init=init)
        assert names(info)[:2] == ["cheap", init]
        assert info.steps[1].cardinality == alone.cardinality


def test_another_initialisation_never_leaves_a_smaller_matching(monkeypatch):
    """It starts from the empty matching, and is adopted if it is larger."""
    monkeypatch.setattr(auto, "START_AGAIN_SHARE", 0.0)
    upper = sp.csr_array(sp.triu(random_matrix(20_000, 20_000, 3, 5)))
    for A in (scrambled(upper, 6), random_matrix(20_000, 20_000, 5, 7)):
        graph = as_bipartite(A)
        matching, run = Matching.start(graph), Run()
        course = auto.Course(graph, matching, run)
        course.start("cheap", "first")
        course.search("single_source_bfs", 0.2, "given up")
        before = course.rank
        course.start_again()
        assert run.steps[-1].engine == "min_degree"
        assert matching.cardinality == course.rank >= before


def test_a_search_that_will_not_suffice_ends_early(monkeypatch):
    """On a random graph the projection ends the probe long before its allowance is used up."""
    monkeypatch.setattr(features, "PEELING_SHARE", 1.0)
    A = random_matrix(100_000, 100_000, 4, 8)
    _, info = sm.maximum_transversal(A, workers=1, return_info=True)
    probe = info.steps[2]
    assert (probe.engine, probe.exhausted) == ("single_source_bfs", True)
    assert probe.edges < 0.1 * searches.SEARCH * A.nnz


def test_searches_that_failed_are_not_repeated():
    """Roots that one search has settled are no roots of the next one on the same matching."""
    A = random_matrix(60_000, 50_000, 2.6, 9)
    graph = as_bipartite(A)
    matching, run = Matching.start(graph), Run()
    course = auto.Course(graph, matching, run)
    course.start("cheap", "first")
    assert not course.search("single_source_bfs", 0.5, "given up")
    first = run.steps[-1]
    assert course.search("single_source_bfs", 0, "to the end")
    second = run.steps[-1]
    roots = np.count_nonzero(np.diff(A.indptr)) - run.steps[0].cardinality
    assert first.phases > first.augmentations
    assert second.phases == roots - first.phases


@pytest.mark.parametrize(
    ("A", "solved"),
    [
        (hidden_triangle(20_000, 11), True),
        (random_matrix(40_000, 40_000, 8, 12), False),
        (scrambled(grid(150), 12), False),
    ],
    ids=["triangle", "random", "mesh"],
)
def test_peeling_is_adopted_only_where_it_solves_much(A, solved):
    graph = as_bipartite(A)
    matching, run = Matching.start(graph), Run()
    course = auto.Course(graph, matching, run)
    course.start("cheap", "first")
    before = matching.row_mate.copy()
    assert course.peel() == solved
    if solved:
        assert (matching.row_mate >= 0).all()
    else:
        assert np.array_equal(matching.row_mate, before)
        assert not any(flags.any() for flags in course.settled)


@pytest.mark.parametrize("by_columns", [False, True])
def test_a_warm_start_on_a_scrambled_mesh(by_columns):
    """Augmenting paths keep every matched row matched, so the rows given are in the result."""
    A = scrambled(grid(150), 21)
    A = A[:, np.diff(sp.csc_array(A).indptr) > 0]
    row_mate = sm.maximum_transversal(A).row_mate.copy()
    row_mate[np.random.default_rng(22).random(row_mate.size) < 0.5] = -1
    given = sm.maximum_transversal(A, method="none", init="none", initial=row_mate)
    m, info = sm.maximum_transversal(
        A.tocsc() if by_columns else A, initial=given, return_info=True
    )
    certify(A, m)
    assert names(info)[:2] == ["cheap", "push_relabel"]
    assert (m.row_mate[given.row_mate >= 0] >= 0).all()
    assert (m.col_mate[given.col_mate >= 0] >= 0).all()


@pytest.mark.parametrize("shape", [(60_000, 20_000), (20_000, 60_000)])
def test_a_search_starts_from_the_side_with_far_fewer_free_vertices(shape):
    """With the matrix stored by rows or by columns."""
    A = random_matrix(*shape, 240_000 / shape[0], 17)
    for B in (A, sp.csc_array(A)):
        m, info = sm.maximum_transversal(B, return_info=True)
        certify(B, m)
        searches = [step for step in info.steps if step.engine == "single_source_bfs"]
        assert searches[0].phases <= 20_000 - info.steps[0].cardinality


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_the_core_that_karp_sipser_leaves_is_searched(workers):
    """The pairs that it was forced to make are left for the block form."""
    A = random_matrix(60_000, 60_000, 3, 23)
    m, info = sm.maximum_transversal(A, workers=workers, return_info=True)
    certify(A, m)
    assert names(info)[:3] == ["cheap", "karp_sipser", "single_source_bfs"]
    B = sm.block_triangular_form(A, workers=workers)
    assert B.n_blocks == sm.block_triangular_form(A).n_blocks
    graph, run = as_bipartite(A), Run(workers)
    auto.improve(graph, Matching.start(graph), run)
    assert run.forced is not None


@pytest.mark.parametrize("picks", [True, False])
def test_karp_sipser_after_searches_that_go_everywhere(picks, monkeypatch):
    """With its picks where much is free, else to see whether degree one leaves a small core."""
    monkeypatch.setattr(features.Features, "may_peel", False)
    monkeypatch.setattr(auto, "PICKS_SHARE", 0.01 if picks else 1.0)
    A = random_matrix(60_000, 60_000, 3, 25)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    after = info.steps[names(info).index("karp_sipser") :]
    assert after[1].engine == ("single_source_bfs" if picks else "min_degree")


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_a_scrambled_mesh_is_pushed_through(workers):
    A = scrambled(grid(150), 24)
    m, info = sm.maximum_transversal(A, workers=workers, return_info=True)
    certify(A, m)
    assert names(info)[:3] == ["cheap", "cheap", "push_relabel"]  # first a third of the rows
    assert names(info)[3:] in ([], ["single_source_bfs"])


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_a_long_ladder(workers):
    """Many narrow levels: its rank is that of any other engine."""
    A = scrambled(grid(8000, 3), 4)
    m = sm.maximum_transversal(A, workers=workers)
    assert m.cardinality == sm.structural_rank(A, method="hopcroft_karp")
    assert sm.is_maximum(A, m)


def push_without_transpose(A, **settings):
    """The step, and whether the matching is maximum."""
    graph = as_bipartite(A)
    matching, run = Matching.start(graph), Run()
    run_engine("cheap", graph, matching, run)
    step = run_engine("push_relabel", graph, matching, run, sides="one", **settings)
    assert run.transposes_built == 0
    return step, step.cardinality == sm.structural_rank(A, method="hopcroft_karp")


@given(matrices() | larger())
def test_labels_that_rise_by_pushes_alone_prove_what_they_say(A):
    """It may give up; where it does not, the matching is maximum."""
    step, maximum = push_without_transpose(A)
    assert step.exhausted or maximum


def test_pushing_without_a_transpose_ends():
    """On a mesh near its goal; soon where it matches nothing, or its allowance is used up."""
    mesh = scrambled(grid(150), 26)
    step, _ = push_without_transpose(mesh)
    assert sm.structural_rank(mesh) - step.cardinality <= searches.LAST_ROWS
    step, maximum = push_without_transpose(mesh, options={"k": 1e-9})
    assert step.exhausted
    assert not maximum
    step, _ = push_without_transpose(mesh, edge_limit=1)
    assert step.exhausted
    assert step.edges < mesh.nnz


def test_a_failed_peeling_keeps_what_was_forced():
    graph = as_bipartite(scrambled(grid(150), 25))
    run, matching = Run(forced="what the initialisation has left"), Matching.start(graph)
    course = auto.Course(graph, matching, run)
    course.start("cheap", "first")
    assert not course.peel()
    assert run.forced == "what the initialisation has left"
