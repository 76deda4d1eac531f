"""Matrices of other libraries in every call: stand-ins, and the libraries where they are there."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import broken
import sparsematch as sm
from foreign import DM, SX, Bcoo, Bcsr, Foreign, SparseTensor, Sparsity, Spmatrix, block_columns
from sparsematch import solvers
from sparsematch._input.foreign import from_other_library
from strategies import matrices

STAND_INS = {
    "tensor csr": lambda A: SparseTensor(A.tocsr()),
    "tensor csc": lambda A: SparseTensor(A.tocsc()),
    "tensor coo": lambda A: SparseTensor(A.tocoo()),
    "tensor bsr": lambda A: SparseTensor(A.tobsr((1, 1))),
    "tensor bsc": lambda A: block_columns(A, (1, 1)),
    "bcoo": Bcoo,
    "bcoo, padded": lambda A: Bcoo(A, 3),
    "bcsr": Bcsr,
    "bcsr, padded": lambda A: Bcsr(A, 3),
    "spmatrix": Spmatrix,
    "casadi": DM,
    "triple": lambda A: (A.tocoo().data, A.tocoo().coords),
    "triple of lists": lambda A: (A.tocoo().data.tolist(), [x.tolist() for x in A.tocoo().coords]),
}


def from_torch(A, layout):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sparse tensors are in beta state
        return getattr(torch.tensor(A.toarray()), f"to_sparse_{layout[0]}")(*layout[1:])


def from_jax(A, kind, padding):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    from jax.experimental import sparse

    array = sparse.BCOO.fromdense(A.toarray(), nse=A.nnz + padding)
    return array if kind == "BCOO" else sparse.BCSR.from_bcoo(array)


def from_triplets(A, package):
    A = A.tocoo()
    spmatrix = pytest.importorskip(package).spmatrix
    return spmatrix(A.data.tolist(), A.row.tolist(), A.col.tolist(), A.shape)


def from_lists(A, values=True):
    casadi, A = pytest.importorskip("casadi"), A.tocsc()
    S = casadi.Sparsity(*A.shape, A.indptr.tolist(), A.indices.tolist())
    return casadi.DM(S, A.data.tolist()) if values else S


LIBRARIES = {
    "torch csr": lambda A: from_torch(A, ["csr"]),
    "torch csc": lambda A: from_torch(A, ["csc"]),
    "torch coo": lambda A: from_torch(A, ["coo"]),
    "torch csr, gradients": lambda A: from_torch(A, ["csr"]).requires_grad_(),
    "torch bsr": lambda A: from_torch(A, ["bsr", (1, 1)]),
    "torch bsc": lambda A: from_torch(A, ["bsc", (1, 1)]),
    "jax BCOO": lambda A: from_jax(A, "BCOO", 0),
    "jax BCOO, padded": lambda A: from_jax(A, "BCOO", 5),
    "jax BCSR": lambda A: from_jax(A, "BCSR", 0),
    "jax BCSR, padded": lambda A: from_jax(A, "BCSR", 5),
    "cvxopt": lambda A: from_triplets(A, "cvxopt"),
    "kvxopt": lambda A: from_triplets(A, "kvxopt"),
    "casadi, library": from_lists,
    "pydata": lambda A: pytest.importorskip("sparse").COO.from_scipy_sparse(A),
}
BLOCKS = "tensor bsr", "tensor bsc", "torch bsr", "torch bsc"


def dense(found):
    """What two results must agree in."""
    if sp.issparse(found):
        return found.toarray()
    if isinstance(found, solvers.BlockTriangularLU | solvers.TransversalILU):
        return found.solve(np.ones(found.shape[0]))
    if isinstance(found, tuple) and not hasattr(found, "shape"):
        return [dense(part) for part in found]
    return found


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray):
        assert np.allclose(found, expected, rtol=1e-10, atol=1e-13)
    elif isinstance(expected, int | sm.BlockForm | sm.Matching):
        assert found == expected
    else:
        assert repr(found) == repr(expected)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("kind", [*STAND_INS, *LIBRARIES])
def test_every_call_takes_it(kind):
    foreign = (STAND_INS | LIBRARIES)[kind](broken.A)
    for name, call in broken.CALLS.items():
        if name.startswith("refactorise") or (name.startswith("csgraph") and kind in BLOCKS):
            continue  # which want one format
        assert_same(dense(call(foreign)), dense(call(broken.A)))


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@given(matrices(), st.sampled_from(list(STAND_INS)))
def test_any_shape(A, kind):
    A = sp.csr_array(A.toarray())  # without duplicates
    if "triple" in kind and not (A.nnz and A.toarray()[-1].any() and A.toarray()[:, -1].any()):
        return  # it has no sides of its own
    if 0 in A.shape and kind in BLOCKS:
        return  # SciPy has no blocks there
    foreign = STAND_INS[kind](A)
    assert sm.structural_rank(foreign) == sm.structural_rank(A)
    assert np.array_equal(
        sm.block_triangular_form(A).permute(foreign).toarray(),
        sm.block_triangular_form(A).permute(A).toarray(),
    )


def test_blocks_of_tensors():
    A = sp.csr_array(np.kron([[2.0, 1, 0], [0, 3, 1], [1, 0, 4]], [[1.0, 2, 0], [0, 1, 1]]))
    b = SparseTensor(A.tobsr((2, 3))), block_columns(A, (2, 3))
    with pytest.warns(sp.SparseEfficiencyWarning):
        assert [sm.structural_rank(B) for B in b] == [sm.structural_rank(A)] * 2
    for B in b:
        assert np.array_equal(
            sm.block_triangular_form(A).permute(B).toarray(),
            sm.block_triangular_form(A).permute(A).toarray(),
        )


def test_matrices_of_one_shape_share_nothing():
    """They are copies of one that has no arrays."""
    one, two = (from_other_library(Spmatrix(k * sp.eye_array(3, format="csc"))) for k in (1, 2))
    assert (one.data == 1).all()
    assert (two.data == 2).all()
    assert not np.shares_memory(one.indptr, two.indptr)


@pytest.mark.parametrize("kind", ["tensor csr", "bcsr", "torch csr", "jax BCSR"])
def test_new_values_and_right_hand_sides(kind):
    A = sp.csr_array([[4.0, 1, 0], [0, 2, 1], [1, 0, 3]])
    foreign = (STAND_INS | LIBRARIES)[kind](A)
    lu = solvers.splu(A)
    lu.refactorise(foreign)
    values = foreign.data if hasattr(foreign, "n_batch") else foreign.values()
    lu.refactorise(values)
    assert np.allclose(lu.solve(A @ np.ones(3)), 1)
    analysis = solvers.analyse(foreign)
    assert np.allclose(analysis.factorise(values).solve(A @ np.ones(3)), 1)
    with pytest.raises(ValueError, match=r"values, has shape \(2,\)"):
        lu.refactorise(Foreign(np.ones(2)))


def test_a_pattern_of_casadi_has_no_values():
    A = sp.csc_array([[0.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    for S in (Sparsity(A), DM(A)):
        assert sm.block_triangular_form(S) == sm.block_triangular_form(A)
        assert sm.structural_rank(S) == 3
    with pytest.raises(TypeError, match="must be"):
        solvers.splu(Sparsity(A))
    with pytest.raises(
        TypeError, match=r"DM; A.sparsity\(\) is the pattern of any, not foreign.SX"
    ):
        sm.structural_rank(SX(A))


@given(matrices())
def test_casadis_form_is_lower_triangular(A):
    form, dense = sm.block_triangular_form(A), A.toarray() != 0
    n_blocks, p, q, r, s, coarse_rows, coarse_cols = form.to_casadi()
    assert n_blocks == form.n_blocks
    below = dense[p][:, q]
    for k in range(n_blocks):
        assert not below[: r[k + 1], s[k + 1] :].any()
    n_rows, n_cols = A.shape
    assert (r[0], r[-1], s[0], s[-1]) == (0, n_rows, 0, n_cols)
    for bounds, size in ((coarse_rows, n_rows), (coarse_cols, n_cols)):
        assert len(bounds) == 5
        assert (bounds[0], bounds[-1]) == (0, size)


def test_casadi_agrees():
    pytest.importorskip("casadi")
    rng = np.random.default_rng(2)
    for _ in range(50):
        shape = tuple(rng.integers(1, 12, 2))
        A = sp.csc_array(sp.random_array(shape, density=rng.uniform(0.1, 0.5), rng=rng))
        S = from_lists(A, values=False)
        expected, found = S.btf(), sm.block_triangular_form(S).to_casadi()
        assert found[0] == expected[0]
        assert found[5:] == expected[5:]
        sizes = [
            sorted(zip(np.diff(r), np.diff(s), strict=True)) for *_, r, s, _, _ in (found, expected)
        ]
        assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (([1.0, 2.0], ([0, 5], [0, -1])), "negative"),
        (([1.0], ([0, 1], [0, 1])), "all index and data arrays must have the same length"),
    ],
)
def test_broken_triples(array, message):
    with pytest.raises(ValueError, match=message):
        sm.structural_rank(array)


@pytest.mark.parametrize("pair", [((1, 2), (3, 4)), (1, 2), ([1.0], ([0], [[0]])), ([1], [0], [0])])
def test_what_is_no_triple(pair):
    with pytest.raises(TypeError, match="A must be"):
        sm.structural_rank(pair)


def test_an_array_of_jax_must_have_two_sparse_dimensions():
    array = Bcoo(sp.csr_array(np.eye(2)))
    array.n_dense = 1
    with pytest.raises(ValueError, match="0 batch and 1 dense dimensions"):
        sm.structural_rank(array)


@pytest.mark.parametrize("labels", [np.array(["a1", "a2"]), np.array(["a1", 2], object)])
def test_labels_in_the_place_of_indices(labels):
    indices, values = np.arange(2), np.ones(2)
    with pytest.raises(TypeError, match=r"i of \(data, \(i, j\)\) must hold integers, not"):
        sm.structural_rank((values, (labels, indices)))
    with pytest.raises(TypeError, match=r"numpy\.unique\(j, return_inverse=True\) numbers labels"):
        sm.maximum_weight_matching((values, (indices, labels)))
    names, numbers = np.unique(np.array(["a1", "a2"]), return_inverse=True)
    assert sm.structural_rank((values, (numbers, indices))) == names.size
