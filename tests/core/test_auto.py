"""The choice that `auto` makes: which stages run, why, how far, and what one leaves to the next."""

import dataclasses
import pathlib
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from scipy.spatial import Delaunay

import sparsematch as sm
from calls import certified, certify, grid, names, random_matrix, scrambled, shifted_path
from circuit import build_circuit
from sparsematch._engines.cpu.core.run_engine import Forced, HostByProducts, run_engine
from sparsematch._engines.cpu.matching import auto
from sparsematch._engines.registry import Matched, Run
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import larger, matrices

pytestmark = pytest.mark.tsan

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "algorithms" / "auto.md"
BEGIN, END = "<!-- stages: begin -->\n", "<!-- stages: end -->\n"
TELL = "Tell whether "


def run_stages(A, *engines, policy=auto.POLICY, before=None):
    """The progress after these engines, each as the first of the stages that names it says."""
    graph = as_bipartite(A)
    progress = auto.Progress(graph, Matching.start(graph), Run(for_blocks=True), policy, before)
    for engine in engines:
        progress.run_stage(next(s for s in auto.STAGES if (s.engine, s.starts) == engine))
    return progress


def after_cheap(A, workers):
    graph, run = as_bipartite(A), Run(workers)
    matching = Matching.start(graph)
    run_engine("cheap", graph, matching, run)
    return graph, matching, run


def hidden_triangle(n, seed):
    """The pattern of a triangular matrix with a few long rows, rows and columns scrambled."""
    lower = sp.tril(random_matrix(n, n, 5, seed), -1) + sp.eye_array(n)
    return scrambled(sp.csr_array(lower), seed + 1)


def render(stages):
    """Return the table of the page."""
    lines = ["| engine | when | how far | why |", "|---|---|---|---|"]
    for s in stages:
        when = s.guard.__doc__.partition("\n")[0].rstrip(".").removeprefix(TELL)
        when += "; no matching was given" * (s.takes < Matched.GIVEN)
        page = (PAGE.parent / f"{s.engine}.md").exists()
        engine = f"[`{s.engine}`]({s.engine}.md)" if page else s.engine
        if s.restart:
            engine += ", from empty"
        far = f"`{s.allowance}`: {getattr(auto.POLICY, s.allowance):.4g}" if s.allowance else ""
        lines.append(f"| {engine} | {when} | {far} | {s.reason} |")
    return "\n".join(lines) + "\n"


def tables():
    """Return the page's table, and a line for small matrices."""
    policy = auto.POLICY
    small = "diagonal, cheap, single_source_bfs or min_degree"  # as `small_stages.hpp` says
    return (
        f"\n{render(auto.STAGES)}\nOf fewer than {policy.short:,} entries: {small}, pothen_fan,\n"
        "push_relabel; min_degree where degrees vary and the order is no help. From "
        f"{policy.small:,}\non the table instead, where chains lead through what these leave.\n\n"
    )


def test_the_page_has_the_tables_of_the_code():
    text = PAGE.read_text(encoding="utf-8")
    assert BEGIN in text, f"no markers: python {pathlib.Path(__file__).name} prints the tables"
    assert text.split(BEGIN)[1].split(END)[0] == tables()


def test_the_choice_has_few_constants():
    fields = dataclasses.fields(auto.Policy)
    assert len(fields) <= 20
    used = {s.allowance for s in auto.STAGES} - {""}
    assert used <= {f.name for f in fields}


#: Passes that all stages but the last may take together with one worker, as the page says: where
#: there is no mesh 14 are allowed to searches and phases; those that fail scan each entry once in
#: each of four stages; starts take 14, Karp-Sipser four each.
PASSES = 40


BOUNDED = {
    "mesh": grid(150)[:, ::-1],
    "random": random_matrix(30_000, 30_000, 6, 41),
    "tall": random_matrix(30_000, 24_000, 3, 42),
    "path": sp.eye_array(40_000, k=1) + sp.eye_array(40_000, k=-1),
}


