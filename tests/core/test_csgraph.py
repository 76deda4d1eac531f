"""The drop-in for scipy.sparse.csgraph: the same signatures, results and messages."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as scipys
from hypothesis import given

import oracle
from gallery import GALLERY
from sparsematch import csgraph as ours
from strategies import larger, matrices, with_index_type

pytestmark = pytest.mark.wheel

NAMES = ["maximum_bipartite_matching", "structural_rank"]


@pytest.mark.parametrize("name", NAMES)
def test_signatures_are_scipys(name):
    found = inspect.signature(getattr(ours, name)).parameters.values()
    expected = ["graph", "perm_type"][: 1 + (name != "structural_rank")]
    assert [p.name for p in found] == expected
    assert [p.default for p in found][1:] == ["row"] * (len(expected) - 1)
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in found)


@given(matrices() | larger())
def test_same_cardinality_and_conventions_as_scipy(A):
    A.sum_duplicates()  # SciPy overflows its stack on repeats
    by_row, by_column = (ours.maximum_bipartite_matching(A, kind) for kind in ("row", "column"))
    assert by_row.shape == (A.shape[1],)
    assert by_column.shape == (A.shape[0],)
    assert by_row.dtype == by_column.dtype == np.int32
    expected = scipys.maximum_bipartite_matching(with_index_type(sp.csr_array(A), np.int32), "row")
    assert np.count_nonzero(by_row != -1) == np.count_nonzero(expected != -1)
    for mates, matrix in ((by_column, A), (by_row, A.T)):
        back = np.full(matrix.shape[1], -1)
        back[mates[mates != -1]] = np.flatnonzero(mates != -1)
        oracle.assert_maximum(matrix, mates, back)


@pytest.mark.parametrize("perm_type", ["row", None, "foo", 3])
def test_any_other_perm_type_means_row(perm_type):
    A = GALLERY["full_wide"]()
    assert len(ours.maximum_bipartite_matching(A, perm_type)) == 7
    assert len(scipys.maximum_bipartite_matching(A, perm_type)) == 7


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 3)])
@pytest.mark.parametrize("perm_type", ["row", "column"])
def test_empty(shape, perm_type):
    A = sp.csr_array(shape)
    result = ours.maximum_bipartite_matching(A, perm_type)
    assert np.array_equal(result, scipys.maximum_bipartite_matching(A, perm_type))


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.float16, np.float64, np.longdouble, np.complex128, object]
)
def test_values_do_not_matter(dtype):
    A = GALLERY["even_cycle"]()
    A = sp.csr_array((np.zeros(A.nnz, dtype), A.indices, A.indptr), shape=A.shape)
    assert np.count_nonzero(ours.maximum_bipartite_matching(A) != -1) == 8
    assert ours.structural_rank(A) == 8


def same_error(name, A):
    """Our error and SciPy's: the type and the message."""
    raised = []
    for module in (ours, scipys):
        with pytest.raises((TypeError, ValueError)) as error:
            getattr(module, name)(A)
        raised.append((error.type, str(error.value)))
    return raised


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "A", [np.eye(3), [[1, 0], [0, 1]], None, "A", 3], ids=["array", "list", "None", "str", "int"]
)
def test_messages_for_what_is_not_sparse(name, A):
    mine, theirs = same_error(name, A)
    assert mine[0] is theirs[0]
    assert mine[1] == theirs[1].replace("a sparse matrix", "sparse")  # as SciPy 1.14 has it


@pytest.mark.parametrize("form", ["bsr", "dia", "dok", "lil"])
def test_other_formats(form):
    A = sp.csr_array(np.eye(4)).asformat(form)
    mine, theirs = same_error("maximum_bipartite_matching", A)
    assert mine == theirs
    for module in (scipys, ours):
        with pytest.warns(sp.SparseEfficiencyWarning):
            assert module.structural_rank(A) == 4


def test_rank_has_scipys_type(matrix):
    mine = ours.structural_rank(matrix)
    assert type(mine) is np.int64
    assert mine == oracle.rank(matrix)


def test_result_is_fresh_and_input_untouched():
    A = GALLERY["unsorted"]()
    before = A.indices.copy(), A.indptr.copy()
    first = ours.maximum_bipartite_matching(A)
    first[:] = 77
    second = ours.maximum_bipartite_matching(A)
    assert 77 not in second
    assert np.array_equal(A.indices, before[0])
    assert np.array_equal(A.indptr, before[1])
    assert not A.has_sorted_indices, "not even sorted"


def weights(seed, shape, kind):
    rng = np.random.default_rng(seed)
    A = sp.random_array(shape, density=0.4, rng=rng, format="csr")
    A.data = rng.integers(1, 50, A.nnz) * rng.choice([-1, 1], A.nnz) * 0.5
    return A.asformat(kind)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("shape", [(2, 8), (9, 9), (7, 12), (12, 7), (30, 30)])
def test_full_matchings_weigh_what_scipys_do(shape, kind, maximize):
    compared = 0
    for seed in range(20):
        A = weights(seed, shape, kind)
        kept = A.copy()
        try:
            rows, cols = scipys.min_weight_full_bipartite_matching(A.tocsr(), maximize)
        except ValueError:
            with pytest.raises(ValueError, match="no full matching exists"):
                ours.min_weight_full_bipartite_matching(A, maximize)
            continue
        own_rows, own_cols = ours.min_weight_full_bipartite_matching(A, maximize)
        assert np.array_equal(own_rows, np.sort(rows))
        assert len(np.unique(own_cols)) == len(own_cols) == min(shape)
        values = A.toarray()
        assert np.all(values[own_rows, own_cols])
        assert values[own_rows, own_cols].sum() == values[rows, cols].sum()
        assert np.array_equal(A.toarray(), kept.toarray())
        compared += 1
    assert compared > 3


def test_full_matching_of_odd_weights():
    matching = ours.min_weight_full_bipartite_matching
    infinite = sp.csr_array(np.array([[np.inf, 1], [1, 1]]))
    assert matching(infinite)[1].tolist() == [1, 0]
    with pytest.raises(ValueError, match="would make every sum infinite"):
        matching(infinite, maximize=True)
    with pytest.raises(ValueError, match="holds NaN"):
        matching(sp.csr_array(np.array([[np.nan]])))
    with pytest.raises(TypeError, match="must hold real numbers, not complex128"):
        matching(sp.csr_array(np.array([[1j]])))
    with pytest.raises(TypeError, match="graph must be sparse"):
        matching(np.eye(2))
    with pytest.warns(UserWarning, match="explicit zero weights are removed"):
        rows, _ = matching(sp.csr_array(([0.0, 1.0, 1.0], ([0, 0, 1], [0, 1, 0])), shape=(2, 2)))
    assert rows.tolist() == [0, 1]
    assert [array.size for array in matching(sp.csr_array((0, 3)))] == [0, 0]
    long = with_index_type(sp.csr_array(np.ones((2, 3))), np.int64)
    assert [array.dtype for array in matching(long)] == [np.int64, np.int32]
