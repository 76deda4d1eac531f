"""Certificates, vertex covers and connected components, against the oracle and by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gpu_calls
import oracle
import sparsematch as sm
from gallery import GALLERY
from strategies import larger, matrices, partial_matching

pytestmark = [pytest.mark.asan, pytest.mark.wheel]


#: Where matrices and mates are put: nowhere else, or on a GPU.
PLACES = {"host": (lambda A: A, tuple), "gpu": (gpu_calls.to_gpu, gpu_calls.mates_to_gpu)}
EVERYWHERE = pytest.mark.parametrize(
    "place", ["host", pytest.param("gpu", marks=pytest.mark.kernels)]
)


@EVERYWHERE
@given(matrices() | larger(), st.integers(1, 2**32), st.floats(0, 1) | st.just(1.0))
def test_verdicts_on_random_matchings(place, A, seed, share):
    row_mate, col_mate = partial_matching(A, np.random.default_rng(seed), share)
    pairs = int(np.count_nonzero(row_mate != -1))
    i, j = oracle.entries(A)
    B, mates = (put(x) for put, x in zip(PLACES[place], (A, (row_mate, col_mate)), strict=True))
    assert sm.is_matching(B, mates) is True
    is_maximal = not np.any((row_mate[i] == -1) & (col_mate[j] == -1))
    assert sm.is_maximal(B, mates) is is_maximal
    assert sm.is_maximum(B, mates) is (pairs == oracle.rank(A))


@given(matrices() | larger())
def test_the_cover_certifies(A):
    """Every entry is covered, and there are as many lines as pairs: no matching can be larger."""
    m = sm.maximum_transversal(A)
    cover = sm.vertex_cover(A, m)
    assert isinstance(cover, sm.VertexCover)
    rows, cols = masks(cover, A.shape)
    assert oracle.is_cover(A, rows, cols)
    assert rows.sum() + cols.sum() == m.cardinality


def masks(cover, shape):
    """The rows and the columns of the cover as masks; their numbers are in ascending order."""
    result = []
    for lines, n in zip((cover.rows, cover.cols), shape, strict=True):
        assert np.all(np.diff(lines) > 0)
        mask = np.zeros(n, bool)
        mask[lines] = True
        result.append(mask)
    return result


@EVERYWHERE
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_every_kind_of_wrong_matching(form, place):
    """Each pair of arrays breaks one rule."""
    A = form(sp.csr_array(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]])))
    good = [1, 0, 2], [1, 0, 2]
    wrong = {
        "not an entry": ([2, 0, -1], [1, -1, 0]),
        "the column does not know": ([1, 0, 2], [1, -1, 2]),
        "the row does not know": ([1, -1, 2], [1, 0, 2]),
        "two rows, one column": ([0, 0, 2], [0, -1, 2]),
        "no such column": ([3, -1, -1], [-1, -1, -1]),
        "no such row": ([-1, -1, -1], [-1, 7, -1]),
        "a negative number other than -1": ([-2, -1, -1], [-1, -1, -1]),
    }
    B, put = PLACES[place][0](A), PLACES[place][1]
    assert sm.is_matching(B, put(map(np.array, good)))
    for reason, mates in wrong.items():
        assert sm.is_matching(B, put(map(np.array, mates))) is False, reason


def test_maximal_and_maximum_are_told_apart():
    A = GALLERY["greedy_trap"]()
    greedy = sm.maximum_transversal(A, method="none", init="cheap")
    empty = sm.maximum_transversal(A, method="none", init="none")
    best = sm.maximum_transversal(A)
    assert [sm.is_maximal(A, m) for m in (empty, greedy, best)] == [False, True, True]
    assert [sm.is_maximum(A, m) for m in (empty, greedy, best)] == [False, False, True]
    with pytest.raises(ValueError, match="not maximum"):
        sm.vertex_cover(A, greedy)


@given(matrices() | larger())
def test_connected_components_against_scipy(A):
    """The same parts as SciPy finds in [0 A; 0 0], without directions, up to their labels."""
    found = sm.connected_components(A)
    assert isinstance(found, sm.Components)
    rows, cols = oracle.entries(A)
    both = sp.coo_array((np.ones(len(rows)), (rows, cols + A.shape[0])), (sum(A.shape),) * 2)
    n, labels = sp.csgraph.connected_components(both, directed=False)
    ours = np.concatenate([found.row_labels, found.col_labels]).tolist()
    assert found.n_components == n == len(set(zip(ours, labels.tolist(), strict=True)))
    assert set(ours) == set(range(n))
