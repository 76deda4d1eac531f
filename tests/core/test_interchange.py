"""Matrices from other libraries, by DLPack, tensors and edges; layouts of Pyomo and MATLAB."""

from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracle
import sparsematch as sm
from calls import random_matrix
from foreign import Foreign, SparseTensor
from gallery import GALLERY
from sparsematch.graclus import graclus_cluster
from strategies import INDEX_TYPES, matrices, with_index_type

BipartiteCSR = sm.BipartiteCSR


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_arrays_of_any_library_are_viewed_where_they_are(form, dtype):
    A = with_index_type(random_matrix(40, 50, 3, seed=1).asformat(form), dtype)
    for wrap in (lambda x: x, Foreign):
        pattern = BipartiteCSR.from_arrays(wrap(A.indptr), wrap(A.indices), A.shape, layout=form)
        assert np.shares_memory(pattern.indptr, A.indptr)
        assert np.shares_memory(pattern.indices, A.indices)
        matching = sm.maximum_transversal(pattern)
        assert matching.row_mate.dtype == dtype
        oracle.assert_maximum(A, matching.row_mate, matching.col_mate)
        assert sm.block_triangular_form(pattern) == sm.block_triangular_form(A)
        assert sm.is_maximum(pattern, matching)


class Elsewhere(Foreign):
    def __dlpack_device__(self):
        return 8, 0


class Unknown(Foreign):
    def __dlpack__(self, **how):
        raise BufferError("no such type")


def test_lists_and_mixed_types_are_converted():
    pattern = BipartiteCSR.from_arrays([0, 1, 2], np.array([1, 0], np.uint8), (2, 2))
    assert pattern.dtype == np.int64
    assert sm.maximum_transversal(pattern).row_mate.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("arrays", "shape", "error", "message"),
    [
        (([0, 1], [5]), (1, 2), ValueError, r"the matrix.indices\[0\] is 5, in row 0"),
        (([0, 1], [0]), (2, 2), ValueError, "has length 2, but a matrix with 2 rows needs"),
        (([0, 1], [0]), (1, 2, 3), ValueError, r"shape is \(1, 2, 3\)"),
        (([0, 1], [0]), (-1, 2), ValueError, r"shape is \(-1, 2\)"),
        (([0.0, 1.0], [0]), (1, 1), TypeError, "indptr.dtype must be an integer type"),
        ((Elsewhere(np.arange(2)), [0]), (1, 1), TypeError, "indptr is on a device of DLPack ty"),
        ((Unknown(np.arange(2)), [0]), (1, 1), TypeError, "indptr holds what cannot be read: no"),
    ],
)
def test_bad_arrays_are_refused(arrays, shape, error, message):
    with pytest.raises(error, match=message):
        BipartiteCSR.from_arrays(*arrays, shape)
    with pytest.raises(ValueError, match="layout is 'coo', but must be one of 'csr', 'csc'"):
        BipartiteCSR.from_arrays([0, 1], [0], (1, 1), layout="coo")


def test_a_view_is_checked_in_every_call():
    pattern = BipartiteCSR(2, 2, np.array([0, 1, 2]), np.array([0, 7]))
    with pytest.raises(ValueError, match=r"A.indices\[1\] is 7"):
        sm.maximum_transversal(pattern)


def test_a_pattern_has_no_values():
    pattern = BipartiteCSR.from_arrays([0, 1], [0], (1, 1))
    with pytest.raises(TypeError, match="must be a"):
        sm.maximum_product_transversal(pattern)


def test_a_coo_tensor_is_checked_before_it_is_converted():
    A = random_matrix(30, 30, 2, seed=4).tocoo()
    A.coords = A.row, np.full_like(A.col, 10**8)
    with pytest.raises(ValueError, match="has indices from 100000000 to 100000000 in dimension 1"):
        sm.maximum_transversal(SparseTensor(A))


def test_other_tensors_are_refused():
    tensor = SparseTensor(sp.csr_array(np.eye(2)), "strided")
    with pytest.raises(TypeError, match="A must be a sparse array or matrix"):
        sm.structural_rank(tensor)
    tensor = SparseTensor(sp.csr_array(np.eye(2)))
    tensor.shape = (3, 2, 2)
    with pytest.raises(ValueError, match="two dimensions, not 3"):
        sm.structural_rank(tensor)


# ---- clusters