@pytest.mark.parametrize("order", ["natural", "scrambled"])
@pytest.mark.parametrize("A", BOUNDED.values(), ids=BOUNDED)
def test_what_is_lost_is_bounded(A, order):
    A = scrambled(A, 43) if order == "scrambled" else sp.csr_array(A)
    _, info = sm.maximum_transversal(A, workers=1, return_info=True)
    last = info.steps[-1]
    before = sum(s.edges for s in info.steps if s is not last or s.engine != "push_relabel")
    assert before <= PASSES * A.nnz
    assert all(step.reason for step in info.steps)
    assert f" {PASSES} passes" in PAGE.read_text(encoding="utf-8")


def test_a_call_may_have_a_policy_of_its_own():
    """With another border between small and large, the same matrix takes other stages."""
    A, ran = random_matrix(4000, 4000, 3, 44), []
    for small in (0, A.nnz + 1):
        graph, run = as_bipartite(A), Run(detailed=True)
        matching = Matching.start(graph)
        policy = dataclasses.replace(auto.POLICY, small=small, short=small)
        auto.improve(graph, matching, run, policy=policy)
        certify(A, matching)
        ran.append(names(run))
    assert ran[0][:2] == ["cheap", "karp_sipser"]
    assert ran[1][:2] == ["cheap", "min_degree"]


@pytest.mark.parametrize("shape", [(90, 90), (70, 90), (90, 70), (120, 100)])
def test_a_small_matrix_starts_again_only_to_match_more(shape):
    """Wherever features do not forbid it: what is kept matches no fewer than `cheap` did."""
    policy = dataclasses.replace(auto.POLICY, by_search=1e9, near=0, even=0)
    again = 0
    for seed in range(100):
        A = random_matrix(*shape, 3, seed)
        graph, run = as_bipartite(A), Run(detailed=True)
        matching = Matching.start(graph)
        auto.improve(graph, matching, run, policy=policy)
        certify(A, matching)
        found = [step.cardinality for step in run.steps]
        assert found == sorted(found)
        again += "min_degree" in names(run)
    assert again > 50


def test_the_order_of_the_rows_decides_the_start():
    """Where it says nothing, degrees do; `cheap` goes first, and finds that out soon."""
    A = random_matrix(30_000, 30_000, 8, 7)
    ascending = sp.csr_array(A[np.argsort(np.diff(A.indptr), kind="stable")])
    for B, starts in (
        (A, ["cheap", "min_degree"]),
        (random_matrix(30_000, 30_000, 3, 33), ["cheap", "karp_sipser"]),
        (random_matrix(30_000, 30_600, 5, 34), ["cheap", "karp_sipser"]),
        (random_matrix(30_000, 36_000, 5, 34), ["cheap", "min_degree"]),  # columns to spare
        (ascending, ["cheap"]),
        (sp.csr_array(grid(150)[:, 1:]), ["cheap"]),
        (scrambled(grid(150), 1), ["cheap", "cheap"]),
        (random_matrix(30_000, 90_000, 5, 7), ["cheap"]),
    ):
        info = certified(B, workers=1)
        ran = [s for s in names(info) if s in ("cheap", "min_degree", "karp_sipser")]
        assert ran[: len(starts)] == starts
        if starts[1:] == ["min_degree"]:
            assert info.steps[0].edges < 0.5 * B.nnz
        if starts[-1] != "cheap":  # from the empty matching
            alone = sm.maximum_transversal(B, method="none", init=starts[-1])
            assert info.steps[1].cardinality == alone.cardinality
    fewer_columns = as_bipartite(random_matrix(60_000, 36_000, 1, 35))
    assert not auto.Features(fewer_columns, auto.POLICY, workers=1).has_surplus


def rows_scrambled(A, seed):
    return sp.csr_array(A)[np.random.default_rng(seed).permutation(A.shape[0])]


def tall_with_a_rare_column(n):
    A = random_matrix(3 * n, n, 4, 33).tolil()
    A[:, n - 1] = 0
    A[5, n - 1] = 1
    return A.tocsr()


