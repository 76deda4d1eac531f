"""The numbers of a factorisation by a plan: those of the core, and those of external solvers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._types.factorisation_report import BlockReport, FactorisationReport
from sparsematch._types.factors import BlockLU
from sparsematch.solvers._condition import SINGULAR, reciprocal_condition
from sparsematch.solvers._errors import NO_FACTORS, SingularMatrixError, numerically_singular
from sparsematch.solvers._external import Choice, ScaledFactor, Singular, SuperLUFactor
from sparsematch.solvers._named_solvers import installed
from sparsematch.solvers._pattern import MeasuredValues
from sparsematch.solvers._plan import DIAGONALS, FactorisationPlan, plan_factorisation, plan_of

NO_STATE = "has data in compiled code, so that it cannot be pickled or copied"

#: Share of the largest in its column that a pivot on the diagonal must have at least: KLU's and
#: UMFPACK's range of 1e-3 to 0.1, in which fill changes little; and partial pivoting.
DIAGONAL, PARTIAL = 0.01, 1.0
_AS_BEFORE = -1.0
_FLOAT64 = np.dtype(np.float64)
_CSC, _CSR = (csc_array, csc_matrix), (csr_array, csr_matrix)
#: Up to as many, zeros among the entries take less time than to drop them, and a try in vain as
#: good as none.
_FEW_ENTRIES = 2000
_PARTIAL_PIVOTING = Choice(SuperLUFactor, "superlu", "partial pivoting, for a better solution")
#: Pivots of a scaled block below this share of its largest entry have its condition estimated: the
#: root of the rounding error, as pivots may be some 1e8 times the least singular value.
_SMALL_PIVOT = 1e-8


class BlockFactors:
    """The factors of all diagonal blocks, and the plan that they were made by.

    `preference` is that for the diagonal: `DIAGONAL` or `PARTIAL`. Blocks with pivots below the
    share `small` of their largest entry are suspects.
    """

    def __init__(
        self,
        plan: FactorisationPlan | None,
        preference: float = DIAGONAL,
        small: float = _SMALL_PIVOT,
    ) -> None:
        self._plan, self.preference, self._small = plan, preference, small
        self.dtype = _FLOAT64
        self.shape: tuple[int, int] = plan.pattern.graph.shape if plan else (0, 0)
        #: Blocks whose condition is worth an estimate: with small pivots, and the external ones.
        self.suspects: list[int] = []
        self._numbers: BlockLU | None = None
        self._first: BlockLU | None = None  # those that know the plan, where there is none yet
        self._external: dict[int, ScaledFactor] = {}
        self._orders: tuple[IndexArray, IndexArray] | None = None

    @classmethod
    def in_one_call(cls, A: Any, refuse_zeros: bool) -> "BlockFactors | None":
        """Return factors of a small CSC matrix; None where one call of the core will not do."""
        return cls._of_columns(A, refuse_zeros) if type(A) in _CSC else None

    @classmethod
    def _of_columns(cls, A: Any, refuse_zeros: bool) -> "BlockFactors | None":
        """Return factors of the small matrix that has the rows or columns of `A` as columns."""
        factors_of = operations(LuOps, "numpy").factors_of
        numbers = factors_of(A, refuse_zeros, DIAGONAL, installed() | DIAGONALS["auto"])
        if numbers is None:
            return None
        factors = cls(None)
        factors._numbers = factors._first = numbers
        factors.shape = A.shape
        factors.suspects = numbers.suspects(_SMALL_PIVOT)
        return factors

    @classmethod
    def solve_at_once(cls, A: Any, b: Any) -> NDArray[Any] | None:
        """Return the solution of a small system; None where there is more to do, or to say.

        Of a CSR matrix, the transpose is factorised: no conversion.
        """
        kind = type(A)
        if (kind not in _CSC and kind not in _CSR) or type(b) is not np.ndarray:
            return None
        if A.data.size > _FEW_ENTRIES or b.shape != A.shape[:1]:
            return None
        factors = cls._of_columns(A, False)
        if factors is None or any(factors.rcond(k) < SINGULAR for k in factors.suspects):
            return None
        found = factors.solve_quickly(b, "T" if kind in _CSR else "N", True)
        return found[0] if found and found[1] == 0 else None

    @property
    def plan(self) -> FactorisationPlan:
        """The plan; that of factors made in one call is put together when it is first needed."""
        first = self._first  # before the plan: another thread may put it there, then drop these
        if (plan := self._plan) is None:
            assert first is not None
            self._plan = plan = plan_of(first)
            self._first = None
        return plan

    @plan.setter
    def plan(self, plan: FactorisationPlan) -> None:
        self._plan = plan

    @property
    def numbers(self) -> BlockLU:
        """Those of the core; there are none after an error."""
        if self._numbers is None:
            raise RuntimeError(NO_FACTORS)
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

    def report(self) -> FactorisationReport:
        """Return what this consists of; RuntimeError if the last factorisation has failed."""
        plan, numbers = self.plan, self.numbers
        sizes = np.diff(plan.starts)
        external = tuple(
            BlockReport(
                k,
                int(sizes[k]),
                int(block.rows.size),
                self._external[k].choice.name,
                self._external[k].order,
                int(block.memory.get("predicted", 0)),
                self._external[k].nnz,
                plan.blocks.chosen[k][5],
                self._external[k].choice.why,
            )
            for k, block in plan.external.items()
        )
        return FactorisationReport(
            rows=int(plan.starts[-1]),
            entries=plan.pattern.graph.nnz,
            n_blocks=plan.n_blocks,
            n_single=int(np.count_nonzero(sizes == 1)),
            largest=int(sizes.max(initial=0)),
            above=plan.blocks.n_upper,
            own_predicted=plan.blocks.predicted_inside,
            own_made=numbers.entries - sum(block.rows for block in external),
            own_seconds=plan.blocks.seconds,
            external=external,
        )

    @property
    def growth(self) -> float:
        """The largest growth of a block; NaN if an external solver does not report it."""
        external = [factor.growth for factor in self._external.values()]
        return float(np.max([*self.numbers.growth, *external], initial=1.0))

    def factorise(self, measured: MeasuredValues) -> None:
        """Factorise values, with the same pivots as the last ones where these will do.

        Another plan is made for a block that fills up; SingularMatrixError if one has no inverse.
        """
        values = measured.values
        again = self._numbers is not None and self.dtype == values.dtype
        numbers = self._numbers if again else None
        self._numbers, self._orders, self.dtype = None, None, values.dtype
        while True:
            if numbers is None:
                self._external = {}
                numbers = self.plan.new_numbers(values)
            preference = _AS_BEFORE if again else self.preference
            if (found := numbers.factorise(values, preference, self._small)) is None:
                suspects: list[int] = []
                break
            outcome, block, suspects = found
            if outcome == "done":
                break
            if outcome == "singular":
                raise self._singular(values.copy(), block)
            if outcome != "fill_exceeded":  # a stop has raised; what is unstable has new pivots
                raise AssertionError(f"a factorisation ended with {outcome!r}")
            self.plan, numbers, again = self.plan.replan_block(block, values), None, False
        if self.plan.external:
            self._factorise_external(values)
        self.suspects = [*suspects, *(k for k, f in self._external.items() if f.doubtful)]
        self._numbers = numbers

    def refactorise_quickly(self, A: Any) -> bool:
        """Factorise the values of a matrix with the same pivots in one call of the core.

        False where that will not do, and `factorise` is to find out why.
        """
        numbers, plan = self._numbers, self._plan
        if numbers is None or self._external or (plan and not plan.pattern.is_plain):
            return False
        if type(A) is np.ndarray:
            arrays = None, None, A
        elif type(A) in _CSC and A.shape == self.shape:
            arrays = A.indptr, A.indices, A.data
        else:
            return False
        found = numbers.refactorise_quickly(*arrays, self._small)
        if found is False:
            return False
        if found and found[0] != "done":
            self._numbers = None  # other pivots
            return False
        self._orders, self.suspects = None, found[2] if found else []
        return True

    def discard(self) -> None:
        """Leave nothing to solve with, as after a factorisation that has failed."""
        self._numbers, self._orders, self._external = None, None, {}

    def with_partial_pivoting(self) -> "BlockFactors | None":
        """Return factors of the same values by partial pivoting; None if there are none better."""
        if self.preference == PARTIAL:
            return None
        strict = BlockFactors(self.plan, PARTIAL, self._small)
        try:
            strict.factorise(MeasuredValues(self.numbers.values, 0.0, 0.0))
        except (SingularMatrixError, MemoryError):
            return None
        return strict

    def orders(self) -> tuple[IndexArray, IndexArray]:
        """Return the orders of rows and columns; the first call leaves them for all others."""
        if (orders := self._orders) is None:
            blocks = self.plan.blocks
            self._orders = orders = blocks.row_perm[self.numbers.row_of], blocks.col_perm
        return orders

    def solve(
        self, b: NDArray[Any], trans: str, check: bool = True
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the solutions of a contiguous matrix, and the backward error of each column.

        A real factorisation sees a complex right-hand side as two real ones.
        """
        external = self._solve_external if self._external else None
        x, errors = self.numbers.solve(b.view(self.dtype), trans, external, check)
        if b.dtype != self.dtype:
            errors = errors.reshape(-1, 2).max(axis=1)
        return x.view(b.dtype).reshape(b.shape), errors

    def solve_quickly(self, b: Any, trans: str, check: bool) -> tuple[NDArray[Any], float] | None:
        """Return the solution of a contiguous vector, and its backward error, 0 if it is small.

        None where `b` is no such vector of the type of the factors, or a block is external.
        """
        if self._external or b.dtype != self.dtype:
            return None
        x = np.empty(b.shape, self.dtype)
        error = self.numbers.solve_quickly(b, x, trans, check)
        return None if error < 0 else (x, error)

    def rcond(self, k: int) -> float:
        """Estimate the reciprocal condition of block k in the 1-norm, as it is scaled.

        Where that is at the level of roundoff, as the scaling by the transversal with the largest
        product has it, if that is better: rows and columns that differ by many orders of magnitude
        are no reason to call a block singular.
        """
        first, end = self.plan.starts[k : k + 2].tolist()
        if end - first == 1:
            return 1.0
        if k in self._external:
            return self._external[k].rcond()
        if (rcond := self.numbers.rcond(k)) >= SINGULAR:
            return rcond
        numbers, x = self.numbers, np.zeros(self.plan.starts[-1], self.dtype)

        def solve(b: NDArray[Any], adjoint: bool) -> NDArray[Any]:
            x[first:end] = b
            numbers.solve_scaled(k, x, adjoint)
            return x[first:end].copy()

        indptr, rows, _ = self.plan.blocks.block(k, False)
        block = csc_array((numbers.scaled_values(k), rows, indptr), shape=(end - first,) * 2)
        return reciprocal_condition(solve, block, numbers.row_of[first:end] - first)

    def solve_block(self, k: int, b: NDArray[Any], adjoint: bool) -> NDArray[Any]:
        """Solve with block k alone, scaled, or its conjugate transpose, for the columns of `b`.

        Rows and columns are in the order of `block`.
        """
        if k in self._external:
            x = np.asfortranarray(b, self.dtype).copy(order="F")
            self._external[k].solve_in_place(x, "H" if adjoint else "N")
            return x
        first, end = self.plan.starts[k : k + 2].tolist()
        row_of = self.numbers.row_of[first:end] - first
        whole, x = np.zeros(self.plan.starts[-1], self.dtype), np.empty(b.shape, self.dtype)
        for column in range(b.shape[1]):
            whole[first:end] = b[:, column] if adjoint else b[row_of, column]
            self.numbers.solve_scaled(k, whole, adjoint)
            x[row_of if adjoint else slice(None), column] = whole[first:end]
        return x

    def block(self, k: int) -> tuple[IndexArray, IndexArray]:
        """Return the rows and columns of the user's matrix in block k."""
        blocks, inside = self.plan.blocks, slice(*self.plan.starts[k : k + 2].tolist())
        return blocks.row_perm[inside], blocks.col_perm[inside]

    def matrix(self, values: NDArray[Any] | None = None) -> Any:
        """Return the matrix that was factorised, or one of its pattern."""
        graph = self.plan.pattern.graph
        values = self.numbers.values if values is None else values
        return csc_array((values, graph.indices, graph.indptr), shape=graph.shape)

    def _factorise_external(self, values: NDArray[Any]) -> None:
        gather = operations(LuOps, self.plan.pattern.graph.backend).gather
        for k, (indptr, rows, places, memory, choice) in self.plan.external.items():
            own = gather(values, places)
            if self.preference == PARTIAL:
                memory = {}  # an order for pivots that stay on the diagonal is none for these
                is_own = choice.make is SuperLUFactor
                choice = _PARTIAL_PIVOTING if is_own else _PLANNED
            try:
                if k in self._external:
                    self._external[k].refactorise(own)
                else:
                    self._external[k] = ScaledFactor(
                        choice, indptr, rows, own, memory, PlannedFactor
                    )
            except Singular:
                raise self._singular(values, k) from None

    def _solve_external(self, k: int, x: NDArray[Any], side: str) -> None:
        self._external[k].solve_in_place(x, side)

    def _singular(self, values: NDArray[Any], k: int) -> RuntimeError:
        return numerically_singular(self.plan.pattern.system(values), *self.block(k))


