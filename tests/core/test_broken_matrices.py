"""Matrices whose arrays were broken after they were made: an error, or the right result.

Were one not checked before SciPy's compiled code reads it, the process would end.
"""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import sparsematch as sm
from broken import BAD, CALLS, COMPRESSED, FORM, OTHERS, A, N, copied, put, replaced
from sparsematch import solvers


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("defect", [*COMPRESSED, *OTHERS])
def test_a_broken_matrix_is_refused(defect):
    make = {**COMPRESSED, **OTHERS}[defect]
    for name, call in CALLS.items():
        with pytest.raises((TypeError, ValueError)) as caught:
            call(make())
        assert str(caught.value), name


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", ["spy_blocks", "spy_conflicts"])
@pytest.mark.parametrize("defect", ["coo row too large", "bsr index too large"])
def test_a_broken_matrix_is_not_drawn(defect, name):
    draw = getattr(pytest.importorskip("sparsematch.plot"), name)
    what = {"form": FORM} if name == "spy_blocks" else {"why": sm.explain_singularity(A)}
    with pytest.raises(ValueError, match="is 100000000, "):
        draw({**COMPRESSED, **OTHERS}[defect](), **what)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_patterns_have_no_values(form):
    """What reads the pattern alone does not mind that there are too few values."""
    B = replaced(form, "data", lambda x: x[:3])()
    assert sm.block_triangular_form(B) == sm.block_triangular_form(A.asformat(form))
    weighted = "maximum_product_transversal", "maximum_sum_transversal", "bottleneck_transversal"
    for call in (*weighted, "splu", "permute", "scale", "spilu", "coarsen"):
        with pytest.raises(ValueError, match=r"\.data has shape \(3,\), but there are"):
            CALLS[call](B)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("tail", [0, -7, BAD])
@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_arrays_may_be_longer_than_the_entries(form, tail):
    B = copied(form)
    clean = B.copy()
    B.indices = np.concatenate([B.indices, np.full(10**5, tail, B.indices.dtype)])
    B.data = np.concatenate([B.data, np.full((10**5, *B.data.shape[1:]), np.nan)])
    given = copy.copy(B)
    for call in ("permute", "scale", "permute, weighted", "compress", "permute, symmetric"):
        np.testing.assert_array_equal(CALLS[call](B).toarray(), CALLS[call](clean).toarray())
    assert (CALLS["from_local"](B).to_local() != A).nnz == 0
    # the arrays are longer than those that the transpose is factorised of at once
    np.testing.assert_allclose(CALLS["spsolve"](B), CALLS["spsolve"](clean), rtol=1e-13)
    np.testing.assert_allclose(CALLS["right-hand sides"](B).toarray(), np.eye(N), atol=1e-12)
    assert B.indices is given.indices, "what was given is as it was"


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_diagonals_outside_are_no_entries():
    B = sp.diags_array([np.ones(N), np.ones(N)], offsets=[0, 1], shape=(N, N)).todia()
    B.offsets = np.array([0, 2**40])
    assert sm.structural_rank(B) == N
    np.testing.assert_array_equal(
        FORM.permute(B).toarray(), np.eye(N)[FORM.row_perm][:, FORM.col_perm]
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint64", ">i4", ">i8"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_index_arrays_of_any_integers(form, dtype):
    """Also read-only ones, and those with gaps between their elements."""
    B = copied(form)
    for field in ("row", "col") if form == "coo" else ("indptr", "indices"):
        array = np.repeat(getattr(B, field).astype(dtype), 2)[::2]
        array.flags.writeable = False
        put(B, field, array)
    np.testing.assert_array_equal(FORM.permute(B).toarray(), FORM.permute(A).toarray())
    np.testing.assert_allclose(CALLS["spsolve"](B), CALLS["spsolve"](A))
    assert sm.structural_rank(B) == N


@pytest.mark.kernels
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_broken_matrix_on_a_gpu(form):
    form_there = sm.block_triangular_form(gpu_calls.values_to_gpu(sp.csr_matrix(A)))
    fields = ("row", "col", "data") if form == "coo" else ("indptr", "indices", "data")
    for field in fields:
        B = gpu_calls.values_to_gpu(sp.csr_matrix(A).asformat(form))
        setattr(B, field, getattr(B, field)[:3])
        for call in (form_there.permute, solvers.splu, sm.structural_rank)[: 2 + (field != "data")]:
            with pytest.raises(ValueError, match=rf"A\.({'|'.join(fields)})"):
                call(B)
