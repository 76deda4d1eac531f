"""Matrices from other libraries: index arrays by DLPack, sparse tensors, lists of edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import oracle
import sparsematch as sm
from calls import random_matrix
from foreign import Foreign, SparseTensor
from sparsematch import csgraph
from sparsematch.graclus import graclus_cluster
from strategies import INDEX_TYPES, larger, matrices, with_index_type

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
    ],
)
def test_bad_arrays_are_refused(arrays, shape, error, message):
    with pytest.raises(error, match=message):
        BipartiteCSR.from_arrays(*arrays, shape)


def test_a_layout_must_be_known():
    with pytest.raises(ValueError, match="layout is 'coo', but must be one of 'csr', 'csc'"):
        BipartiteCSR.from_arrays([0, 1], [0], (1, 1), layout="coo")


def test_a_device_must_be_known():
    class Elsewhere(Foreign):
        def __dlpack_device__(self):
            return 8, 0

    with pytest.raises(TypeError, match="indptr is on a device of DLPack type 8"):
        BipartiteCSR.from_arrays(Elsewhere(np.array([0, 1])), [0], (1, 1))


def test_a_view_is_checked_in_every_call():
    pattern = BipartiteCSR(2, 2, np.array([0, 1, 2]), np.array([0, 7]))
    with pytest.raises(ValueError, match=r"A.indices\[1\] is 7"):
        sm.maximum_transversal(pattern)


def test_a_pattern_has_no_values():
    pattern = BipartiteCSR.from_arrays([0, 1], [0], (1, 1))
    with pytest.raises(TypeError, match="must be a"):
        sm.maximum_product_transversal(pattern)


@given(matrices() | larger())
def test_sparse_tensors(A):
    for form in ("csr", "csc"):
        B = A.asformat(form)
        tensor = SparseTensor(B)
        matching = sm.maximum_transversal(tensor)
        assert matching == sm.maximum_transversal(B)
        assert sm.block_triangular_form(tensor) == sm.block_triangular_form(B)


def test_a_coo_tensor_is_converted():
    A = random_matrix(30, 30, 2, seed=4).tocoo()
    assert sm.structural_rank(SparseTensor(A)) == sm.structural_rank(A)


def test_a_coo_tensor_is_checked_before_it_is_converted():
    A = random_matrix(30, 30, 2, seed=4).tocoo()
    A.coords = A.row, np.full_like(A.col, 10**8)
    with pytest.raises(ValueError, match="has indices from 100000000 to 100000000 in dimension 1"):
        sm.maximum_transversal(SparseTensor(A))


def test_tensors_keep_their_values():
    A = sp.csr_array([[1.0, 4.0], [2.0, 1.0]])
    tensor = SparseTensor(A)
    assert sm.maximum_product_transversal(tensor).matching.row_mate.tolist() == [1, 0]
    matching = sm.approximate_matching(tensor, symmetrize=True)
    assert matching.weight == 4
    form = sm.block_triangular_form(tensor)
    assert np.array_equal(form.permute(tensor).toarray(), form.permute(A).toarray())
    assert csgraph.structural_rank(tensor) == 2
    assert csgraph.maximum_bipartite_matching(tensor).dtype == np.int32


def test_other_layouts_are_refused():
    tensor = SparseTensor(sp.csr_array(np.eye(2)), "strided")
    with pytest.raises(TypeError, match="A must be a sparse array or matrix"):
        sm.structural_rank(tensor)


def test_a_tensor_must_have_two_dimensions():
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
