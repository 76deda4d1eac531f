"""Stored zeros: entries, unless a call drops them; then as if they had never been stored."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag

import gpu_calls
import sparsematch as sm
from foreign import SparseTensor
from sparsematch._input.bipartite import read_entries

pytestmark = pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")

#: QRMumps.jl, issue 103: 13 of the 30 entries are zero. MATLAB's sprank, which has none, is 5.
ROWS = [0, 5, 1, 6, 1, 7, 1, 8, 1, 4, 9, 1, 4, 10, 1, 2, 11, 2, 12, 2, 13, 4, 14, 2, 3, 15, 3]
ROWS += [16, 3, 17]
COLS = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 10, 11]
COLS += [11, 12, 12]
IS_ZERO = np.array(ROWS) > 4
VALUES = np.where(IS_ZERO, 0, np.linspace(-7, 16, 30))
HIDDEN = sp.coo_array((VALUES, (ROWS, COLS)), shape=(18, 13))

FORMATS = ["bsr", "coo", "csc", "csr", "dok", "lil"]  # dia stores zeros, which SciPy never converts
DTYPES = [np.float64, np.float32, np.complex128, np.longdouble, np.int64, np.int8, np.uint8, bool]


def count_stored_zeros(A):
    """The places whose value is zero."""
    return read_entries(A).without_zeros()[1]


def glued(blocks, rng):
    """Diagonal blocks, and stored zeros that make one block of them."""
    A = sp.coo_array(block_diag(*blocks))
    n = A.shape[0]
    rows, cols = rng.integers(0, n, (2, 2 * n))
    data = np.concatenate([A.data, np.zeros(2 * n)])
    return sp.csc_array((data, (np.r_[A.row, rows], np.r_[A.col, cols])), shape=(n, n))


def raw(dense, pattern, dtype=np.int32):
    """A csr_array of these values where the pattern is, zeros too."""
    rows, cols = np.nonzero(pattern)
    indptr = np.searchsorted(rows, np.arange(pattern.shape[0] + 1)).astype(dtype)
    A = sp.csr_array(pattern.shape, dtype=np.asarray(dense).dtype)
    A.indptr, A.indices, A.data = indptr, cols.astype(dtype), np.asarray(dense)[rows, cols]
    return A


def repeated(rng, shape, n, dtype=np.int32):
    """A csr_array of few different values in unsorted rows, with duplicates that may cancel."""
    rows, cols = np.sort(rng.integers(0, shape[0], n)), rng.integers(0, shape[1], n)
    A = sp.csr_array(shape)
    A.indptr = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(dtype)
    A.indices, A.data = cols.astype(dtype), rng.choice([-1.0, 0.0, 0.0, 1.0], n)
    return A


def without_zeros(A):
    """A copy in which no zero is stored, by SciPy."""
    B = A.tocsr(copy=True)
    B.sum_duplicates()
    B.eliminate_zeros()
    return B


def dropped(A):
    return sm.view(A, zeros="drop")


# Every call that reads a pattern, with whatever else it needs; what it answers as plain values.
CALLS = {
    "maximum_transversal": lambda A, _: sm.maximum_transversal(A).cardinality,
    "structural_rank": lambda A, _: sm.structural_rank(A),
    "is_structurally_singular": lambda A, _: sm.is_structurally_singular(A),
    "block_triangular_form": lambda A, _: _sizes(sm.block_triangular_form(A)),
    "is_reducible": lambda A, _: sm.is_reducible(A),
    "connected_components": lambda A, _: sm.connected_components(A).row_labels.tolist(),
    "coarse_dulmage_mendelsohn": lambda A, _: _parts(sm.coarse_dulmage_mendelsohn(A)),
    "is_block_form": lambda A, form: sm.is_block_form(A, form),
    "is_matching": lambda A, form: sm.is_matching(A, form.matching),
    "is_maximal": lambda A, form: sm.is_maximal(A, form.matching),
    "is_maximum": lambda A, form: sm.is_maximum(A, form.matching),
    "vertex_cover": lambda A, form: [x.tolist() for x in sm.vertex_cover(A, form.matching)],
}


def _sizes(form):
    """Sizes of the parts, and of the blocks, whose order may depend on the matching."""
    blocks = zip(np.diff(form.row_blocks).tolist(), np.diff(form.col_blocks).tolist(), strict=True)
    return form.coarse_rows.tolist(), form.coarse_cols.tolist(), sorted(blocks)


def _parts(parts):
    return parts.row_part.tolist(), parts.col_part.tolist()


def answers(A, form):
    return {name: call(A, form) for name, call in CALLS.items()}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_zeros_that_hide_a_rank(form, kind):
    A = getattr(sp, f"{form}_{kind}")(HIDDEN)
    before = A.copy()
    if form in ("csr", "csc", "coo"):
        assert sm.structural_rank(dropped(SparseTensor(A))) == 5
    assert sm.structural_rank(A) == sm.structural_rank(sm.view(A)) == 13
    assert sm.structural_rank(dropped(A)) == 5
    assert sm.coarse_dulmage_mendelsohn(dropped(A)).sizes[2] == (13, 0)
    assert count_stored_zeros(A) == IS_ZERO.sum() + (form == "bsr") * (A.nnz - 30)
    assert A.nnz == before.nnz
    assert np.array_equal(A.toarray(), before.toarray())


def test_zeros_that_glue_blocks():
    A = glued([np.ones((5, 5))] * 12, np.random.default_rng(0))
    assert sm.block_triangular_form(A).n_blocks == 1
    form = sm.block_triangular_form(dropped(A))
    assert form.n_blocks == sm.connected_components(dropped(A)).n_components == 12
    assert sm.is_block_form(dropped(A), form)
    assert not sm.is_block_form(A, form)
    permuted = form.permute(A)
    assert permuted.nnz == A.nnz
    assert form.permute(without_zeros(A)).nnz == (permuted.toarray() != 0).sum() == 300


def test_all_small_matrices():
    """Each place of 3 by 3 empty, zero or one, in any rows: as SciPy's eliminate_zeros has it."""
    rows = itertools.product((0, 1, 2), repeat=3)
    for kinds in itertools.combinations_with_replacement(rows, 3):
        kinds = np.array(kinds)
        A = raw((kinds == 2).astype(float), kinds > 0)
        found = sm.maximum_transversal(dropped(A))
        A.eliminate_zeros()
        assert found == sm.maximum_transversal(A)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_every_call_is_that_of_the_matrix_without_zeros(dtype):
    rng = np.random.default_rng(7)
    for _ in range(30):
        shape = tuple(rng.integers(1, 9, 2).tolist())
        A = repeated(rng, shape, int(rng.integers(0, 30)), dtype)
        before = A.copy()
        B = without_zeros(A)
        form = sm.block_triangular_form(B)
        expected = {kept: answers(B.asformat(kept), form) for kept in ("csr", "csc")}
        for same in (A, A.tocsc(), A.T.tocsc().T, A.tocoo(copy=True), A.copy().tolil()):
            kept = "csc" if same.format == "csc" else "csr"
            assert answers(dropped(same), form) == expected[kept]
            assert count_stored_zeros(same) == len(_places(A)) - B.nnz
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(A, name), getattr(before, name))
        assert sm.maximum_transversal(dropped(A)).row_mate.dtype == dtype