def check_clusters(cluster, row, col, n):
    """Clusters are single vertices or ends of an edge; no edge joins two single vertices."""
    sizes = np.bincount(cluster, minlength=n)
    assert set(sizes.tolist()) <= {0, 1, 2}
    edges = set(zip(row.tolist(), col.tolist(), strict=True))
    for v in np.flatnonzero(cluster != np.arange(n)).tolist():
        u = int(cluster[v])
        assert u < v
        assert (u, v) in edges or (v, u) in edges
    single = sizes[cluster] == 1
    assert not (single[row] & single[col] & (row != col)).any()


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_clusters_are_a_maximal_matching(n, pairs):
    row, col = np.array(pairs, np.int64).reshape(-1, 2).T % n
    cluster = graclus_cluster(row, col, num_nodes=n)
    assert cluster.dtype == row.dtype
    check_clusters(cluster, row, col, n)
    weight = np.arange(1.0, row.size + 1)
    check_clusters(graclus_cluster(Foreign(row), Foreign(col), Foreign(weight), n), row, col, n)


def test_heavy_edges_first():
    row, col = np.array([0, 1, 2, 3], np.int32), np.array([1, 2, 3, 4], np.int32)
    cluster = graclus_cluster(row, col, np.array([1, 3, 2, 2]), 6)
    assert cluster.tolist() == [0, 1, 1, 3, 3, 5]
    assert cluster.dtype == np.int32
    assert graclus_cluster(row, col).size == 5
    assert graclus_cluster(row[:0], col[:0]).tolist() == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1], [1]), ValueError, r"col has shape \(1,\), but must have shape \(2,\)"),
        (([0.5], [1]), TypeError, "row must hold integers, not float64"),
        (([0], [1], [1.0, 2.0]), ValueError, "weight has shape"),
        (([0], [3], None, 3), ValueError, "an edge ends at vertex 3, but vertices are counted"),
        (([0], [-1]), ValueError, "an edge ends at vertex -1"),
        (([0], [1], None, 2.5), TypeError, "num_nodes must be an integer"),
        (([0], [1], ["x"]), TypeError, "must hold numbers"),
    ],
)
def test_bad_edges_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        graclus_cluster(*arguments)


@given(matrices())
def test_matlab_and_back(A):
    form, matching = sm.block_triangular_form(A), sm.maximum_transversal(A)
    ones = form.to_matlab()
    assert [array.min(initial=1) for array in ones] == [1] * 6
    assert all(np.array_equal(one - 1, own) for one, own in zip(ones, form, strict=True))
    doubles = [array.astype(float).reshape(-1, 1) for array in ones]
    assert sm.BlockForm.from_matlab(*doubles) == form
    p = matching.to_matlab()
    assert p.shape == (A.shape[1],)
    assert np.array_equal(np.flatnonzero(p), np.flatnonzero(matching.col_mate >= 0))
    assert sm.Matching.from_matlab(p, A.shape[0]) == matching


@given(matrices())
def test_pyomo_and_back(A):
    form, matching = sm.block_triangular_form(A), sm.maximum_transversal(A)
    assert sm.Matching.from_pyomo(matching.to_pyomo(), A.shape) == matching
    rows, cols = form.to_pyomo()
    assert rows._fields == ("unmatched", "overconstrained", "underconstrained", "square")
    assert cols._fields == ("unmatched", "underconstrained", "overconstrained", "square")
    assert sorted(chain(*rows)) == list(range(A.shape[0]))
    assert sorted(chain(*cols)) == list(range(A.shape[1]))
    assert sm.Matching.from_pyomo((rows, cols), A.shape) == form.matching