UPPER = sp.triu(random_matrix(20_000, 20_000, 3, 31), 1) + sp.eye_array(20_000)
TRIANGLE = rows_scrambled(UPPER, 32)


@pytest.mark.parametrize(
    ("A", "ran"),
    [
        (TRIANGLE, "cheap"),
        (sp.csc_array(TRIANGLE.T), "cheap"),
        (tall_with_a_rare_column(20_000), "cheap single_source_bfs"),
    ],
    ids=["triangle", "triangle by columns", "rare column"],
)
def test_starts_that_leave_little(A, ran):
    """No other start, and no transpose for the few rows that are searched for."""
    info = certified(A, workers=1)
    assert names(info) == ran.split()
    assert info.transposes_built == 0


def test_searches_for_few_rows_soon_end_where_paths_are_long():
    """The only free row of a long path, whose numbering says nothing."""
    n = 60_000
    A = rows_scrambled(sp.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, -1]), 33)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert m.is_perfect
    searched = next(step for step in info.steps if step.engine == "single_source_bfs")
    assert searched.exhausted
    assert searched.edges < 2 * auto.POLICY.brief * A.nnz + 2


CHEAP = "cheap", "cheap"


@pytest.mark.parametrize(
    ("name", "degree", "workers", "allowed", "taken"),
    [
        ("hopcroft_karp", 4, 1, 4, 3.5),
        ("pothen_fan", 3, 1, 4, 3.6),
        ("pothen_fan", 3, 4, 4, 3.6),
        ("single_source_bfs", 4, 1, auto.POLICY.search, 0.1 * auto.POLICY.search),
    ],
)
def test_what_will_not_suffice_ends_early(name, degree, workers, allowed, taken):
    """A projection ends it before the passes that are allowed are used up."""
    A = random_matrix(100_000, 100_000, degree, 73)
    step, _ = run_engine(name, *after_cheap(A, workers), edge_limit=int(allowed * A.nnz))
    assert step.exhausted
    assert step.edges < taken * A.nnz


def test_searches_that_failed_are_not_repeated():
    """Roots that one search has settled are no roots of the next one on the same matching."""
    A = random_matrix(60_000, 50_000, 2.6, 9)
    policy = dataclasses.replace(auto.POLICY, brief=0.5)
    progress = run_stages(A, CHEAP, policy=policy)
    first, second = (
        next(s for s in auto.STAGES if s.guard is g) for g in (auto.few_are_free, auto.may_search)
    )
    roots = np.count_nonzero(np.diff(A.indptr)) - progress.rank
    progress.run_stage(first)
    brief = progress.search
    progress.run_stage(second)
    assert brief.exhausted
    assert brief.phases > brief.augmentations
    assert progress.search.phases <= roots - brief.phases


PEELED = {
    "triangle": hidden_triangle(20_000, 11),
    "random": random_matrix(40_000, 40_000, 8, 12),
    "mesh": scrambled(grid(150), 12),
}


@pytest.mark.parametrize("case", PEELED)
def test_peeling_is_adopted_only_where_it_solves_much(case):
    A, solved = PEELED[case], case == "triangle"
    given = Forced(np.zeros(0, int), 0, 0)
    progress = run_stages(A, CHEAP, before=HostByProducts(forced=given))
    before = progress.matching.row_mate.copy()
    progress.run_stage(next(s for s in auto.STAGES if s.start == "peeling"))
    assert progress.is_maximum == solved
    assert (progress.start == "peeling") == solved
    if solved:
        assert (progress.matching.row_mate >= 0).all()
        forced = progress.by_products.forced
        assert forced.by_row + forced.by_col > 0
    else:
        assert np.array_equal(progress.matching.row_mate, before)
        assert progress.by_products.finished is None
        assert progress.by_products.forced is given


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("workers", [1, 4])
def test_a_warm_start_stays_matched(by_columns, workers):
    """Augmenting paths keep every matched row matched, so the rows given are in the result."""
    for A in (scrambled(grid(150), 21), random_matrix(30_000, 30_000, 6, 23)):
        A = A[:, np.diff(sp.csc_array(A).indptr) > 0]
        row_mate = sm.maximum_transversal(A).row_mate.copy()
        row_mate[np.random.default_rng(22).random(row_mate.size) < 0.5] = -1
        given = sm.maximum_transversal(A, method="none", init="none", initial=row_mate)
        B = A.tocsc() if by_columns else A
        m, info = sm.maximum_transversal(B, initial=given, workers=workers, return_info=True)
        certify(A, m)
        assert names(info)[0] == "cheap"
        assert not {"min_degree", "karp_sipser"} & set(names(info))
        assert (m.row_mate[given.row_mate >= 0] >= 0).all()
        assert (m.col_mate[given.col_mate >= 0] >= 0).all()


