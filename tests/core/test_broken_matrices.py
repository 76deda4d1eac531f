"""Matrices whose arrays were broken after they were made: an error, or the right result.

Were one not checked before SciPy's compiled code reads it, the process would end.
"""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import sparsematch as sm
from sparsematch import csgraph, solvers

N = 12


def symmetric():
    """A matrix with a full diagonal, strongly connected."""
    B = sp.random_array((N, N), density=0.2, rng=np.random.default_rng(3), format="csr")
    A = sp.csr_array(B + B.T + sp.diags_array([1.0, 9.0, 1.0], offsets=[-1, 0, 1], shape=(N, N)))
    A.data[:] = A.data.round(3)
    return A


A = symmetric()
MATE, COARSE = sm.maximum_transversal(A), sm.approximate_matching(A)
FORM, WEIGHTED = sm.block_triangular_form(A), sm.maximum_product_transversal(A)
BAD = 10**8


def copied(form):
    return A.tobsr((2, 2)) if form == "bsr" else A.asformat(form, copy=True)


def overwritten(form, field, place, value):
    def make():
        B = copied(form)
        array = getattr(B, field).copy()
        array[place] = value
        _put(B, field, array)
        return B

    return make


def replaced(form, field, change):
    def make():
        B = copied(form)
        _put(B, field, change(getattr(B, field)))
        return B

    return make


def _put(B, field, value):
    if field in ("row", "col"):
        B.coords = (value, B.col) if field == "row" else (B.row, value)
    else:
        setattr(B, field, value)


def reshaped(form, shape):
    return replaced(form, "_shape", lambda _: shape)


def with_key(key):
    def make():
        B = A.todok()
        B._dict[key] = 1.0
        return B

    return make


COMPRESSED = {
    f"{form} {name}": make(form)
    for form in ("csr", "csc", "bsr")
    for name, make in {
        "index too large": lambda f: overwritten(f, "indices", 3, BAD),
        "index negative": lambda f: overwritten(f, "indices", 3, -BAD),
        "indptr rises beyond": lambda f: overwritten(f, "indptr", 2, BAD),
        "indptr negative": lambda f: overwritten(f, "indptr", 2, -BAD),
        "indptr ends beyond": lambda f: overwritten(f, "indptr", -1, BAD),
        "indptr ends below": lambda f: overwritten(f, "indptr", -1, -5),
        "indptr short": lambda f: replaced(f, "indptr", lambda x: x[:-2]),
        "indptr empty": lambda f: replaced(f, "indptr", lambda x: x[:0]),
        "indptr in two dimensions": lambda f: replaced(f, "indptr", lambda x: x[None]),
        "indices short": lambda f: replaced(f, "indices", lambda x: x[:3]),
        "indices of floats": lambda f: replaced(f, "indices", lambda x: x + 0.5),
        "indices of objects": lambda f: replaced(f, "indices", lambda x: x.astype(object)),
        "indices a list": lambda f: replaced(f, "indices", list),
        "large unsigned": lambda f: replaced(f, "indices", lambda x: x.astype(np.uint64) - 99),
        "shape narrow": lambda f: reshaped(f, (N, 2) if f != "csc" else (2, N)),
        "shape negative": lambda f: reshaped(f, (-1, N)),
        "shape tall": lambda f: reshaped(f, (10**9, N) if f != "csc" else (N, 10**9)),
    }.items()
}
OTHERS = {
    "bsr data short": replaced("bsr", "data", lambda x: x[:3]),
    "bsr blocks that do not divide": replaced("bsr", "data", lambda x: np.ones((len(x), 5, 5))),
    "bsr blocks of nothing": replaced("bsr", "data", lambda x: x[:, :0]),
    "coo row too large": overwritten("coo", "row", 3, BAD),
    "coo col too large": overwritten("coo", "col", 3, BAD),
    "coo row negative": overwritten("coo", "row", 3, -BAD),
    "coo col negative": overwritten("coo", "col", 3, -1),
    "coo row short": replaced("coo", "row", lambda x: x[:3]),
    "coo data short": replaced("coo", "data", lambda x: x[:3]),
    "coo data in two dimensions": replaced("coo", "data", lambda x: x[None]),
    "coo row of floats": replaced("coo", "row", lambda x: x * np.nan),
    "coo one side only": replaced("coo", "coords", lambda x: x[:1]),
    "dia data in one dimension": replaced("dia", "data", np.ravel),
    "dia data of few diagonals": replaced("dia", "data", lambda x: x[:1]),
    "dia offset twice": replaced("dia", "offsets", lambda x: x * 0),
    "dia offsets of floats": replaced("dia", "offsets", lambda x: x + 0.5),
    "lil index too large": overwritten("lil", "rows", 3, [BAD]),
    "lil more values": overwritten("lil", "data", 3, [1.0] * 10**4),
    "lil more rows": replaced("lil", "rows", lambda x: np.concatenate([x, x])),
    "lil no list": overwritten("lil", "rows", 3, 7),
    "lil no integer": replaced("lil", "rows", lambda x: np.array([[0.5]] * N, object)),
    "dok row too large": with_key((BAD, 3)),
    "dok col negative": with_key((3, -1)),
    "dok three indices": with_key((1, 2, 3)),
    "dok beyond 64 bits": with_key((2**70, 0)),
}

