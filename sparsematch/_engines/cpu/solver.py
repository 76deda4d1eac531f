"""Block triangular factorisations by the core, and which blocks it leaves to others."""

from typing import Any

from numpy.typing import NDArray

from sparsematch._engines.cpu import _core
from sparsematch._types.arrays import BoolArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockForm
from sparsematch._types.factors import BlockLU, BlockPlan

#: Multiplications per entry of L + U above which supernodes pay.
_WORK_PER_ENTRY = 140.0
#: Entries of L + U per entry of a block above which its ordering is given up: it is too heavy already.
_FILL = 40.0
#: Blocks of so few rows are not worth judging.
_ALWAYS_INSIDE = 16


def block_plan(graph: BipartiteCSR, form: BlockForm, forced: BoolArray) -> BlockPlan:
    """Cut a matrix into blocks by its block form. `graph` must be flipped. Time: O(n + nnz) and the orderings."""
    limits = _WORK_PER_ENTRY, _FILL, _ALWAYS_INSIDE
    return _core.block_plan(graph.indptr, graph.indices, form.row_perm, form.col_perm, form.row_blocks, forced, *limits)


def survey(graph: BipartiteCSR, values: NDArray[Any]) -> tuple[float, float]:
    """Return the largest modulus and the 1-norm, which is not finite if a value is not. `graph` must be flipped."""
    return _core.survey(graph.indptr, values)


def poor_diagonal(graph: BipartiteCSR, form: BlockForm, values: NDArray[Any]) -> int:
    """Count pivots that will hardly stay where the form has put them. `graph` must be flipped. Time: O(n + nnz)."""
    return _core.poor_diagonal(graph.indptr, graph.indices, form.row_perm, form.col_perm, form.row_blocks, values)


def block_lu(plan: BlockPlan, values: NDArray[Any]) -> BlockLU:
    """Make room for a factorisation of float64 or complex128, the type of `values`."""
    return _core.block_lu(plan, values)