def test_the_few_rows_that_a_start_leaves_are_searched_for():
    """A circuit, whose degrees are those of a scrambled mesh; stored by rows and by columns."""
    A = sp.csr_array(build_circuit(30_000).matrix)
    for B in (A, A.tocsc(), A.T.tocsr()):
        info = certified(B, workers=1)
        assert 0 < A.shape[0] - max(s.cardinality for s in info.steps if s.engine == "cheap") < 30
        assert sum(step.edges for step in info.steps if step.engine != "cheap") < A.nnz / 100


def ladder(n, seed):
    """A circuit with a few rails, numbered along it: free rows are mostly a pair from a column."""
    rng, i = np.random.default_rng(seed), np.arange(n)
    before = np.maximum(0, i - np.minimum(rng.pareto(1.0, n) + 1, 400).astype(int))
    pin, rail = rng.integers(0, n, n // 10), n // 7 * rng.integers(0, 5, n // 10)
    own = i[rng.random(n) < 0.8]
    rows, cols = np.r_[own, i, before, pin, rail], np.r_[own, before, i, rail, pin]
    return sp.csr_array((np.ones(rows.size), (rows, cols)), (n, n))


def test_long_searches_wait_until_short_ones_are_done():
    """Tetrahedra that share a face, in order: else columns near the last rows are all taken."""
    points = np.random.default_rng(43).random((7_000, 3))
    neighbours = Delaunay(points[np.argsort(points[:, 0])]).neighbors
    rows, k = np.nonzero(neighbours >= 0)
    A = sp.csr_array((np.ones(rows.size), (rows, neighbours[rows, k])))
    info = certified(A, workers=1)
    assert names(info) == ["cheap", "single_source_bfs"]
    edges = {}
    for short_first in (False, True):
        given = after_cheap(A, 1)
        options = {"short_first": short_first}
        step, _ = run_engine("single_source_bfs", *given, options=options)
        assert step.cardinality == info.cardinality
        edges[short_first] = step.edges
    assert info.steps[1].edges == edges[True] < 0.5 * edges[False]


@pytest.mark.parametrize(("short", "ends"), [(True, False), (False, True)])
def test_a_sample_tells_whether_paths_are_short(short, ends):
    """Without a budget all paths are searched for."""
    n = 30_000
    A = grid(170)[:, 1:] if short else random_matrix(n, n, 3, 77)
    A = ladder(n, 42) if short else A
    _, _, run = given = after_cheap(A, 1)
    options = {"deepening": True}
    step, _ = run_engine("pothen_fan", *given, edge_limit=2 * A.nnz, options=options)
    assert step.exhausted
    assert (step.edges < 0.3 * A.nnz and step.phases == 1) == ends
    assert step.phases <= 2
    step, _ = run_engine("pothen_fan", *given, options=options)
    assert not step.exhausted
    assert step.cardinality == sm.structural_rank(A)
    assert len(run.steps) == 3


def test_few_free_rows_of_a_small_matrix_are_searched_for_one_by_one():
    """Where free columns are near: depth first would wander."""
    A = sp.eye_array(4000).tolil()
    for k in range(0, 4000, 130):
        A[k : k + 2, k : k + 2] = [[1, 1], [1, 0]]
    info = certified(sp.csr_array(A), workers=1)
    assert names(info) == ["cheap", "single_source_bfs"]
    assert info.steps[1].augmentations > 30


@pytest.mark.parametrize(("n", "handed_over"), [(2000, False), (8000, True)])
def test_a_small_matrix_with_chains_is_left_to_the_table(n, handed_over):
    """Unless it is so small that its features take as long."""
    A = hidden_triangle(n, 54)
    assert (A.nnz >= auto.POLICY.small) == handed_over
    assert A.nnz < auto.POLICY.short
    info = certified(A, workers=1)
    assert ("karp_sipser" in names(info)) == handed_over
    assert sm.structural_rank(A) == n
    certify(A, sm.maximum_transversal(A))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("shape", [(40, 40), (60, 35), (35, 60)])
def test_one_call_of_the_core_is_as_the_engines(shape, form, index):
    """With the same pairs, read only; singular, tall and wide ones, those with a full diagonal."""
    for seed in range(30):
        A = random_matrix(*shape, 1.5, 700 + seed)
        A = (A + sp.eye_array(*shape)) if seed % 5 == 0 else A
        A = sp.csr_array(A).asformat(form)
        A.indptr, A.indices = A.indptr.astype(index), A.indices.astype(index)
        matching = sm.maximum_transversal(A)
        same, info = sm.maximum_transversal(A, return_info=True)
        certify(A, matching)
        assert matching.row_mate.dtype == index
        assert not matching.row_mate.flags.writeable
        assert not matching.col_mate.flags.writeable
        assert np.array_equal(matching.row_mate, same.row_mate)
        assert np.array_equal(matching.col_mate, same.col_mate)
        assert sm.structural_rank(A) == info.cardinality
        assert sm.is_structurally_singular(A) == (info.cardinality < min(shape))


@pytest.mark.parametrize("call", [sm.structural_rank, sm.maximum_transversal])
def test_one_call_of_the_core_reads_nothing_that_is_not_consistent(call):
    """What it refuses the general way refuses in words, or reads."""
    A = random_matrix(20, 30, 2, 55)
    for k, wrong in ((0, 30), (-1, -1)):
        B = A.copy()
        B.indices[k] = wrong
        with pytest.raises(ValueError, match="indices"):
            call(B)
    B = A.copy()
    B.indptr[3] = B.nnz + 5
    with pytest.raises(ValueError, match="indptr"):
        call(B)
    B = A.copy()
    B.indptr = B.indptr.astype(np.int64)
    assert sm.structural_rank(B) == sm.structural_rank(A)
    with pytest.raises(ValueError, match="workers"):
        call(A, workers=0)
    with pytest.raises(ValueError, match="method"):
        call(A, method="automatic")


@pytest.mark.parametrize("random", [False, True])
def test_a_cheap_start_that_gives_up_says_so(random):
    """Rows that have no entries cost no patience."""
    A = sp.vstack([sp.csr_array((500, 20)), np.ones((4000, 20))], format="csr")
    graph = as_bipartite(A)
    for patience, gives_up in ((0.2, True), (1.0, False)):
        matching, run = Matching.start(graph), Run()
        options = {"patience": patience, "random": random}
        step, _ = run_engine("cheap", graph, matching, run, options=options)
        assert (step.exhausted, step.cardinality) == (gives_up, 20)
        assert sm.is_matching(A, matching)


@pytest.mark.parametrize("shape", [(60_000, 20_000), (20_000, 60_000)])
def test_a_search_starts_from_the_side_with_far_fewer_free_vertices(shape):
    """With the matrix stored by rows or by columns."""
    A = random_matrix(*shape, 240_000 / shape[0], 17)
    for B in (A, sp.csc_array(A)):
        info = certified(B)
        searches = [step for step in info.steps if step.engine == "single_source_bfs"]
        assert searches[0].phases <= 20_000 - info.steps[0].cardinality


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_the_core_that_karp_sipser_leaves_is_searched(workers):
    """The pairs that it was forced to make are left for the block form."""
    A = random_matrix(60_000, 60_000, 3, 23)
    info = certified(A, workers=workers)
    search = "pothen_fan" if workers >= auto.POLICY.many_workers else "single_source_bfs"
    assert names(info)[:3] == ["cheap", "karp_sipser", search]
    B = sm.block_triangular_form(A, workers=workers)
    assert B.n_blocks == sm.block_triangular_form(A).n_blocks
    graph = as_bipartite(A)
    found = auto.improve(graph, Matching.start(graph), Run(workers, for_blocks=True))
    assert found.forced is not None
    assert auto.improve(graph, Matching.start(graph), Run(workers)).forced is None


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_a_scrambled_mesh_is_pushed_through(workers):
    A = scrambled(grid(150), 24)
    info = certified(A, workers=workers)
    assert names(info)[:3] == ["cheap", "cheap", "push_relabel"]
    assert names(info)[3:4] in ([], ["single_source_bfs"])


def push_without_transpose(A, **settings):
    """The step, and whether the matching is maximum."""
    graph, matching, run = after_cheap(A, 1)
    step, _ = run_engine("push_relabel", graph, matching, run, sides="one", **settings)
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
    assert sm.structural_rank(mesh) - step.cardinality <= 8
    step, maximum = push_without_transpose(mesh, options={"k": 1e-9})
    assert step.exhausted
    assert not maximum
    step, _ = push_without_transpose(mesh, edge_limit=1)
    assert step.exhausted
    assert step.edges < mesh.nnz


@pytest.mark.parametrize(
    ("name", "workers"), [("pothen_fan", 1), ("pothen_fan", 4), ("single_source_bfs", 1)]
)
def test_a_search_ends_within_its_budget(name, workers):
    """The last row of a path is matched by a search through all of it, or by none."""
    A, n = shifted_path(200_000), 200_000
    graph, matching, run = after_cheap(A, 1)
    run.workers = workers
    step, _ = run_engine(name, graph, matching, run, edge_limit=A.nnz // 4)
    assert step.exhausted
    assert step.augmentations == 0
    assert step.edges < A.nnz / 2
    step, _ = run_engine(name, graph, matching, run)
    assert step.cardinality == n


def test_roots_of_failed_searches_are_given_up():
    """Beside a random square, which takes several phases, rows that share too few columns."""
    square, tall = random_matrix(10_000, 10_000, 4, 74), random_matrix(30_000, 3000, 4, 75)
    A = sp.block_diag([square, tall], format="csr")
    step, _ = run_engine("pothen_fan", *after_cheap(A, 1))
    assert step.phases >= 8
    assert step.edges < 5 * A.nnz  # 11 where each phase searches from them again


def test_options_of_a_named_start_are_not_those_of_the_stages():
    """One makes the start give up at once; the first stage is the same engine without it."""
    A = scrambled(random_matrix(20_000, 20_000, 3, 1), 2)[:, :9000]
    _, info = sm.maximum_transversal(A, init="cheap", options={"patience": 1e-9}, return_info=True)
    start, first = info.steps[:2]
    assert (start.engine, first.engine) == ("cheap", "cheap")
    assert start.exhausted
    assert not first.exhausted


def test_where_cheap_goes_far_short_paths_follow_unless_rows_are_empty():
    """Equations with multipliers: all rows of the upper block are matched before one fails."""
    J = random_matrix(10_000, 20_000, 5, 76)
    J = sp.csr_array(J[np.diff(J.indptr) > 1])
    for rows, second in ((J, "pothen_fan"), (sp.vstack([J, J[:9] * 0]), "karp_sipser")):
        rows.eliminate_zeros()
        A = sp.block_array([[sp.eye_array(20_000), rows.T], [rows, None]], format="csr")
        matching, info = sm.maximum_transversal(A, return_info=True)
        certify(A, matching)
        assert [step.engine for step in info.steps[:2]] == ["cheap", second]


if __name__ == "__main__":
    sys.stdout.write(tables())
