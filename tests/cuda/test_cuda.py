"""Matrices on a GPU through the public calls, and from other libraries.

Where the results live, what is refused, and that none depends on luck.
"""

import sys
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gpu_calls
import oracle
import sparsematch as sm
import test_decomposition
from calls import certify, grid, random_matrix, scrambled, solve
from foreign import Foreign, SparseTensor
from gallery import GALLERY
from gpu_calls import (
    CUPY,
    HAS_GPU,
    form_on_host,
    host,
    mates_to_gpu,
    one_call,
    to_gpu,
    values_to_gpu,
)
from sparsematch import csgraph
from sparsematch._base import arrays
from sparsematch.graclus import graclus_cluster
from strategies import INDEX_TYPES, larger, matrices, partial_matching, with_index_type

pytestmark = pytest.mark.kernels

EXACT = [engine.name for engine in sm.engines("exact", backend="cupy")]
METHOD = "auto" if "auto" in EXACT else "apfb"


def lives_on_gpu(*things):
    return all(isinstance(thing, CUPY.ndarray) for thing in things)


def check_everything(A):
    """Every public call returns the same for the matrix on the GPU and in host memory."""
    B, rank = to_gpu(A), oracle.rank(A)
    m = sm.maximum_transversal(B, method=METHOD)
    assert lives_on_gpu(m.row_mate, m.col_mate)
    oracle.assert_maximum(A, host(m.row_mate), host(m.col_mate))
    indices = A.coords[0] if A.format == "coo" else A.indices
    assert m.row_mate.dtype == m.col_mate.dtype == indices.dtype
    assert sm.structural_rank(B, method=METHOD) == m.cardinality == rank
    assert sm.is_matching(B, m)
    assert sm.is_maximal(B, m)
    assert sm.is_maximum(B, m)
    cover = sm.vertex_cover(B, m)
    assert lives_on_gpu(*cover)
    assert cover.size == rank
    assert m.is_perfect == (A.shape[0] == A.shape[1] == rank)
    assert np.array_equal(host(m.as_permutation()), m.get().as_permutation())
    assert all(np.array_equal(host(x), y) for x, y in zip(m.pairs(), m.get().pairs(), strict=True))
    form = sm.block_triangular_form(B, method=METHOD)
    assert lives_on_gpu(*form, *form.horizontal, *form.vertical)
    test_decomposition.check(A, form_on_host(form))
    assert sm.is_block_form(B, form)
    n, rows, cols = sm.connected_components(B)
    assert lives_on_gpu(rows, cols)
    assert n == sm.connected_components(A).n_components


@pytest.mark.asan
def test_gallery(matrix):
    for form, dtype in product([sp.csr_array, sp.csc_array], INDEX_TYPES):
        check_everything(with_index_type(form(matrix), dtype))
    check_everything(sp.coo_array(matrix))


@given(matrices() | larger())
def test_random_matrices(A):
    check_everything(A)


def test_permutation(matrix):
    B = to_gpu(matrix)
    form, expected = sm.block_triangular_form(B, method=METHOD), sm.block_triangular_form(matrix)
    assert form.is_reducible is expected.is_reducible
    assert form == form
    assert form != expected
    assert form.matching != expected.matching
    assert "BlockForm" in repr(form)
    C, (p, q) = form.permute(B), (host(form.row_perm), host(form.col_perm))
    assert C.format == "csr"
    assert np.array_equal((C.get() != 0).toarray(), (B.get() != 0)[p][:, q].toarray())


def test_roles_of_entries(matrix):
    B = to_gpu(matrix)
    roles = sm.entry_roles(B)
    assert lives_on_gpu(roles)
    assert np.array_equal(host(roles), sm.entry_roles(B.get()))
    form = sm.block_triangular_form(B, method=METHOD)
    needs = sm.block_triangular_form(B.get()).needs(B.get())
    assert form.needs(B).get().nnz == needs.nnz


@given(matrices() | larger(), st.integers(1, 2**32))
def test_a_start_is_copied(A, seed):
    start = mates_to_gpu(partial_matching(A, np.random.default_rng(seed)))
    before = [side.get() for side in start]
    m = sm.maximum_transversal(to_gpu(A), method=METHOD, initial=start)
    assert m.cardinality >= np.count_nonzero(before[0] >= 0)
    assert all(np.array_equal(side.get(), was) for side, was in zip(start, before, strict=True))
    rows_only = sm.maximum_transversal(to_gpu(A), method=METHOD, initial=start[0])
    assert rows_only.cardinality == m.cardinality
    assert sm.is_maximum(to_gpu(A), m.row_mate)


