"""What mypy makes of calls where SciPy has no types; `tox -e types` checks it, nothing runs it."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import sparsematch as sm
from sparsematch import solvers


def of_a_matrix_without_types(A: Any, b: NDArray[Any]) -> None:
    assert_type(sm.maximum_transversal(A), sm.Matching)
    assert_type(sm.block_triangular_form(A), sm.BlockForm)
    assert_type(sm.maximum_product_transversal(A), sm.WeightedTransversal)
    assert_type(sm.maximum_weight_matching(A, unmatched_cost=(1, None)), sm.WeightedMatching)
    assert_type(solvers.splu(A), solvers.BlockTriangularLU)
    assert_type(solvers.spsolve(A, b), NDArray[Any])


def of_bare_arrays(A: sm.BipartiteCSR) -> None:
    assert_type(sm.block_triangular_form(A), sm.BlockForm)


def over_ranks(A: sm.DistributedCSR) -> None:
    assert_type(sm.block_triangular_form(A), sm.DistributedBlockForm)
    assert_type(sm.maximum_product_transversal(A), sm.DistributedTransversal)


def of_views(A: Any, D: sm.DistributedCSR) -> None:
    assert_type(sm.block_triangular_form(sm.view(A, zeros="drop")), sm.BlockForm)
    assert_type(sm.block_triangular_form(sm.view(D, zeros="drop")), sm.DistributedBlockForm)


class Typed:
    """A matrix whose library has types."""

    shape = 2, 2
    nnz = 2

    def tocsr(self) -> "Typed":
        return self


def of_a_matrix_with_types(A: Typed) -> None:
    form = sm.block_triangular_form(A)
    assert_type(form, sm.BlockForm)
    assert_type(form.permute(A), Typed)
    assert_type(sm.maximum_product_transversal(A).permute(A), Typed)
    assert_type(solvers.spsolve(A, np.ones(2)), NDArray[Any])
