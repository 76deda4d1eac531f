"""How a matrix is to be factorised: its blocks, the orders within them, what factorises which.

Both an analysis and the factors hold a plan, and it is never changed: where pivots bring far more
fill than was predicted, `FactorisationPlan.replan_block` makes another one.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._input.foreign import from_other_library
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockForm
from sparsematch._types.factors import BlockLU, BlockPlan, QuickAnalysis
from sparsematch.solvers._checks import PIVOTING, check_choice
from sparsematch.solvers._errors import structurally_singular
from sparsematch.solvers._external import Choice, SuperLUFactor
from sparsematch.solvers._named_solvers import Chooser, find_solver
from sparsematch.solvers._pattern import MeasuredValues, Pattern, read_pattern

#: Which entries of a block may be its diagonal, by the name of a way of pivoting: `Diagonal` of
#: cost.hpp; those of the matching, of the largest product, or any of both.
DIAGONALS = {"structure": {"diagonal": 0}, "product": {"diagonal": 2}, "auto": {"diagonal": 3}}


class ExternalBlock(NamedTuple):
    """A diagonal block by columns, left to an external solver."""

    #: Its pattern.
    indptr: IndexArray
    rows: IndexArray
    places: IndexArray  #: Where its values are among those of the matrix.
    memory: dict[str, Any]  #: What its solvers have learnt about the pattern; they write to it.
    choice: Choice  #: What factorises it.


@dataclass(frozen=True, slots=True, eq=False)
class FactorisationPlan:
    """What all factorisations of matrices with one pattern have in common."""

    pattern: Pattern
    #: The block triangular form, and where its diagonal blocks begin.
    row_perm: IndexArray
    col_perm: IndexArray
    starts: IndexArray
    blocks: BlockPlan  #: The matrix cut into blocks by the core.
    chooser: Chooser
    external: dict[int, ExternalBlock]  #: Blocks that are left to external solvers.
    #: Shape (n_blocks,). How often the core's factors of a block have filled up.
    failures: NDArray[np.int8]
    policy: dict[str, Any]  #: That the blocks were planned by.
    revision: int = 0  #: How many plans for the same pattern it has replaced.

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self.starts.size - 1

    @property
    def solvers(self) -> dict[int, str]:
        """The external solver of each block that is left to one."""
        return {k: block.choice.name for k, block in self.external.items()}

    def describe(self) -> str:
        """Return the size, the number of blocks, and the solver of the external ones."""
        n, blocks = self.row_perm.size, self.n_blocks
        text = f"{n}x{n}, " + ("1 block" if blocks == 1 else f"{blocks} blocks")
        if solvers := Counter(self.solvers.values()):
            text += f" ({', '.join(f'{count} by {name}' for name, count in solvers.items())})"
        return text

    def new_numbers(self, values: NDArray[Any]) -> BlockLU:
        """Allocate the numbers of a factorisation."""
        graph = self.pattern.graph
        return operations(LuOps, graph.backend).new_factors(self.blocks, graph, values)

    def replan_block(self, k: int, values: NDArray[Any]) -> "FactorisationPlan":
        """Return a plan for values whose pivots bring far more fill to block k than was predicted.

        Another diagonal, once, or another kernel, whichever is predicted to be faster.
        """
        failures = self.failures.copy()
        failures[k] += 1
        graph, form = self.pattern.graph, (self.row_perm, self.col_perm, self.starts)
        analyse = operations(LuOps, graph.backend).quick_analysis
        found = analyse(graph, values, form, failures, False, self.policy)
        plan = _make_plan(self.pattern, found, self.chooser, failures, self.policy)
        return replace(plan, revision=self.revision + 1)


def _make_plan(
    pattern: Pattern,
    found: QuickAnalysis,
    chooser: Chooser,
    failures: NDArray[np.int8],
    policy: dict[str, Any],
) -> FactorisationPlan:
    """Cut out the blocks that are left to external solvers."""
    blocks, external = found.plan, {}
    chosen = blocks.chosen
    for k in blocks.outside:
        _, order, kernel, fill, _, _ = chosen[k]
        memory = {"predicted": fill} if order != "given" else {}
        choice = chooser.choose(kernel)
        # SuperLU accepts any order
        arrays = blocks.block(k, choice.make is not SuperLUFactor)
        external[k] = ExternalBlock(*arrays, memory, choice)
    return FactorisationPlan(pattern, *found[:3], blocks, chooser, external, failures, policy)


def plan_of(numbers: BlockLU) -> FactorisationPlan:
    """Return the plan of factors that were made in one call of the core, by default settings.

    The solver is chosen when values to come fill a block up.
    """
    blocks, columns, form = numbers.plan, numbers.pattern, numbers.form
    n, chooser = columns[0].size - 1, find_solver("auto")
    pattern = Pattern(BipartiteCSR(n, n, *columns, "numpy", True), "csc", columns, None, None)
    failures = np.zeros(form[2].size - 1, np.int8)
    policy = chooser.policy | DIAGONALS["auto"]
    return FactorisationPlan(pattern, *form, blocks, chooser, {}, failures, policy)


def plan_factorisation(
    A: Any,
    matching: Any,
    pivoting: str,
    solver: Any,
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    drops_zeros: bool = False,
) -> tuple[FactorisationPlan, MeasuredValues]:
    """Analyse a matrix as `analyse` does; also return its values, measured."""
    check_choice("pivoting", pivoting, PIVOTING)
    chooser = find_solver(solver)
    A = from_other_library(A)
    pattern = read_pattern(A)
    if row_names is not None or col_names is not None:
        pattern = pattern.named(row_names, col_names)
    values = pattern.arrange(A.data) if A.format == pattern.layout else pattern.any_values(A)
    policy = chooser.policy | DIAGONALS[pivoting if matching is None else "structure"]
    pattern, values, found = _analyse_blocks(pattern, values, matching, policy, drops_zeros)
    failures = np.zeros(found.row_blocks.size - 1, np.int8)
    plan = _make_plan(pattern, found, chooser, failures, policy)
    return plan, MeasuredValues(values, found.largest, found.norm)


def _analyse_blocks(
    pattern: Pattern, values: NDArray[Any], matching: Any, policy: dict[str, Any], drop_zeros: bool
) -> tuple[Pattern, NDArray[Any], QuickAnalysis]:
    """Find the block form in one call of the core; by matching and block search if it gives up.

    Also return the pattern and the values that it is of, without zeros if these are to be dropped.
    """
    graph = pattern.graph
    analyse = operations(LuOps, graph.backend).quick_analysis
    if matching is None and (found := analyse(graph, values, None, None, drop_zeros, policy)):
        return pattern, values, found
    if drop_zeros:
        pattern, values = pattern.without_zeros(values)
        if pattern.graph is not graph:
            return _analyse_blocks(pattern, values, matching, policy, False)
    form = _search_blocks(graph, matching)
    if form.structural_rank < graph.n_rows:
        raise structurally_singular(pattern.system(values.copy()), form.structural_rank)
    known = form.row_perm, form.col_perm, form.row_blocks
    return pattern, values, analyse(graph, values, known, None, False, policy)


def _search_blocks(graph: BipartiteCSR, matching: Any) -> BlockForm:
    from sparsematch._api.decomposition import block_form  # needed where quick analysis gives up

    return block_form(graph, matching)