def test_device(matrix):
    """A matrix in host memory is copied on request, the start too; the results are on the GPU."""
    m = sm.maximum_transversal(sm.view(matrix, device="cuda"), method=METHOD)
    assert lives_on_gpu(m.row_mate, m.col_mate)
    oracle.assert_maximum(matrix, host(m.row_mate), host(m.col_mate))
    for start in (m.get(), (m.get().row_mate, m.get().col_mate), m.get().row_mate.tolist(), m):
        again = sm.maximum_transversal(sm.view(matrix, device="cuda"), method=METHOD, initial=start)
        assert again.cardinality == m.cardinality
    for A in (matrix, to_gpu(matrix)):
        assert sm.structural_rank(sm.view(A, device="cuda"), method=METHOD) == m.cardinality
    form = sm.block_triangular_form(sm.view(matrix, device="cuda"), method=METHOD, matching=m.get())
    assert lives_on_gpu(*form, *sm.connected_components(sm.view(matrix, device="cuda"))[1:])
    if METHOD == "auto":
        for call in (sm.is_reducible, sm.is_structurally_singular):
            assert call(sm.view(matrix, device="cuda")) == call(matrix)


A = GALLERY["three_coarse_parts"]()
M, FORM = sm.maximum_transversal(A), sm.block_triangular_form(A)
FREE = np.full(A.shape[0], -1), np.full(A.shape[1], -1)


def form_there():
    return sm.block_triangular_form(to_gpu(A), method=METHOD)


MIXED = {
    "start in host memory": lambda: sm.maximum_transversal(to_gpu(A), initial=M, method=METHOD),
    "start on the GPU": lambda: sm.maximum_transversal(A, initial=mates_to_gpu(M)),
    "list": lambda: sm.is_matching(to_gpu(A), FREE[0].tolist()),
    "pair": lambda: sm.is_maximum(to_gpu(A), (CUPY.asarray(FREE[0]), FREE[1])),
    "cover": lambda: sm.vertex_cover(A, mates_to_gpu(M)[0]),
    "form": lambda: sm.block_triangular_form(A, matching=mates_to_gpu(M)),
    "block form": lambda: sm.is_block_form(A, form_there()),
    "permute": lambda: FORM.permute(to_gpu(A)),
    "permute in host memory": lambda: form_there().permute(A),
}


@pytest.mark.parametrize("case", MIXED)
def test_mixed_inputs_are_refused(case):
    with pytest.raises(TypeError, match=r"GPU|CuPy"):
        MIXED[case]()


def test_unknown_device():
    with pytest.raises(ValueError, match="device is 'gpu', but must be 'cuda'"):
        sm.view(A, device="gpu")
    with pytest.raises(TypeError, match="device must be"):
        sm.view(A, device=0)


def test_engines_of_the_other_back_end_are_not_found():
    words = r"method is 'hopcroft_karp', but must be one of .*'ms_bfs'"
    with pytest.raises(ValueError, match=words):
        sm.maximum_transversal(to_gpu(A), method="hopcroft_karp")
    with pytest.raises(ValueError, match="method is 'ms_bfs'"):
        sm.maximum_transversal(A, method="ms_bfs")


def broken(field, value):
    """The matrix with one array replaced."""
    B = to_gpu(A)
    setattr(B, field, CUPY.asarray(np.asarray(value)))
    return B


WRONG = {
    "indptr too short": ("indptr", A.indptr[:-1], "length"),
    "indptr from one": ("indptr", A.indptr + 1, "indptr[0] is 1"),
    "indptr falls": ("indptr", np.r_[0, 3, 2, A.indptr[3:]], "decreases at row 1"),
    "indptr too large": ("indptr", np.r_[A.indptr[:-1], 10**6].astype(np.int32), "holds"),
    "index too large": ("indices", np.r_[A.indices[:-1], 10**6].astype(np.int32), "is 1000000"),
    "index negative": ("indices", np.r_[-1, A.indices[1:]].astype(np.int32), "is -1"),
    "two dimensions": ("indices", A.indices.reshape(1, -1), "one dimension"),
}


@pytest.mark.parametrize("case", WRONG)
def test_broken_matrices_are_refused(case):
    field, value, message = WRONG[case]
    with pytest.raises(ValueError) as caught:
        sm.structural_rank(broken(field, value), method=METHOD)
    assert message in str(caught.value)


def test_what_lies_behind_the_last_entry_is_not_read():
    B = broken("indices", np.r_[A.indices, [10**6, -7]].astype(np.int32))
    assert sm.structural_rank(B, method=METHOD) == oracle.rank(A)


