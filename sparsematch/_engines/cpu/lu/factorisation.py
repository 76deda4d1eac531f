"""Block triangular factorisations by the core, and which blocks it leaves to others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import BlockLU, BlockPlan, QuickAnalysis

#: What is not as by default, by name: `Policy` of cost.hpp.
Policy = dict[str, Any]


def value_norms(graph: BipartiteCSR, values: NDArray[Any]) -> tuple[float, float]:
    """Return the largest absolute value and the 1-norm, not finite if a value is not.

    `graph` must be flipped.
    """
    return _core.value_norms(graph.indptr, values)


def equal_indices(x: IndexArray, y: IndexArray) -> bool:
    """Tell whether two arrays of indices are equal, at no cost if they are short."""
    if x.dtype != y.dtype or not x.flags.c_contiguous:
        return np.array_equal(x, y)
    return _core.equal_indices(x, y)


def quick_analysis(
    graph: BipartiteCSR,
    values: NDArray[Any],
    given: Any,
    failures: NDArray[np.int8] | None,
    refuse_zeros: bool,
    policy: Policy,
) -> QuickAnalysis | None:
    """Return the block form of a matrix, checks of its values, and a plan.

    None: no quick matching, or there are zeros and they are refused.

    `graph` must be flipped; `given` is what is known, the `row_mate` of a perfect matching or the
    three arrays of the form. `failures`: how often the core's factors of each block have filled up.
    Time: O(n + nnz), and what the planner looks for.
    """
    found = _core.quick_analysis(csr(graph), values, given, failures, refuse_zeros, policy)
    return QuickAnalysis(**found) if found else None


def factors_of(A: Any, refuse_zeros: bool, preference: float, policy: Policy) -> BlockLU | None:
    """Factorise a small CSC matrix of doubles in one call, if no more than that is needed."""
    n, n_cols = A.shape
    if n != n_cols:
        return None
    return _core.factors_of(A.indptr, A.indices, A.data, n, refuse_zeros, preference, policy)


def new_factors(plan: BlockPlan, graph: BipartiteCSR, values: NDArray[Any]) -> BlockLU:
    """Make room for a factorisation by a plan; of `values`, only the type counts.

    `graph` must be flipped.
    """
    return _core.new_factors(plan, csr(graph), values)