#: Whatever reads a matrix; the last three read its values too.
CALLS = {
    "structural_rank": sm.structural_rank,
    "block_triangular_form": sm.block_triangular_form,
    "connected_components": sm.connected_components,
    "is_maximal": lambda B: sm.is_maximal(B, MATE),
    "explain_singularity": sm.explain_singularity,
    "maximal_matching": sm.maximal_matching,
    "csgraph": csgraph.maximum_bipartite_matching,
    "analyse": solvers.analyse,
    "from_local": lambda B: sm.DistributedCSR.from_local(None, B),
    "maximum_product_transversal": sm.maximum_product_transversal,
    "is_optimal_transversal": lambda B: sm.is_optimal_transversal(B, WEIGHTED),
    "approximate_matching": lambda B: sm.approximate_matching(B, symmetrize=True),
    "coarsen": lambda B: sm.coarsen(B, COARSE),
    "coarsening_hierarchy": lambda B: sm.coarsening_hierarchy(B, min_vertices=2),
    "csgraph, weighted": csgraph.min_weight_full_bipartite_matching,
    "splu": solvers.splu,
    "spsolve": lambda B: solvers.spsolve(B, np.ones(N)),
    "right-hand sides": lambda B: solvers.spsolve(A, B),
    "spilu": solvers.spilu,
    "permute": FORM.permute,
    "scale": WEIGHTED.scale,
    "permute, weighted": WEIGHTED.permute,
    "hierarchy of one level": lambda B: sm.coarsening_hierarchy(B, min_vertices=N).prolongation(),
}
CALLS |= {
    f"refactorise {form}": solvers.splu(A.asformat(form)).refactorise for form in ("csr", "coo")
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("defect", [*COMPRESSED, *OTHERS])
def test_a_broken_matrix_is_refused(defect, tmp_path):
    make = {**COMPRESSED, **OTHERS}[defect]
    calls = {**CALLS, "write": lambda B: sm.write_edge_file(tmp_path / "a.npy", B)}
    for name, call in calls.items():
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
    for call in ("maximum_product_transversal", "splu", "permute", "scale", "spilu", "coarsen"):
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
    for call in ("permute", "scale", "permute, weighted"):
        np.testing.assert_array_equal(CALLS[call](B).toarray(), CALLS[call](clean).toarray())
    assert (CALLS["from_local"](B).to_local() != A).nnz == 0
    np.testing.assert_array_equal(CALLS["spsolve"](B), CALLS["spsolve"](clean))
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
        _put(B, field, array)
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
