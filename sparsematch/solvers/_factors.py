"""The numbers of a factorisation by a plan: those of the core, and those of external solvers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import IndexArray
from sparsematch._types.factors import OUTCOMES, SIDES, BlockLU
from sparsematch.solvers._errors import numerically_singular
from sparsematch.solvers._external import ExternalFactor, Singular
from sparsematch.solvers._plan import FactorisationPlan

NO_STATE = "has data in compiled code, so that it cannot be pickled or copied"


class BlockFactors:
    """The factors of all diagonal blocks, and the plan that they were made by.

    Attributes
    ----------
    plan : FactorisationPlan
        The one given, or what became of it where blocks filled up.
    dtype : dtype
        float64 or complex128.
    """

    def __init__(self, plan: FactorisationPlan) -> None:
        self.plan = plan
        self.dtype = np.dtype(np.float64)
        self._numbers: BlockLU | None = None
        self._external: dict[int, ExternalFactor] = {}
        self._orders: tuple[IndexArray, IndexArray] | None = None

    @property
    def numbers(self) -> BlockLU:
        """Those of the core; there are none after an error."""
        if self._numbers is None:
            raise RuntimeError("there is nothing to solve with: the last factorisation failed")
        return self._numbers

    @property
    def failed(self) -> bool:
        """Whether the last factorisation has failed."""
        return self._numbers is None

    @property
    def nnz(self) -> int:
        """Entries of the factors, and of what stands above the blocks."""
        starts = self.plan.starts
        external = sum(f.nnz - int(starts[k + 1] - starts[k]) for k, f in self._external.items())
        return self.numbers.entries + self.plan.blocks.n_upper + external

    @property
    def largest_u(self) -> float:
        """The largest entry of U; NaN if an external solver does not report it."""
        external = (getattr(factor, "largest_u", np.nan) for factor in self._external.values())
        return float(np.max([self.numbers.largest_u, *external]))

    def factorise(self, values: NDArray[Any]) -> None:
        """Factorise values, with the same pivots as the last ones where these will do.

        Another plan is made for a block that fills up; SingularMatrixError if one has no inverse.
        """
        again = self._numbers is not None and self.dtype == values.dtype
        numbers = self._numbers if again else None
        self._numbers, self._orders, self.dtype = None, None, values.dtype
        while True:
            if numbers is None:
                self._external = {}
                numbers = self.plan.new_numbers(values)
            code, block = numbers.factorise(values, again)
            outcome = OUTCOMES[code]
            if outcome == "done":
                break
            if outcome == "singular":
                raise self._singular(values, block)
            if outcome == "fill_exceeded":
                self.plan, numbers = self.plan.replan_block(block, values), None
            again = False
        self._factorise_external(values)
        self._numbers = numbers

    def orders(self) -> tuple[IndexArray, IndexArray]:
        """Return the orders of rows and columns; the first call leaves them for all others."""
        if (orders := self._orders) is None:
            blocks = self.plan.blocks
            self._orders = orders = blocks.row_perm[self.numbers.row_of], blocks.col_perm
        return orders

    def solve(self, x: NDArray[Any], trans: str) -> None:
        """Solve in place, `x` in the order of the blocks: the core and external solvers by turns.

        For an external block, the core only multiplies with what stands above it.
        """
        solve, side, n_blocks = self.numbers.solve, SIDES[trans], self.plan.n_blocks
        if trans == "N":
            end = n_blocks
            for k in sorted(self._external, reverse=True):
                solve(x, k + 1, end, side)
                self._solve_external(x, k, trans)
                end = k + 1
            return solve(x, 0, end, side)
        begin = 0
        for k in sorted(self._external):
            solve(x, begin, k + 1, side)
            self._solve_external(x, k, trans)
            begin = k + 1
        solve(x, begin, n_blocks, side)

    def _factorise_external(self, values: NDArray[Any]) -> None:
        gather = operations(LuOps, self.plan.pattern.graph.backend).gather
        for k, (indptr, rows, places, memory) in self.plan.external.items():
            own = gather(values, places)
            try:
                if k in self._external:
                    self._external[k].refactorise(own)
                else:
                    self._external[k] = self.plan.make_external(indptr, rows, own, memory)
            except Singular:
                raise self._singular(values, k) from None

    def _solve_external(self, x: NDArray[Any], k: int, trans: str) -> None:
        rows = slice(self.plan.starts[k], self.plan.starts[k + 1])
        x[rows] = self._external[k].solve(x[rows], trans)

    def _singular(self, values: NDArray[Any], k: int) -> RuntimeError:
        graph, blocks, starts = self.plan.pattern.graph, self.plan.blocks, self.plan.starts
        A = csc_array((values, graph.indices, graph.indptr), shape=graph.shape)
        block = slice(int(starts[k]), int(starts[k + 1]))
        return numerically_singular(A, blocks.row_perm[block], blocks.col_perm[block])