@given(matrices())
def test_pyomos_blocks_are_lower_triangular(A):
    form = sm.block_triangular_form(A)
    if not A.shape[0] == A.shape[1] == form.structural_rank:
        square = A.shape[0] == A.shape[1]
        words = "needs a perfect matching" if square else "needs a square one"
        with pytest.raises(RuntimeError if square else ValueError, match=words):
            form.to_pyomo_blocks()
        return
    row_blocks, col_blocks = form.to_pyomo_blocks()
    assert [len(block) for block in row_blocks] == [len(block) for block in col_blocks]
    row_at = {i: k for k, block in enumerate(row_blocks) for i in block}
    col_at = {j: k for k, block in enumerate(col_blocks) for j in block}
    entries = zip(*map(np.ndarray.tolist, sp.coo_array(A).coords), strict=True)
    assert all(row_at[i] >= col_at[j] for i, j in entries)


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_as_pyomo():
    """Pyomo's own functions on the same matrices: the same parts, blocks of the same sizes."""
    reason = "compares with Pyomo: pip install pyomo networkx"
    pytest.importorskip("networkx", reason=reason)
    triangularize, coarse, matching = (
        pytest.importorskip(f"pyomo.contrib.incidence_analysis.{name}", reason=reason)
        for name in ("triangularize", "dulmage_mendelsohn", "matching")
    )
    for seed in range(6):
        A = random_matrix(40, 36 + 2 * seed, 2, seed)
        A = sp.coo_array((A + A.astype(float)).tocsr())
        A.sum_duplicates()
        theirs, ours = coarse.dulmage_mendelsohn(A), sm.block_triangular_form(A).to_pyomo()
        kinds = "overconstrained", "underconstrained", "square"
        for part, own, free_with in zip(theirs, ours, kinds[:2], strict=True):
            assert part._fields == own._fields
            for field in kinds:
                names = [field] + ["unmatched"] * (field == free_with)
                one, other = ({i for name in names for i in getattr(p, name)} for p in (part, own))
                assert one == other
        assert sm.is_maximum(A, sm.Matching.from_pyomo(matching.maximum_matching(A), A.shape))
    for name in ("fine_blocks", "even_cycle", "triangular", "identity"):
        A = sp.coo_array(GALLERY[name]())
        theirs = triangularize.block_triangularize(A)
        ours = sm.block_triangular_form(A).to_pyomo_blocks()
        for part, own in zip(theirs, ours, strict=True):
            assert {frozenset(block) for block in part} == {frozenset(block) for block in own}
    for wrong, error in ((sp.coo_array((2, 3)), ValueError), (sp.coo_array((2, 2)), RuntimeError)):
        with pytest.raises(error):
            triangularize.block_triangularize(wrong)
        with pytest.raises(error):
            sm.block_triangular_form(wrong).to_pyomo_blocks()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"p": [1, 1, 3, 4, 5]}, ValueError, "p is not a permutation of the numbers from 1 to 5"),
        ({"q": [0, 1, 2, 3, 4]}, ValueError, "q has the element 0, but counts from 1"),
        ({"q": ["a"] * 5}, TypeError, "q must be made of integers from 1"),
        ({"q": [1.5, 2, 3, 4, 5]}, TypeError, "q must be made of integers from 1"),
        ({"r": [1, 3]}, ValueError, "r must ascend from 1 to 6"),
        ({"s": [1, 6]}, ValueError, "r has 6 elements and s 2"),
        ({"rr": [1, 6]}, ValueError, "rr has 2 elements, but must have 5"),
        ({"rr": [1, 1, 1, 5, 6]}, ValueError, "rr tells a structural rank of 4, but cc one of 5"),
    ],
)
def test_wrong_dmperm(change, error, words):
    arrays = dict(zip(("p", "q", "r", "s", "cc", "rr"), GALLERY_FORM.to_matlab(), strict=True))
    with pytest.raises(error, match=words):
        sm.BlockForm.from_matlab(**(arrays | change))


GALLERY_FORM = sm.block_triangular_form(GALLERY["identity"]())


MATLAB, PYOMO = sm.Matching.from_matlab, sm.Matching.from_pyomo


@pytest.mark.parametrize(
    ("read", "given", "shape", "error", "words"),
    [
        (MATLAB, [1, 4], 3, ValueError, "p has the element 4, but there are 3 rows"),
        (MATLAB, [2, 0, 2], 3, ValueError, "p has an element twice"),
        (MATLAB, [-1], 3, ValueError, "p has the element -1, but counts from 0"),
        (MATLAB, [np.inf, 1.0], 3, ValueError, "p has the element"),
        (MATLAB, np.array([2**64 - 1], np.uint64), 3, ValueError, "p has the element"),
        (PYOMO, [1, 2], (3, 3), TypeError, "given must be a dict from rows to columns"),
        (PYOMO, {0: 5}, (3, 3), ValueError, "given pairs column 5, but there are 3"),
        (PYOMO, {0: 1, 1: 1}, (3, 3), ValueError, "row 0 is paired with column 1, but row 1"),
        (PYOMO, {"a": 1}, (3, 3), TypeError, "given must be made of integers"),
    ],
)
def test_wrong_matchings(read, given, shape, error, words):
    with pytest.raises(error, match=words):
        read(given, shape)
