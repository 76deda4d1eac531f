"""Block triangular factorisations by the core, and which blocks it leaves to others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import BoolArray, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import BlockLU, BlockPlan, QuickAnalysis

#: Limits of an analysis that are not the defaults, by name: `AnalysisLimits` of symbolic.hpp.
Limits = dict[str, float]


def block_plan(
    graph: BipartiteCSR,
    row_perm: IndexArray,
    col_perm: IndexArray,
    row_blocks: IndexArray,
    external_only: BoolArray,
    limits: Limits | None = None,
) -> BlockPlan:
    """Plan the factorisation of a matrix by its block form. `graph` must be flipped.

    Time: O(n + nnz) and the orderings.
    """
    form = row_perm, col_perm, row_blocks
    return _core.block_plan(csr(graph), form, external_only, limits or {})


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
    plan: bool,
    exchange: bool,
    refuse_zeros: bool = False,
    limits: Limits | None = None,
) -> QuickAnalysis | None:
    """Return the block form of a matrix, checks of its values, and a plan.

    None: no quick matching, or there are zeros and they are refused.

    `graph` must be flipped; `given` is what is known, the `row_mate` of a perfect matching or the
    three arrays of the form. There is no plan if none is wanted, or if `exchange` allows another
    diagonal and it would pay. Time: O(n + nnz) and the orderings.
    """
    wanted = plan, exchange, refuse_zeros
    found = _core.quick_analysis(csr(graph), values, given, *wanted, limits or {})
    return QuickAnalysis(**found) if found else None


def factors_of(A: Any, refuse_zeros: bool, preference: float) -> BlockLU | None:
    """Factorise a small CSC matrix of doubles in one call, if no more than that is needed."""
    n, n_cols = A.shape
    if n != n_cols:
        return None
    return _core.factors_of(A.indptr, A.indices, A.data, n, refuse_zeros, preference)


def new_factors(plan: BlockPlan, graph: BipartiteCSR, values: NDArray[Any]) -> BlockLU:
    """Make room for a factorisation by a plan; of `values`, only the type counts.

    `graph` must be flipped.
    """
    return _core.new_factors(plan, csr(graph), values)
