"""Weighted transversals of real matrices: proved by duals, scaled to at most 1."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

import sparsematch as sm
import suitesparse

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
