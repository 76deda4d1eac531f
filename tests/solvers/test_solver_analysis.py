"""The analysis: whether pivots will stay, and that index arrays are right."""

import numpy as np
import pytest
import scipy.sparse as sp

from calls import outside
from circuit import build_circuit
from sparsematch import solvers
from sparsematch._systems import external
from test_solvers import check


def test_a_poor_diagonal_is_exchanged():
    """The pattern says nothing; the values say which of many transversals to take."""
    n, rng = 60, np.random.default_rng(12)
    dense = (rng.random((n, n)) < 0.1) * 1e-6 * rng.random((n, n)) + 1e-7 * np.eye(n)
    dense += np.eye(n)[rng.permutation(n)]
    A = sp.csc_array(dense)
    auto, structure = solvers.splu(A), solvers.splu(A, pivoting="structure")
    for lu in (auto, structure):
        check(dense, lu, np.ones(n))
    assert dense[auto.row_perm][:, auto.col_perm].diagonal().min() > 0.5
    assert auto.nnz <= structure.nnz
    analysis = solvers.analyse(A * np.nan)  # only the pattern is asked for
    check(dense, analysis.factorise(A), np.ones(n))


def test_few_poor_pivots_in_large_blocks():
    """They move, which fills a block less than to look for others takes."""
    A = build_circuit(4500, seed=7).matrix
    rng = np.random.default_rng(0)
    A = A[rng.permutation(A.shape[0])][:, rng.permutation(A.shape[0])]
    kinds = "auto", "structure", "product"
    auto, structure, product = (solvers.splu(A, pivoting=kind) for kind in kinds)
    assert auto.nnz <= structure.nnz < 2 * product.nnz
    assert product.growth < 3 < auto.growth < 1e5


def heavy(n, kind):
    """A matrix of one block, its diagonal large."""
    rng = np.random.default_rng(4)
    there = rng.random((n, n)) < 0.03
    dense = (there | there.T) * rng.standard_normal((n, n))
    dense = dense + (3 + 3j if kind is complex else 3) * np.eye(n)
    dense[np.arange(n), np.roll(np.arange(n), 1)] = 0.5
    return dense


@pytest.mark.parametrize(("name", "module"), [("umfpack", "kvxopt"), ("own", "math")])
def test_others_get_ascending_columns(name, module):
    """Some put them in order where they are, and the values of the next call would not."""
    pytest.importorskip(module)
    seen = []

    class Own(external.SuperLUFactor):
        def __init__(self, indptr, rows, values, memory):
            A = sp.csc_array((values, rows, indptr))
            seen.append(A.has_canonical_format and memory == {})
            super().__init__(indptr, rows, values, memory)

    dense = heavy(70, float)
    A = sp.csc_array(dense)
    solver = outside(Own if name == "own" else name)
    analysis = solvers.analyse(A, solver=solver)
    assert analysis.outside == [0]
    for lu in (analysis.factorise(A), analysis.factorise(A)):
        check(dense, lu, np.ones(70))
        lu.refactorise(2 * A)
        check(2 * dense, lu, np.ones(70))
    assert all(seen)


def test_numpy_does_not_warn_of_what_overflows_in_an_external_block():
    """What is not finite is measured, and warned of by us."""
    lu = solvers.splu(sp.csc_array(heavy(70, float) * 1e-300), solver=outside())
    x = np.full((70, 1), 1e200)
    lu._factors._external[0].solve_in_place(x, "N")
    assert not np.isfinite(x).any()


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_index_types_do_not_make_a_pattern(kind):
    A = sp.csc_array(np.array([[4.0, 1, 0], [0, 2, 1], [0, 1, 3]]))
    analysis = solvers.analyse(A)
    B = sp.csc_array((A.data, A.indices.astype(kind), A.indptr.astype(kind)), shape=A.shape)
    assert np.allclose(analysis.factorise(B).solve(np.array([5.0, 3, 4])), 1)
    B.indices[0] = 1
    B.indices[1] = 0
    with pytest.raises(ValueError, match="another pattern"):
        analysis.factorise(B)
