"""Matrices from other libraries on a GPU, and the wrappers: the device follows the data."""

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
import sparsematch as sm
from calls import random_matrix
from foreign import Foreign, SparseTensor
from gpu_calls import CUPY, host, one_call, to_gpu, values_to_gpu
from sparsematch import csgraph
from sparsematch.graclus import graclus_cluster
from strategies import INDEX_TYPES, with_index_type

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_csgraph_on_the_device(form, dtype):
    A = random_matrix(60, 50, 2, seed=5)
    B = to_gpu(A.tocoo() if form == "coo" else with_index_type(A.asformat(form), dtype))
    with one_call:
        by_row, by_col = (csgraph.maximum_bipartite_matching(B, kind) for kind in ("row", "column"))
        rank = csgraph.structural_rank(B)
    assert isinstance(by_row, CUPY.ndarray)
    assert by_row.dtype == by_col.dtype == np.int32
    assert (by_row.shape, by_col.shape) == ((50,), (60,))
    assert isinstance(rank, np.int64)
    assert rank == oracle.rank(A) == np.count_nonzero(host(by_row) >= 0)


def test_what_is_done_in_host_memory_only_says_so():
    with pytest.raises(TypeError, match="is on a GPU, but this is done in host memory"):
        csgraph.min_weight_full_bipartite_matching(values_to_gpu(sp.csr_matrix(np.eye(2))))
    with pytest.raises(TypeError, match="is on a GPU, but this is done in host memory only"):
        sm.bottleneck_transversal(SparseTensor(values_to_gpu(sp.csr_matrix(np.eye(2)))))
    with pytest.raises(TypeError, match=r"A is on a GPU, .*; A\.get\(\) copies it there"):
        sm.explain_singularity(values_to_gpu(sp.csr_matrix(np.eye(2))), numeric=True)


def test_values_of_tensors_on_the_device():
    with one_call:
        found = sm.maximum_sum_transversal(SparseTensor(values_to_gpu(sp.csr_matrix(np.eye(2)))))
    assert isinstance(found.row_dual, CUPY.ndarray)
    assert found.objective == 2


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_arrays_and_tensors_on_the_device(form):
    A = random_matrix(60, 50, 2, seed=6).asformat(form)
    B = to_gpu(A)
    arrays = Foreign(B.indptr), Foreign(B.indices)
    pattern = sm.BipartiteCSR.from_arrays(*arrays, A.shape, layout=form)
    assert pattern.indices.data.ptr == B.indices.data.ptr
    for given in (pattern, SparseTensor(B)):
        with one_call:
            matching = sm.maximum_transversal(given)
            form_of = sm.block_triangular_form(given)
        assert isinstance(matching.row_mate, CUPY.ndarray)
        oracle.assert_maximum(A, host(matching.row_mate), host(matching.col_mate))
        assert form_of.n_blocks == sm.block_triangular_form(A).n_blocks


def test_arrays_must_be_in_the_same_memory():
    with pytest.raises(TypeError, match="indptr is in host memory, but indices are on a GPU"):
        sm.BipartiteCSR.from_arrays(np.array([0, 1]), Foreign(CUPY.asarray([0])), (1, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_tensor_keeps_its_values(dtype):
    A = sp.csr_matrix(np.array([[0, 3, 0], [3, 0, 5], [0, 5, 0]]).astype(np.float64))
    B = values_to_gpu(A)
    B.data = CUPY.asarray(A.data.astype(dtype))
    with one_call:
        matching = sm.approximate_matching(SparseTensor(B))
    assert matching.weight == 5
    assert host(matching.mate).tolist() == [-1, 2, 1]


def test_clusters_on_the_device():
    rng = np.random.default_rng(8)
    row, col, weight = rng.integers(0, 200, 500), rng.integers(0, 200, 500), rng.random(500)
    there = [CUPY.asarray(x) for x in (row, col, weight)]
    with one_call:
        clusters = [graclus_cluster(*there), graclus_cluster(*map(Foreign, there))]
    expected = graclus_cluster(row, col, weight)
    for cluster in clusters:
        assert isinstance(cluster, CUPY.ndarray)
        assert np.array_equal(host(cluster), expected)
    with pytest.raises(TypeError, match="row and col must both be in host memory, or both on"):
        graclus_cluster(row, there[1])
