"""How a matrix is to be factorised: its blocks, the orders within them, what factorises which.

Both an analysis and the factors hold a plan, and it is never changed: where pivots bring far more
fill than was foreseen, `FactorisationPlan.replan_block` makes another one.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._base.arrays import BoolArray, IndexArray
from sparsematch._engines.operations import LuOps, WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.foreign import from_other_library
from sparsematch._input.zeros import check_choice as check_explicit_zeros
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockForm
from sparsematch._types.choices import ExplicitZeros
from sparsematch._types.factors import BlockLU, BlockPlan, QuickAnalysis
from sparsematch._types.matching import Matching
from sparsematch.solvers._checks import PIVOTING, check_choice
from sparsematch.solvers._choice import BlockSize
from sparsematch.solvers._errors import structurally_singular
from sparsematch.solvers._external import BEARABLE, Choice, SuperLUFactor
from sparsematch.solvers._named_solvers import Chooser, find_solver
from sparsematch.solvers._pattern import MeasuredValues, Pattern, read_pattern


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
    #: Shape (n_blocks,). Blocks in which the core's factors have filled up.
    external_only: BoolArray
    may_exchange: bool  #: Whether the values may still choose another diagonal.
    revision: int = 0  #: How many plans for the same pattern it has replaced.

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self.starts.size - 1

    @property
    def solvers(self) -> dict[int, str]:
        """The external solver of each block that is left to one."""
        return {k: block.choice.name for k, block in self.external.items()}

    def predicted_cost(self, k: int) -> tuple[float, float]:
        """Return the entries of L + U and the multiplications that an external block costs.

        If pivots stay on the diagonal; zeros where SuperLU is to order the columns.
        """
        return self.blocks.expected_entries(k), self.blocks.expected_work(k)

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
        """Return a plan for values whose pivots bring far more fill to block k than was foreseen.

        Where many pivots are small, the values choose the diagonal, once. Else such a block is left
        to the external solver, which hardly moves them.
        """
        external_only, cols = self.external_only, self.col_perm
        indptr, rows, places = self.blocks.block(k, False)
        steady = operations(LuOps, self.pattern.graph.backend).steady_diagonal
        if self.may_exchange and not steady(indptr, rows, values[places], BEARABLE):
            cols = _exchange(self.pattern, values, self.row_perm, cols)
        else:
            external_only = external_only.copy()
            external_only[k] = True
        form = self.row_perm, cols, self.starts
        is_real = values.dtype.kind != "c"
        plan = _make_plan(self.pattern, form, None, (self.chooser, is_real), external_only, False)
        return replace(plan, revision=self.revision + 1)


def _make_plan(
    pattern: Pattern,
    form: tuple[IndexArray, IndexArray, IndexArray],
    blocks: BlockPlan | None,
    solver: tuple[Chooser, bool],
    external_only: BoolArray,
    may_exchange: bool,
) -> FactorisationPlan:
    """Cut the matrix into blocks, unless that is done, and the external ones out of it.

    `solver` has what chooses one for each block, and whether the matrix is real.
    """
    chooser, is_real = solver
    graph, external = pattern.graph, {}
    if blocks is None:
        blocks = operations(LuOps, graph.backend).block_plan(
            graph, *form, external_only, chooser.limits
        )
    for k in blocks.outside:
        foreseen = blocks.expected_entries(k)
        memory = {"foreseen": foreseen} if foreseen else {}
        arrays = blocks.block(k, False)
        choice = chooser.choose(BlockSize(arrays[0].size - 1, arrays[1].size, foreseen, is_real))
        if choice.make is not SuperLUFactor:  # which accepts any order
            arrays = blocks.block(k, True)
        external[k] = ExternalBlock(*arrays, memory, choice)
    return FactorisationPlan(pattern, *form, blocks, chooser, external, external_only, may_exchange)


def plan_of(numbers: BlockLU) -> FactorisationPlan:
    """Return the plan of factors that were made in one call of the core, by default settings.

    The solver is chosen when values to come fill a block up.
    """
    blocks, columns, form = numbers.plan, numbers.pattern, numbers.form
    n = columns[0].size - 1
    pattern = Pattern(BipartiteCSR(n, n, *columns, "numpy", True), "csc", columns, None, None)
    return FactorisationPlan(
        pattern,
        *form,
        blocks,
        find_solver("auto"),
        {},
        np.zeros(form[2].size - 1, bool),
        True,
    )


def plan_factorisation(
    A: Any,
    matching: Any,
    pivoting: str,
    solver: Any,
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    explicit_zeros: ExplicitZeros = "keep",
) -> tuple[FactorisationPlan, MeasuredValues]:
    """Analyse a matrix as `analyse` does; also return its values, measured."""
    check_choice("pivoting", pivoting, PIVOTING)
    check_explicit_zeros(explicit_zeros)
    chooser = find_solver(solver)
    A = from_other_library(A)
    pattern = read_pattern(A)
    if row_names is not None or col_names is not None:
        pattern = pattern.named(row_names, col_names)
    values = pattern.arrange(A.data) if A.format == pattern.layout else pattern.any_values(A)
    by_values = pivoting == "auto" and matching is None
    wanted = pivoting != "product" or matching is not None, by_values, chooser.limits
    drop = explicit_zeros == "drop"
    pattern, values, found = _analyse_blocks(pattern, values, matching, wanted, drop)
    form, blocks = found[:3], found.plan
    if blocks is None:
        cols = _exchange(pattern, values, found.row_perm, found.col_perm)
        form = found.row_perm, cols, found.row_blocks
    external_only = np.zeros(found.row_blocks.size - 1, bool)
    may_exchange = by_values and found.plan is not None
    solver = chooser, values.dtype.kind != "c"
    plan = _make_plan(pattern, form, blocks, solver, external_only, may_exchange)
    return plan, MeasuredValues(values, found.largest, found.norm)


def _analyse_blocks(
    pattern: Pattern,
    values: NDArray[Any],
    matching: Any,
    wanted: tuple[bool, bool, dict[str, float]],
    drop_zeros: bool,
) -> tuple[Pattern, NDArray[Any], QuickAnalysis]:
    """Find the block form in one call of the core; by matching and block search if it gives up.

    Also return the pattern and the values that it is of, without zeros if these are to be dropped.
    """
    graph = pattern.graph
    analyse = operations(LuOps, graph.backend).quick_analysis
    plan, exchange, limits = wanted
    if matching is None and (
        found := analyse(graph, values, None, plan, exchange, drop_zeros, limits)
    ):
        return pattern, values, found
    if drop_zeros:
        pattern, values = pattern.without_zeros(values)
        if pattern.graph is not graph:
            return _analyse_blocks(pattern, values, matching, wanted, False)
    form = _search_blocks(graph, matching)
    if form.structural_rank < graph.n_rows:
        raise structurally_singular(pattern.system(values.copy()), form.structural_rank)
    known = form.row_perm, form.col_perm, form.row_blocks
    return pattern, values, analyse(graph, values, known, plan, exchange, False, limits)


def _search_blocks(graph: BipartiteCSR, matching: Any) -> BlockForm:
    from sparsematch._api.decomposition import block_form  # needed where quick analysis gives up

    return block_form(graph, matching)


def _exchange(
    pattern: Pattern, values: NDArray[Any], row_perm: IndexArray, col_perm: IndexArray
) -> IndexArray:
    """Return the columns that put the transversal with the largest product on the diagonal.

    Those given if there is none without zeros. The blocks stay what they are.
    """
    best = _best_diagonal(pattern, values)
    return best.row_mate[row_perm] if best.is_perfect else col_perm


def _best_diagonal(pattern: Pattern, values: NDArray[Any]) -> Matching:
    graph, magnitude = pattern.graph, np.abs(values)
    if magnitude.size and magnitude.min() > 0 and magnitude.max() < math.inf:
        least_cost = operations(WeightedOps, graph.backend).least_cost
        return least_cost(graph, -np.log(magnitude), 1).matching
    from sparsematch._api.weighted import product_transversal  # seldom needed

    columns = sp.csc_array((values, graph.indices, graph.indptr), shape=graph.shape)
    return product_transversal(columns, scaling=False).matching
