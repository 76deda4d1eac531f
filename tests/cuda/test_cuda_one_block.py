"""Small matrices by one block of a GPU, larger ones by many; the engines of two papers."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import oracle
import sparsematch as sm
from calls import grid, names, random_matrix, scrambled
from gallery import pattern
from gpu_calls import CUPY, certified, host, on_device
from sparsematch._engines.cuda.core import compile as cuda_compile
from sparsematch._engines.cuda.matching import apfb, one_block, push_relabel
from strategies import INDEX_TYPES, partial_matching, with_index_type

pytestmark = pytest.mark.kernels


def solve(A, **how):
    (step,) = certified(A, method="one_block", **how)[1].steps
    return step


@pytest.fixture(params=["one block", "many"])
def where(request, monkeypatch):
    """Whether the arrays fit into the memory of a block."""
    if request.param == "many":
        monkeypatch.setattr(cuda_compile, "shared_room", lambda: 0)
    return request.param


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("shape", [(700, 700), (1500, 90), (90, 1500)])
def test_random_matrices(shape, form, dtype, where):
    for mean in (1, 3, 11):
        A = with_index_type(random_matrix(*shape, mean, seed=mean).asformat(form), dtype)
        step = solve(A)
        # one for each that found a path, of which every one has a level, and the last
        assert 1 <= step.phases <= step.augmentations + 1
        assert step.levels >= step.phases - 1


def numbered_at_random(n, *offsets):
    return scrambled(sp.diags_array([1.0, 1.0], offsets=offsets, shape=(n, n)), 7)


def path(n):
    """A tridiagonal matrix without its diagonal: long augmenting paths."""
    return numbered_at_random(n, -1, 1)


def chain(n):
    """A bidiagonal matrix."""
    return numbered_at_random(n, 0, 1)


def test_long_paths(where):
    assert solve(path(6000)).levels > 300


@pytest.mark.parametrize("make", [chain, path])
@pytest.mark.parametrize("n", [2100, 9000])
def test_long_paths_are_left_to_the_host(make, n):
    """After some hundred levels, unless that is forbidden; the host starts again."""
    A = make(n)
    m, info = certified(A)
    assert np.array_equal(host(m.row_mate), sm.maximum_transversal(A).row_mate)
    search, left, *_ = info.steps
    assert (search.engine, left.engine) == ("one_block", "host_fallback")
    assert search.levels < 500
    assert left.reason.startswith("a phase of more than ")
    assert left.copied_bytes == A.indptr.nbytes + A.indices.nbytes + 2 * m.row_mate.nbytes
    assert names(certified(A, options={"host": False})[1]) == ["one_block"]


@pytest.mark.parametrize("n", [2000, 9000])
def test_what_is_small_or_shallow_stays_on_the_device(n):
    for A in (chain(2000), random_matrix(n, n, 3, seed=2), scrambled(grid(90), 3)):
        assert names(certified(A)[1]) == ["one_block"]


def test_a_matching_that_was_given_goes_with_the_rest_to_the_host():
    A = chain(5000)
    row_mate = sm.maximum_transversal(A).row_mate.copy()
    row_mate[50:] = -1
    _, info = certified(A, initial=CUPY.asarray(row_mate))
    assert info.steps[1].cardinality >= 50


def full(n_rows, n_cols, nnz):
    """The first entries of a full matrix, row by row."""
    at = np.arange(nnz)
    return sp.csr_array((np.ones(nnz), (at // n_cols, at % n_cols)), shape=(n_rows, n_cols))


def test_what_16_bits_do_not_count_is_left_to_many_blocks():
    """Also where there is room for it."""
    for A, small in (
        (full(300, 300, one_block.MOST), True),
        (full(300, 300, one_block.MOST + 1), False),
        (sp.csr_array((one_block.MOST + 1, 1)), False),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cuda_compile, "shared_room", lambda: 1 << 20)
            assert one_block.fits(on_device(A)[0]) == small
        solve(A)


def test_columns_of_more_than_16_bits_of_entries():
    """The degrees of two columns share a word: a sum that runs over spoils the order only."""
    n = 70_000
    rows = np.concatenate([np.arange(n), np.arange(n)])
    cols = np.concatenate([np.zeros(n, int), np.arange(n) % 3])
    A = sp.csr_array((np.ones(2 * n), (rows, cols)), shape=(n, 3))
    assert solve(A).augmentations <= 3


def test_the_largest_matrices_that_fit():
    A = random_matrix(10_300, 10_300, 3, seed=1)
    if one_block.fits(on_device(A)[0]):  # on an H100, and on the stand-in
        solve(A)
    assert not one_block.fits(on_device(random_matrix(12_000, 12_000, 3, seed=1))[0])


APFB = [
    dict(zip(("stop_early", "roots", "constant_threads"), v, strict=True))
    for v in product((False, True), repeat=3)
]
LISTS = {"First": {"active_list": False}, "NoShr": {"shrink": False}, "Shr": {}}
RELABEL = {"k": 0.3}, {"k": 2.0}, {"adaptive": False, "k": 1.0}, {"adaptive": False, "k": 10.0}
G_PR = [variant | relabel for variant in LISTS.values() for relabel in RELABEL]
VARIANTS = [("apfb", options) for options in APFB] + [("push_relabel", options) for options in G_PR]


def hubs(n=1500):
    """Two rows and two columns with long lists; most rows compete for few columns."""
    rng = np.random.default_rng(3)
    every, zeros, ones = np.arange(n), np.zeros(n), np.ones(n)
    rows = np.r_[zeros, ones[: n // 2], every, every, rng.integers(n, size=n)]
    some, few = rng.integers(n, size=n // 2), rng.integers(n // 3, size=n)
    return pattern(rows, np.r_[every, some, zeros, ones, few], (n, n))


MATRICES = {
    "grid": lambda: grid(30),
    "grid_scrambled": lambda: scrambled(grid(30), 1),
    "deficient": lambda: random_matrix(900, 700, 2.5, 2),
    "hubs": hubs,
    "fewer_rows": lambda: random_matrix(300, 900, 3, 4),
}


@pytest.fixture(params=[0, 512], ids="alone={}".format)
def alone(request, monkeypatch):
    """How much work is left to one block; with none, every level and every round is the grid's."""
    for module in (apfb, push_relabel):
        monkeypatch.setattr(module, "ALONE", request.param)


def find(name):
    return next(engine for engine in sm.engines("exact", backend="cupy") if engine.name == name)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("shape", MATRICES)
def test_every_variant_is_exact(name, options, shape):
    A, rng = MATRICES[shape](), np.random.default_rng(5)
    rank = sm.structural_rank(A)
    for B, dtype in product((A, A.tocsc()), INDEX_TYPES):
        for initial in (None, partial_matching(A, rng)):
            C = with_index_type(B, dtype)
            m, info = gpu_calls.solve(C, find(name), options, initial=initial)
            oracle.assert_matching(A, m.row_mate, m.col_mate)
            assert m.cardinality == info.steps[-1].cardinality == rank


def test_a_phase_that_finds_a_path_gains_one():
    """Many ends in one tree, few free rows: without roots too, a phase but the last adds a pair."""
    A = sp.csr_array(np.r_[np.ones((1, 40)), np.eye(40)[:39]])
    mates = np.r_[-1, np.arange(39)], np.r_[np.arange(1, 40), -1]
    for options in APFB:
        m, info = gpu_calls.solve(A, find("apfb"), options, initial=mates)
        assert m.cardinality == 40
        assert info.steps[-1].augmentations == 1
        assert info.steps[-1].phases <= 2  # none to find out that a perfect matching is maximum