class PlannedFactor:
    """A block planned and factorised like a matrix of its own, in place of another solver.

    That has been given no order: one is looked for here.
    """

    shared = True

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: NDArray[Any], memory: dict[str, Any]
    ) -> None:
        n = indptr.size - 1
        block = csc_array((values, rows, indptr), shape=(n, n))
        plan, measured = plan_factorisation(block, None, "auto", "superlu")
        self._factors = BlockFactors(plan)
        self._factorise(measured)

    def refactorise(self, values: NDArray[Any]) -> None:
        """Factorise new values."""
        self._factorise(self._factors.plan.pattern.values(values))

    def _factorise(self, measured: MeasuredValues) -> None:
        try:
            self._factors.factorise(measured)
        except SingularMatrixError as error:
            raise Singular from error
        self.nnz = self._factors.nnz
        self.doubtful = bool(self._factors.suspects)

    @property
    def order(self) -> str:
        """The orders that its blocks are factorised in."""
        orders = {block.order for block in self._factors.report().external}
        return ", ".join(sorted(orders)) or "minimum degree"

    def solve(self, b: NDArray[Any], trans: str) -> NDArray[Any]:
        """Solve, refined."""
        return self._factors.solve(np.ascontiguousarray(b), trans)[0]


_PLANNED = Choice(PlannedFactor, "superlu", "for a better solution")
