"""The GPU engines of two papers in all variants, by the whole grid and by one block alone."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import oracle
import sparsematch as sm
from calls import grid, random_matrix, scrambled
from gallery import pattern
from sparsematch._engines.cuda.matching import apfb, push_relabel
from strategies import INDEX_TYPES, partial_matching, with_index_type

pytestmark = pytest.mark.kernels

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