def _places(A):
    coo = A.tocoo()
    return set(zip(coo.row.tolist(), coo.col.tolist(), strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_values(dtype):
    A = raw(np.eye(4, dtype=dtype), np.ones((4, 4)))
    assert sm.connected_components(dropped(A)).n_components == 4
    assert count_stored_zeros(A) == 12


def test_values_that_are_zero_and_that_are_not():
    for value in (-0.0, 0j, complex(-0.0, 0.0)):
        A = raw([[value, 1.0]], np.ones((1, 2)))
        assert sm.maximum_transversal(dropped(A)).row_mate.tolist() == [1]
    assert sm.structural_rank(dropped(sp.dia_array(([[1.0, 0, 2]], [0]), shape=(3, 3)))) == 2
    for value in (np.nan, np.inf, 5e-324, 1e-200j, complex(0, np.nan), complex(0, -5e-324)):
        A = raw([[value], [0]], np.ones((2, 1)))
        assert sm.maximum_transversal(dropped(A)).row_mate.tolist() == [0, -1]


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_entries_in_one_place_are_added_up(form):
    """As ``toarray`` does: in the arithmetic of their type, which wraps around."""
    cases = [([1.0, -1.0], 0), ([1.0, 0.0], 1), ([1j, -1j], 0), ([True, True], 1)]
    cases += [(np.uint8([200, 56]), 0), (np.int64([2**53 + 1, -(2**53)]), 1), ([np.nan, 1.0], 1)]
    for values, rank in cases:
        A = form((1, 1), dtype=np.asarray(values).dtype)
        A.data, both = np.asarray(values), np.zeros(2, np.int32)
        if form is sp.coo_array:
            A.coords = both, both
        else:
            A.indices, A.indptr = both, np.array([0, 2], np.int32)
        assert sm.structural_rank(dropped(A)) == rank
        assert count_stored_zeros(A) == 1 - rank
        assert A.nnz == 2


def test_what_lies_behind_the_last_entry_is_not_read():
    A = raw([[1.0, 0.0]], np.ones((1, 2)))
    A.indices, A.data = np.array([0, 1, 99], np.int32), np.array([1.0, 0.0, 0.0])
    assert sm.connected_components(dropped(A)).n_components == 2
    assert count_stored_zeros(A) == 1


def test_a_matching_of_a_stored_zero_is_none():
    A = raw(np.eye(2), np.ones((2, 2)))
    crossed = np.array([1, 0])
    for name, call in (
        ("initial", lambda: sm.maximum_transversal(dropped(A), initial=crossed)),
        ("matching", lambda: sm.block_triangular_form(dropped(A), matching=crossed)),
        ("matching", lambda: sm.is_maximum(dropped(A), crossed)),
    ):
        with pytest.raises(ValueError, match=rf"{name} is not a matching .* A\[0, 1\]"):
            call()
    assert sm.is_maximum(A, crossed)
    assert not sm.is_matching(dropped(A), crossed)


def test_wrong_arguments():
    A = raw(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="zeros is 'remove', but must be one of 'keep', "):
        sm.view(A, zeros="remove")
    for value in (None, True, ["drop"]):
        with pytest.raises(TypeError, match="zeros must be a string, one of 'keep', 'drop'"):
            sm.view(A, zeros=value)


@pytest.mark.parametrize("name", CALLS)
def test_patterns_have_no_zeros_to_drop(name):
    A = raw(np.eye(2), np.eye(2))
    pattern = sm.BipartiteCSR.from_arrays(A.indptr, A.indices, A.shape)
    form = sm.block_triangular_form(sm.view(pattern))
    with pytest.raises(ValueError, match="A has no values"):
        CALLS[name](dropped(pattern), form)
    with pytest.raises(ValueError, match="A has no values"):
        count_stored_zeros(pattern)


def test_calls_with_values_leave_zeros_out_as_well():
    """Where they would count; a view of a view is both, and what it holds may change."""
    A = raw([[2.0, 0.0], [0.0, 3.0]], np.ones((2, 2)))
    assert sm.maximum_weight_matching(A, maximize=False, cardinality="maximum").weight == 0
    with_views = sm.maximum_weight_matching(dropped(A), maximize=False, cardinality="maximum")
    assert with_views.weight == 5
    assert sm.maximal_matching(A).cardinality == 1
    assert sm.maximal_matching(dropped(A)).cardinality == 0
    view = sm.view(dropped(A), zeros="keep")
    assert view.shape == A.shape
    form = sm.block_triangular_form(view)
    assert (form.permute(view).nnz, form.permute(A).nnz) == (2, 4)
    assert sm.linalg.splu(view).nnz == sm.solvers.splu(view).nnz == 2
    A.data[:] = 1
    assert sm.block_triangular_form(view).n_blocks == 1
    assert "zeros='drop'" in repr(view)


def test_broken_values():
    A = raw(np.eye(2), np.ones((2, 2)))
    A.data = A.data[:3]
    assert sm.structural_rank(A) == 2
    with pytest.raises(ValueError, match=r"A.data has shape \(3,\), but there are 4 entries"):
        sm.structural_rank(dropped(A))
    A.data = np.array(list("abcd"))
    with pytest.raises(TypeError, match=r"A.data must hold numbers, not <U1"):
        sm.structural_rank(dropped(A))


@pytest.mark.kernels
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_on_a_gpu(form):
    rng = np.random.default_rng(11)
    cases = [HIDDEN, glued([np.ones((3, 3))] * 6, rng), repeated(rng, (30, 40), 90)]
    cases += [sp.csr_array((3, 0)), HIDDEN.astype(np.complex64) * 1j, HIDDEN.astype(np.float32)]
    for A in cases:
        A = A.asformat(form)
        B = without_zeros(A)
        there = gpu_calls.values_to_gpu(A)
        with gpu_calls.one_call:
            found = sm.maximum_transversal(dropped(there))
            labels = sm.connected_components(dropped(there)).row_labels
            assert isinstance(found.row_mate, gpu_calls.CUPY.ndarray)
        mates = tuple(map(gpu_calls.host, (found.row_mate, found.col_mate)))
        assert sm.is_maximum(B, mates)
        assert gpu_calls.host(labels).tolist() == sm.connected_components(B).row_labels.tolist()
        assert count_stored_zeros(there) == len(_places(A)) - B.nnz
        assert there.nnz == A.nnz


@pytest.mark.kernels
def test_host_matrix_on_a_gpu():
    with gpu_calls.one_call:
        there = sm.view(dropped(HIDDEN), device="cuda")
        assert sm.structural_rank(there) == 5
        assert sm.maximum_sum_transversal(there).cardinality == 5
        mates = sm.maximum_transversal(HIDDEN).row_mate
        assert sm.is_matching(sm.view(HIDDEN, device="cuda"), mates)
        assert not sm.is_matching(there, mates)
    with pytest.raises(TypeError, match="A is viewed on a GPU"):
        sm.maximum_weight_matching(there)


def test_over_one_rank():
    """The checks of several ranks have more."""
    A = sm.DistributedCSR.from_local(None, sp.csr_array(HIDDEN))
    assert (sm.structural_rank(A), sm.structural_rank(dropped(A))) == (13, 5)
    assert sm.coarse_dulmage_mendelsohn(dropped(A)).sizes[2] == (13, 0)
    matching = sm.maximum_transversal(dropped(A))
    assert sm.is_maximum(dropped(A), matching)
    assert not sm.is_maximum(A, matching)
    bare = sm.DistributedCSR(None, A.indptr, A.indices, 0, A.shape)
    with pytest.raises(ValueError, match="A has no values"):
        sm.structural_rank(dropped(bare))


def test_repeated_entries_are_added_up_whether_or_not_one_is_zero():
    for values in ([1.0, 1, 2], [1.0, 1, 0]):
        A = sp.csr_array((np.array(values), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
        dropped = sm.view(A, zeros="drop")
        assert sm.entry_roles(dropped).size == dropped.read().nnz == 1 + (values[2] != 0)
        assert sm.explain_singularity(A).rank_without_zeros == (None if values[2] else 1)
