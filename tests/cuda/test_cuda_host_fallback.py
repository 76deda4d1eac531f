"""Deep and narrow searches on a GPU are left to the host: when, what it reports, how to forbid."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
import test_decomposition
from calls import grid, names, random_matrix, scrambled
from gpu_calls import CUPY, certified, form_on_host, host, one_call, to_gpu
from sparsematch._engines.cuda.core import host_fallback
from sparsematch._engines.cuda.core.by_products import DeviceByProducts
from sparsematch._engines.cuda.decomposition import block_form
from sparsematch._engines.cuda.matching import choice
from sparsematch._engines.cuda.matching.choice import POLICY
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._types.bipartite import BipartiteCSR
from strategies import INDEX_TYPES, with_index_type

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("no_matrix_is_small")]


def chain(n):
    """A path numbered at random: augmenting paths of thousands of entries."""
    return scrambled(sp.diags_array([1.0, 1.0], offsets=[0, 1], shape=(n, n)), 1)


def ladder(n):
    rail = sp.diags_array([1.0, 1.0], offsets=[-1, 0], shape=(n, n))
    rung = sp.eye_array(n)
    return scrambled(sp.csr_array(sp.block_array([[rail, rung], [rung, rail]])), 2)


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("make", [chain, ladder])
def test_a_deep_search_is_left_to_the_host(make, form, dtype):
    A = with_index_type(make(20_000).asformat(form), dtype)
    m, info = certified(A)
    assert isinstance(m.row_mate, CUPY.ndarray)
    step = info.steps[names(info).index("host_fallback")]
    mates = m.row_mate.nbytes + m.col_mate.nbytes  # one way: the host starts again
    assert step.copied_bytes == A.indptr.nbytes + A.indices.nbytes + mates
    assert step.cardinality == 0
    assert "levels, of 8192 vertices each" in step.reason
    assert sum(s.copied_bytes for s in info.steps) == step.copied_bytes
    search = info.steps[names(info).index("ms_bfs")]
    work = POLICY.thin_search if make is chain else POLICY.search
    allowed = work.levels(A.indptr.nbytes + A.indices.nbytes, A.nnz)
    assert search.levels < allowed + 2000  # wide ones, and those of the last round
    _, info = certified(A, options={"host": False})
    assert "host_fallback" not in names(info)
    assert names(info)[-1] == "ms_bfs"


def test_the_host_has_all_cores_unless_workers_are_told(monkeypatch):
    seen, run = [], host_fallback.Run
    A = chain(20_000)
    monkeypatch.setenv("SPARSEMATCH_CORES", "3")
    monkeypatch.setattr(host_fallback, "Run", lambda *a, **k: seen.append(a[0]) or run(*a, **k))
    for workers in (None, 1, 2):
        certified(A, workers=workers)
    with sm.set_workers(2):
        certified(A)
    assert seen == [3, 1, 2, 2]


def test_the_allowance_grows_with_the_matrix():
    small, large = (BipartiteCSR(n, n, np.arange(n + 1), np.arange(n)) for n in (10**4, 10**6))
    known = DeviceByProducts(host=True)
    few, many = (host_fallback.allowed_levels(graph, known) for graph in (small, large))
    assert host_fallback.DECOMPOSITION.least <= few < many
    assert host_fallback.allowed_levels(small, replace(known, host=False)) == 2**31 - 1


@pytest.mark.parametrize(
    "A", [scrambled(grid(70), 3), random_matrix(5000, 5000, 6, seed=4)], ids=["grid", "random"]
)
def test_wide_searches_stay_on_the_device(A):
    _, info = certified(A)
    assert "host_fallback" not in names(info)
    assert all(step.copied_bytes == 0 for step in info.steps)


def deep_from(monkeypatch, *work):
    """Have the host asked after so much work of a decomposition."""
    for name in ("DECOMPOSITION", "DECOMPOSITION_IN_ORDER"):
        monkeypatch.setattr(host_fallback, name, host_fallback.Work(2e-6, *work))


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("make", [chain, ladder])
def test_the_block_form_is_the_same_wherever_it_is_found(make, form, monkeypatch):
    A = make(3000).asformat(form)
    asked, to_host = [], host_fallback.on_host
    monkeypatch.setattr(host_fallback, "on_host", lambda *a: asked.append(1) or to_host(*a))
    deep_from(monkeypatch, 25e-9, 0.001, 16)
    with one_call:
        left = sm.block_triangular_form(to_gpu(A))
        calls = len(asked)
        kept = sm.block_triangular_form(to_gpu(A), options={"host": False})
    assert calls >= 1
    assert len(asked) == calls
    for found in (left, kept):
        assert isinstance(found.row_perm, CUPY.ndarray)
        test_decomposition.check(A, form_on_host(found))


def triangle(n):
    """An upper triangle with one perfect matching: few rows stay free, each for a deep search."""
    rng = np.random.default_rng(3)
    i = np.repeat(np.arange(n), 3)
    far = np.minimum(n - 1, i + (rng.pareto(0.6, i.size) * 5).astype(np.int64) + 1)
    rows, cols = np.concatenate([np.arange(n), i]), np.concatenate([np.arange(n), far])
    return scrambled(sp.csr_array((np.ones(rows.size), (rows, cols)), shape=(n, n)), 4)


def test_deep_levels_count_whether_they_are_narrow_or_not():
    A = triangle(1 << 15)
    m, info = certified(A)
    search = info.steps[names(info).index("ms_bfs")]
    assert search.levels < 1000  # 30,000 if it went on; most are wider than 256
    assert m.cardinality == A.shape[0]


def test_the_block_form_goes_where_the_matching_went(monkeypatch):
    """One copy of the matrix, no second search on the device."""
    from sparsematch._engines.cuda.decomposition import strong_components

    def refuse(*_):
        raise AssertionError("the decomposition was begun on the device")

    monkeypatch.setattr(strong_components, "block_labels", refuse)
    A = triangle(1 << 14)
    with one_call:
        form, info = sm.block_triangular_form(to_gpu(A), return_info=True)
    test_decomposition.check(A, form_on_host(form))
    assert form.n_blocks == A.shape[0]
    assert {"host_fallback", "forced pairs", "block permutation"} <= set(names(info))


@pytest.fixture
def given_to_the_host(monkeypatch):
    """The matching and the by-products of each decomposition on the host."""
    given, of_host = [], operations(DecompositionOps, "numpy").block_labels

    def block_labels(graph, matching, run, by_products):
        given.append((matching, by_products))
        return of_host(graph, matching, run, by_products)

    offered = SimpleNamespace(block_labels=block_labels)
    monkeypatch.setattr(block_form, "operations", lambda *_: offered)
    return given


def test_the_decomposition_gets_what_the_matching_has_left_on_the_host(given_to_the_host):
    """The transpose and the forced pairs, of which all the blocks of a triangle follow."""
    A = triangle(1 << 15)
    with one_call:
        form = sm.block_triangular_form(to_gpu(A))
    ((matching, by_products),) = given_to_the_host
    assert matching.is_perfect
    assert by_products.transposed is not None
    assert by_products.forced is not None
    assert form.n_blocks == A.shape[0]


@pytest.mark.parametrize("order", [True, False])
def test_a_deep_decomposition_gets_a_matching_in_order(order, given_to_the_host, monkeypatch):
    """If first fit finds one as large; else that of the device."""
    deep_from(monkeypatch, 1e-12, 0.1, 0)
    A = grid(400, 8) if order else scrambled(grid(400, 8), 3)
    first_fit = sm.maximum_transversal(A, method="none", init="cheap")
    assert first_fit.is_perfect == order
    with one_call:
        form = form_on_host(sm.block_triangular_form(to_gpu(A)))
    ((matching, _),) = given_to_the_host
    assert matching.is_perfect
    assert (matching == first_fit) == order
    test_decomposition.check(A, form)


def with_levels(levels):
    """The policy by which every search may take `levels` levels."""
    work = host_fallback.Work(1, 1, 0, levels)
    return replace(POLICY, search=work, thin_search=work, thin_in_order=work)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("least", [0, 1, 3, 10, 40])
def test_any_search_of_a_block_form_may_be_cut_short(least, seed, monkeypatch):
    """The levels allowed end in another search of the decomposition each time."""
    A = random_matrix(2300, 2200 + 40 * seed, 1.2 + 0.3 * seed, seed=seed)
    monkeypatch.setattr(choice, "POLICY", with_levels(2**31 - 1))
    monkeypatch.setattr(host_fallback, "allowed_levels", lambda *_: least)
    with one_call:
        form = form_on_host(sm.block_triangular_form(to_gpu(A)))
    test_decomposition.check(A, form)


@pytest.mark.parametrize("warm", [False, True])
def test_the_host_starts_again_unless_the_user_gave_a_matching(warm):
    """With every allowance the result is maximum; where nothing was given, that of the host."""
    A = chain(4000)
    usual = sm.maximum_transversal(A)
    row_mate = np.r_[usual.row_mate[:100], np.full(3900, -1, np.int32)]
    initial = CUPY.asarray(row_mate.copy()) if warm else None
    for allowed in (0, 1, 5, 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(choice, "POLICY", with_levels(allowed))
            m, info = certified(A, initial=initial)
        step = info.steps[names(info).index("host_fallback")]
        if warm:
            assert step.cardinality >= 100
            assert np.array_equal(host(initial), row_mate)
        else:
            assert step.cardinality == 0
            assert np.array_equal(host(m.row_mate), usual.row_mate)
