"""Real matrices: published ranks and blocks, weights by their duals, systems beside SuperLU."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.sparse.linalg import splu

import gpu_calls
import sparsematch as sm
import suitesparse
from calls import certify
from sparsematch import solvers
from suitesparse import ROWS, load

LARGEST = {"reference": 3_000, "compiled": 100_000}  # entries up to which every engine is run
LARGEST_ON_GPU = np.inf if gpu_calls.HAS_GPU else 3_000  # and up to which those for a GPU are


@pytest.fixture(params=suitesparse.cases(), scope="module")
def name(request):
    return request.param


def test_rank_and_certificate(name):
    A = load(name)
    m = sm.maximum_transversal(A)
    certify(A, m, rank=int(ROWS[name]["sprank"]))


def test_blocks(name):
    """The sizes of the three coarse parts, and how many blocks there are."""
    A = load(name)
    form = sm.block_triangular_form(A)
    check_blocks(ROWS[name], form)
    assert sm.is_block_form(A, form)


def check_blocks(row, form):
    horizontal, square, vertical = form.horizontal, form.square, form.vertical
    assert f"{horizontal.rows.size}x{horizontal.cols.size}" == row["dm_hr"]
    assert f"{vertical.rows.size}x{vertical.cols.size}" == row["dm_vr"]
    assert square.rows.size == square.cols.size == int(row["dm_sq"])
    first = int(horizontal.cols.size > 0)
    inner = gpu_calls.host(form.block_sizes)[first : form.n_blocks - (vertical.rows.size > 0)]
    assert len(inner) == int(row["dm_sq_nblocks"])
    assert np.all(inner[:, 0] == inner[:, 1])
    assert inner.max(initial=0) == int(row["dm_sq_maxblock"])
    assert form.n_blocks == int(row["dm_nblocks"])
    if row["rows"] == row["cols"] == row["sprank"]:
        assert form.is_reducible == (form.n_blocks > 1)


def test_components(name):
    assert sm.connected_components(load(name)).n_components == int(ROWS[name]["bip_ncc"])


def test_every_engine(name):
    A = load(name)
    for engine in sm.engines("exact"):
        if A.nnz <= LARGEST.get(engine.name, LARGEST["compiled"]):
            assert sm.structural_rank(A, method=engine.name) == int(ROWS[name]["sprank"]), (
                engine.name
            )


@pytest.mark.kernels
def test_on_a_gpu(name):
    A, rank = load(name), int(ROWS[name]["sprank"])
    if A.nnz > LARGEST_ON_GPU:
        pytest.skip("too large for the stand-in of a GPU")
    B = gpu_calls.to_gpu(A)
    for engine in sm.engines("exact", backend="cupy"):
        m = sm.maximum_transversal(B, method=engine.name)
        assert m.cardinality == rank, engine.name
        assert sm.is_maximum(B, m), engine.name
    form = sm.block_triangular_form(B, matching=m, method=engine.name)
    check_blocks(ROWS[name], form)
    assert sm.is_block_form(B, form)
    assert sm.connected_components(B).n_components == int(ROWS[name]["bip_ncc"])


WITH_VALUES = suitesparse.cases(lambda row: row["values"] != "pattern")
SQUARE = suitesparse.cases(lambda row: row["values"] != "pattern" and row["rows"] == row["cols"])
#: SciPy takes from seconds to hours on these.
TOO_HARD_FOR_SCIPY = {"basis_maros-r7", "cavity14", "utm300", "bayer10", "cvxqp3", "CONT-200_A"}


@pytest.mark.parametrize("name", WITH_VALUES)
@pytest.mark.filterwarnings("ignore:factors beyond")
def test_product(name):
    A = sp.csr_array(suitesparse.load(name))
    A.eliminate_zeros()
    found = sm.maximum_product_transversal(A)
    assert sm.is_optimal_transversal(A, found)
    scaled, matched = np.abs(found.scale(A).data), np.abs(found.scale(A)[found.matching.pairs()])
    assert scaled.max(initial=0) <= 1 + 1e-10
    np.testing.assert_allclose(matched, 1, rtol=1e-12)
    rough = sm.maximum_product_transversal(A, approximate=True)
    assert rough.cardinality == found.cardinality
    assert np.abs(rough.scale(A).data).max(initial=0) <= 1
    assert np.abs(rough.scale(A)[rough.matching.pairs()]).min(initial=1) > 0.5
    if found.cardinality == min(A.shape) and name not in TOO_HARD_FOR_SCIPY:
        cost = -np.log(np.abs(A.data))
        shift = 1 - cost.min(initial=0)  # SciPy takes a zero for no entry
        C = sp.csr_array((cost + shift, A.indices, A.indptr), shape=A.shape)
        rows, cols = min_weight_full_bipartite_matching(C)
        assert found.objective == pytest.approx(
            np.log(np.abs(A[rows, cols])).sum(), rel=1e-9, abs=1e-7
        )


@pytest.mark.parametrize("name", WITH_VALUES)
def test_sum_and_bottleneck(name):
    A = suitesparse.load(name)
    for call in (sm.maximum_sum_transversal, sm.bottleneck_transversal):
        assert sm.is_optimal_transversal(A, call(A))


@pytest.mark.parametrize("name", SQUARE)
def test_symmetric(name):
    """All that are symmetric in magnitude, and a refusal of the others."""
    A = sp.csr_array(suitesparse.load(name))
    A.eliminate_zeros()
    if abs(abs(A) - abs(A).T).max() > 0:
        with pytest.raises(ValueError, match="A is not symmetric"):
            sm.symmetric_product_transversal(A)
        return
    best = sm.symmetric_product_transversal(A)
    assert sm.is_symmetric_transversal(A, best)
    unsymmetric = sm.maximum_product_transversal(A)
    assert best.objective == pytest.approx(unsymmetric.objective, rel=1e-12)
    assert abs(best.scale(A)).max() <= 1 + 1e-12


HEAVY = {"cvxqp3", "CVXQP2_L_kkt", "cage10"}  # seconds each, in SuperLU


def is_system(row):
    return row["rows"] == row["cols"] and row["values"] != "pattern" and row["name"] not in HEAVY


REGULAR = suitesparse.cases(lambda row: is_system(row) and row["sprank"] == row["rows"])
SINGULAR = suitesparse.cases(lambda row: is_system(row) and row["sprank"] != row["rows"])


@functools.lru_cache(maxsize=1)
def load_values(name):
    A = sp.csc_array(suitesparse.load(name))
    return A if A.dtype.kind == "c" else A.astype(np.float64)


def backward_error(A, x, b):
    return np.abs(A @ x - b).max() / (abs(A).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())


def reference(A, b):
    """SuperLU's backward error; infinite where it finds the matrix singular."""
    try:
        return backward_error(A, splu(A).solve(b), b)
    except RuntimeError:
        return np.inf


@pytest.mark.filterwarnings("ignore::sparsematch.solvers.IllConditionedWarning")
@pytest.mark.parametrize("name", REGULAR)
def test_backward_error(name):
    """Of a solution by blocks: small, in whatever order the pivots are."""
    A = load_values(name)
    b = A @ np.ones(A.shape[0])
    if not reference(A, b) < 1e-10:
        pytest.skip("SuperLU does not solve it either")
    lu = solvers.splu(A)
    for _ in range(2):
        for B, trans in ((A, "N"), (A.T, "T")):
            b = B @ np.ones(A.shape[0])
            assert backward_error(B, lu.solve(b, trans), b) < 1e-14
        lu.refactorise(A.data)


@pytest.mark.parametrize("name", SINGULAR)
def test_singular(name):
    with pytest.raises(solvers.SingularMatrixError) as caught:
        solvers.splu(load_values(name))
    report = caught.value.report
    assert report.structural_rank == sm.structural_rank(load_values(name))
    assert np.unique(caught.value.rows).size == caught.value.rows.size > 0
