"""The numbers of a factorisation by a plan: those of the core, and those of external solvers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array, diags_array

from sparsematch._base.arrays import Array, FloatArray, IndexPair
from sparsematch._base.lazy import lazy_attribute
from sparsematch._base.tolerances import HALF_OF_THE_DIGITS, SINGULAR
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._numerics.scaling import logarithmic_scaling
from sparsematch._systems.checks import check_right_hand_side
from sparsematch._systems.errors import NO_FACTORS, SingularMatrixError, numerically_singular
from sparsematch._systems.external import Choice, ScaledFactor, Singular, SuperLUFactor
from sparsematch._systems.pattern import LAYOUTS, not_finite, not_zero, values_of
from sparsematch._systems.plan import Beginning, FactorisationPlan
from sparsematch._types.factorisation_report import BlockReport, FactorisationReport
from sparsematch._types.factors import BlockLU, Found, Weak

NO_STATE = "has data in compiled code, so that it cannot be pickled or copied"

_FLOAT64: np.dtype[Any] = np.dtype(np.float64)
_COMPLEX128: np.dtype[Any] = np.dtype(np.complex128)

#: Share of the largest in its column that a pivot on the diagonal must have at least: within KLU's
#: and UMFPACK's range of 1e-3 to 0.1, in which fill changes little; and partial pivoting.
DIAGONAL, PARTIAL = 0.01, 1.0
#: How `begin` is to choose pivots: that share, and the one below which they are small.
PIVOTS = DIAGONAL, HALF_OF_THE_DIGITS
#: Factor within which an estimate and the pivots may change unseen: 3 and 2, with some room.
NEAR = 10.0
#: Solutions of several right-hand sides, and the error of each.
Solutions = tuple[Array, FloatArray]
_PARTIAL_PIVOTING = Choice(SuperLUFactor, "superlu", "partial pivoting, for a better solution")


class BlockFactors:
    """The factors of all diagonal blocks, and the plan that they are made by."""

    # `preference` is that for the diagonal: `DIAGONAL` or `PARTIAL`. Blocks with pivots below the
    # share `small` of their largest entry count as ill-conditioned. No factors before `factorise`.
    def __init__(
        self,
        begun: FactorisationPlan | tuple[BlockLU, Beginning],
        preference: float = DIAGONAL,
        small: float = HALF_OF_THE_DIGITS,
        dtype: np.dtype[Any] = _FLOAT64,
    ) -> None:
        self._begun, self.preference, self._small = begun, preference, small
        #: Blocks whose condition is worth an estimate, inside or outside, and that of values with
        #: about the same pivots, if there is one.
        self.ill_conditioned: dict[int, float | None] = {}
        self.dtype = dtype
        if isinstance(begun, FactorisationPlan):
            self._converted, self.shape = begun.converted, begun.shape
        else:
            _, (_, _, self._converted, self.shape) = begun
        self._numbers: BlockLU | None = None
        self._external: dict[int, ScaledFactor] = {}
        self._orders: IndexPair | None = None

    @classmethod
    def of(
        cls, begun: tuple[BlockLU, Found, Beginning], small: float = HALF_OF_THE_DIGITS
    ) -> "BlockFactors":
        """Take what `begin` has made of a matrix with the pivots `PIVOTS`, or others as small."""
        numbers, found, beginning = begun
        dtype = _COMPLEX128 if numbers.is_complex else _FLOAT64
        factors = cls((numbers, beginning), DIAGONAL, small, dtype)
        factors._adopt(numbers, found)
        return factors

    @lazy_attribute
    def plan(self) -> FactorisationPlan:
        """What factorisations of matrices with this pattern have in common."""
        if isinstance(self._begun, FactorisationPlan):
            return self._begun
        numbers, beginning = self._begun  # a first solution needs no more
        return FactorisationPlan(numbers.analysis, *beginning)

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
        external = []
        for k, factor in sorted(self._external.items()):
            size, entries, way = int(sizes[k]), int(plan.external[k].rows.size), factor.choice
            predicted, made = plan.blocks.chosen[k][5], (factor.order, factor.nnz)
            external.append(BlockReport(k, size, entries, way.name, *made, predicted, way.why))
        return FactorisationReport(
            rows=int(plan.starts[-1]),
            entries=int(plan.blocks.columns[0][-1]),
            n_blocks=plan.n_blocks,
            n_single=int(np.count_nonzero(sizes == 1)),
            largest=int(sizes.max(initial=0)),
            above=plan.blocks.n_upper,
            own_predicted=plan.blocks.predicted_inside,
            own_made=numbers.entries - sum(block.rows for block in external),
            own_seconds=plan.blocks.seconds,
            external=tuple(external),
            asked=plan.chooser.policy.get("forced", ""),
        )

    @property
    def growth(self) -> float:
        """The largest growth of a block; NaN if an external solver does not report it."""
        external = [factor.growth for factor in self._external.values()]
        return float(np.max([*self.numbers.growth, *external], initial=1.0))

    def factorise(self, A: Any) -> None:
        """Factorise a matrix of the plan's pattern, or values, by the same pivots if they do."""
        # TypeError or ValueError if it is of another pattern, or a value is not finite;
        # SingularMatrixError if a block has no inverse. There are no factors then.
        numbers, self._numbers = self._numbers, None
        found: Found | Literal[False] = False
        given: Any = None
        if numbers is not None and self._converted is None:
            if type(A) is np.ndarray:
                given = A
                found = numbers.refactorise(None, None, A)
            elif LAYOUTS.get(type(A)) == self.plan.pattern.layout and A.shape == self.shape:
                given = A.data
                found = numbers.refactorise(A.indptr, A.indices, given)
        if found is False:
            self._begun = plan = self.plan
            given = values_of(plan.pattern, A)
            if numbers is None or given.dtype != self.dtype:
                new = operations(LuOps, "numpy").new_factors
                numbers = new(plan.blocks, given, self.preference, self._small)
                self.dtype, self._external = given.dtype, {}
            found = numbers.refactorise(None, None, given)
        assert numbers is not None
        assert found is not False
        if found and found[0] == "not zero":
            raise not_zero(self.plan.blocks, self.plan.pattern, given)
        self._adopt(numbers, found)

    def _adopt(self, numbers: BlockLU, found: Found) -> None:
        """Take these factors, complete them by external solvers, or say why there are none."""
        self._orders = None
        if found is None:
            self.ill_conditioned = {}
        else:
            self._complete(numbers, *found)
        self._numbers = numbers

    def _complete(self, numbers: BlockLU, state: str, block: int, weak: Weak) -> None:
        if numbers.analysis.revision > self.plan.blocks.revision:
            self.plan, self._external = replace(self.plan, blocks=numbers.analysis), {}
        if state == "not finite":
            raise not_finite(self.plan.blocks, numbers.values, self.plan.names)
        if state == "singular":
            raise self._singular(numbers.values, block)
        assert state == "done"
        if self.plan.external:
            self._factorise_external(numbers.values)
        last = self.ill_conditioned
        self.ill_conditioned = {k: last.get(k) if as_before else None for k, as_before in weak}
        self.ill_conditioned |= {k: None for k, f in self._external.items() if f.doubtful}

    def discard(self) -> None:
        """Leave nothing to solve with, as after a factorisation that has failed."""
        self._numbers, self._orders, self._external = None, None, {}

    def with_stricter_pivoting(self) -> "BlockFactors | None":
        """Return factors of the same values by partial pivoting; None if these are."""
        if self.preference == PARTIAL:
            return None
        strict = BlockFactors(self.plan, PARTIAL, self._small, self.dtype)
        try:
            numbers = self.numbers.repeat(PARTIAL)
            strict._adopt(numbers, numbers.result)
        except (SingularMatrixError, MemoryError):
            return None
        return strict

    def orders(self) -> IndexPair:
        """Return the orders of rows and columns; the first call leaves them for all others."""
        if (orders := self._orders) is None:
            blocks = self.plan.blocks
            self._orders = orders = blocks.row_perm[self.numbers.row_of], blocks.col_perm
        return orders

    def solve_copied(self, b: Array, x: Array, trans: str, check: bool) -> float:
        """Solve in a copy of `b` and return the error, 0 if it is small, -1 if `b` is as it was."""
        # That is where its length, type or layout needs `solve`.
        external = self._external and self._solve_external
        return (self._numbers or self.numbers).solve(b, x, trans, check, external)

    def solve(self, b: Array, trans: str, check: bool = True) -> tuple[Array, float]:
        """Return solutions, shaped as `b`, and the largest backward error, 0 if it is small."""
        # TypeError or ValueError if `b` does not fit.
        check_right_hand_side(b, self.shape[0], trans)
        is_complex = "c" in (self.dtype.kind, b.dtype.kind)
        columns = b[:, np.newaxis] if b.ndim == 1 else b
        columns = np.ascontiguousarray(columns, _COMPLEX128 if is_complex else _FLOAT64)
        x = columns.copy()
        # a real factorisation sees a complex right-hand side as two real ones
        parts = columns.view(self.dtype), x.view(self.dtype)
        return x.reshape(b.shape), self.solve_copied(*parts, trans, check)

    def solve_unrefined(self, b: Array, adjoint: bool) -> Array:
        """Return solutions, or those with the conjugate transpose, as they come out."""
        return self.solve(b, "H" if adjoint else "N", False)[0]

    def solve_each(self, b: Array, trans: str) -> Solutions:
        """Solve for the columns of a matrix one by one; return the error of each, too."""
        found = [self.solve(column, trans) for column in b.T]
        return np.stack([x for x, _ in found], axis=1), np.array([error for _, error in found])

    def rcond(self, k: int) -> float:
        """Estimate the reciprocal condition of block k in the 1-norm, as it is scaled."""
        # Where that is at the level of roundoff, as the transversal with the largest product scales
        # it, if that is better: units are no reason to call a block singular.
        if np.diff(self.plan.starts[k : k + 2])[0] == 1:
            return 1.0
        return self._external[k].rcond() if k in self._external else self.numbers.rcond(k)

    def singular_blocks(self) -> Iterator[tuple[int, float]]:
        """Yield the blocks that are singular to working precision, each with its estimate."""
        # What was not near the limit is not estimated again for about the same pivots.
        for k, rcond in self.ill_conditioned.items():
            if rcond is None or SINGULAR / NEAR < rcond < SINGULAR * NEAR:
                rcond = self.ill_conditioned[k] = self.rcond(k)
            if rcond < SINGULAR:
                yield k, rcond

    def rcond_for(self, x: Array, trans: str) -> float:
        """Estimate the reciprocal condition of the system that has the solution `x`."""
        # By how much an error is larger, beside the largest element of `x`, than a relative change
        # of the entries is, or beside each in the units of the scaling, if that is less: no units
        # of either side count (Skeel, Scaling for numerical stability, J. ACM 26, 1979).
        size, external = np.abs(x), self._solve_external if self._external else None

        def estimate(size: FloatArray, unit: FloatArray) -> float:  # empty: by the factors' scaling
            return 1 / max(self.numbers.relative_condition(size, unit, trans, external), 1.0)

        rcond = estimate(size, np.full(size.size, size.max())) if size.any() else 1.0
        if rcond < SINGULAR:
            rcond = max(rcond, estimate(size[:0], size[:0]))
        if rcond >= SINGULAR:
            return rcond
        matrix = abs(self.matrix())
        matrix.eliminate_zeros()
        units = logarithmic_scaling(matrix)[trans == "N"]
        return max(rcond, estimate(units, units))

    def solve_block(self, k: int, b: Array, adjoint: bool) -> Array:
        """Solve with block k alone, scaled, or its conjugate transpose, for the columns of `b`."""
        # Rows and columns are in the order of ``plan.block``.
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

    def triangles(self) -> tuple[Any, Any]:
        """Return L and U of a matrix that is one block; AttributeError of any other."""
        if self.plan.n_blocks > 1 or self._external:
            raise AttributeError('L and U are those of each block: splu(A, order="whole") has one')
        *sides, pivots, row, col = self.numbers.triangles
        lower, upper = (csc_array(part[::-1], self.shape) for part in sides)
        lower, upper = lower + diags_array(np.ones(pivots.size)), upper + diags_array(pivots)
        unscaled, back = diags_array(1 / row), diags_array(1 / col)
        lower, upper = unscaled @ lower @ diags_array(row), unscaled @ upper @ back
        return lower.tocsc(), upper.tocsc()

    def matrix(self, values: Array | None = None) -> Any:
        """Return the matrix that was factorised, or one of its pattern."""
        return self.plan.matrix(self.numbers.values if values is None else values)

    def _factorise_external(self, values: Array) -> None:
        for k, (indptr, rows, places, memory, choice) in self.plan.external.items():
            own = values[places]
            if self.preference == PARTIAL:
                choice = _PARTIAL_PIVOTING
            try:
                if k in self._external:
                    self._external[k].refactorise(own)
                else:
                    self._external[k] = ScaledFactor(choice, indptr, rows, own, memory)
            except Singular:
                fault = "is left without a pivot by the solver that was asked for"
                raise self._singular(values, k, fault) from None

    def _solve_external(self, k: int, x: Array, side: str) -> None:
        self._external[k].solve_in_place(x, side)

    def _singular(self, values: Array, k: int, *fault: str) -> RuntimeError:
        return numerically_singular(self.plan.system(values), self.plan.block(k), *fault)