def test_index_arrays_of_other_types():
    B = broken("indices", A.indices.astype(np.float32))
    with pytest.raises(TypeError, match="must hold integers"):
        sm.structural_rank(B, method=METHOD)
    B = broken("indptr", A.indptr.astype(np.int64))
    assert sm.maximum_transversal(B, method=METHOD).row_mate.dtype == np.int64


def test_coordinates_out_of_range():
    B = to_gpu(sp.coo_array(A))
    B.row = CUPY.asarray(np.r_[B.row.get()[:-1], 99].astype(np.int32))
    with pytest.raises(ValueError, match=r"row\[\d+\] is 99"):
        sm.structural_rank(B, method=METHOD)


def test_no_cupy(monkeypatch):
    """Without CuPy a call that asks for a GPU says what to install."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match="pip install cupy-cuda12x"):
        sm.maximum_transversal(sm.view(A, device="cuda"))


def test_no_gpu(monkeypatch):
    runtime = CUPY.cuda.runtime

    def no_driver():
        raise runtime.CUDARuntimeError(35)

    monkeypatch.setattr(runtime, "getDeviceCount", no_driver)
    with pytest.raises(RuntimeError, match="driver"):
        arrays.import_cupy()
    monkeypatch.setattr(runtime, "getDeviceCount", lambda: 0)
    with pytest.raises(RuntimeError, match="has none"):
        sm.maximum_transversal(sm.view(A, device="cuda"))


def test_out_of_memory_says_what_helps(monkeypatch):
    def full(*_, **__):
        raise gpu_calls.OutOfMemoryError("Out of memory allocating 1 byte")

    B = to_gpu(random_matrix(50, 50, 3, seed=1))
    before = [x.get() for x in (B.data, B.indices, B.indptr)]
    monkeypatch.setattr("sparsematch._engines.cuda.core.compile.load", full)
    with pytest.raises(MemoryError) as caught:
        sm.maximum_transversal(B, method="ms_bfs", init="none")
    assert "free_all_blocks" in caught.value.__notes__[0]
    assert all(
        np.array_equal(x.get(), y)
        for x, y in zip((B.data, B.indices, B.indptr), before, strict=True)
    )


# Large enough that several threads meet: many rows after few columns, hubs, long paths.
BUSY = {
    "random": lambda: random_matrix(4_000, 3_800, 3, seed=211),
    "grid": lambda: scrambled(grid(60), seed=223),
    "natural_grid": lambda: grid(60),
    "tall": lambda: random_matrix(6_000, 70, 2, seed=227),
    "wide": lambda: random_matrix(300, 5_000, 12, seed=229),
    "hub": lambda: sp.vstack(
        [sp.csr_array(np.ones((2, 9_000))), random_matrix(8_998, 9_000, 2, 43)], format="csr"
    ),
}


@pytest.mark.every_backend
@pytest.mark.parametrize("case", BUSY)
def test_the_same_graph_again_and_again(exact, case):
    """No answer depends on which thread comes first."""
    if exact.backend == "numpy":
        pytest.skip("other tests are about the engines for matrices in host memory")
    B = BUSY[case]()
    rank = sm.structural_rank(B)
    for _ in range(50 if HAS_GPU else 5):
        certify(B, solve(B, exact)[0], rank)


@pytest.mark.skipif(not HAS_GPU, reason="a stream needs a GPU")
def test_the_current_stream_is_used():
    """What is enqueued before on the stream is seen, though nobody waited for it."""
    A = scrambled(grid(300), seed=223)
    B = to_gpu(A)
    indices = B.indices.copy()
    with CUPY.cuda.Stream(non_blocking=True) as stream:
        B.indices = CUPY.zeros_like(indices)
        for _ in range(100):
            B.indices[:] = 0
        B.indices[:] = indices
        m = sm.maximum_transversal(B)
        stream.synchronize()
    certify(A, m.get(), 300 * 300)


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


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_arrays_and_tensors_on_the_device(form):
    A = random_matrix(60, 50, 2, seed=6).asformat(form)
    B = to_gpu(A)
    arrays = Foreign(B.indptr), Foreign(B.indices)
    pattern = sm.BipartiteCSR.from_arrays(*arrays, A.shape, layout=form)
    assert pattern.indices.data.ptr == B.indices.data.ptr
    for array in (pattern, SparseTensor(B)):
        with one_call:
            matching = sm.maximum_transversal(array)
            form_of = sm.block_triangular_form(array)
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
