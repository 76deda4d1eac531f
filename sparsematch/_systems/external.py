"""Factorisations of single blocks by other libraries: one small class each, behind one shape."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._base.tolerances import HALF_OF_THE_DIGITS, SINGULAR
from sparsematch._input.assembled import compressed_matrix
from sparsematch._numerics.foreign_calls import splu
from sparsematch._numerics.scaling import largest_exponents, power_of_two, product_scaling
from sparsematch._systems.condition import scaled_rcond

_NO_MEMORY = (
    "SuperLU has no memory left for the factors: another solver= or pivoting='product' may make "
    "less fill, spilu with a drop_tol does"
)


class Singular(Exception):
    """A block has no inverse."""


class Unreliable(Exception):
    """An external solver does not solve a block to working precision, or failed; says why."""


class ExternalFactor(Protocol):
    """The factorisation of one block, made of its columns, values, and what is known of both.

    It may have `doubtful`: whether its pivots make the condition worth an estimate. Without, a
    solution tells. And `shared`: whether several threads may solve at once; one that raises
    Unreliable when it solves has not.
    """

    @property
    def nnz(self) -> int:
        """Entries of its factors, or 0 if that is not known."""

    def refactorise(self, values: Array) -> None:
        """Factorise new values, in the order of the columns; raise Singular."""

    def solve(self, b: Array, trans: str) -> Array:
        """Solve with A ("N"), its transpose ("T") or conjugate transpose ("H"); `b` is a matrix."""


#: What a solver has found out about a pattern, for the next factorisation of it.
Memory = dict[str, Any]
MakeExternal = Callable[[IndexArray, IndexArray, Array, Memory], ExternalFactor]


class Choice(NamedTuple):
    """What factorises a block, by which name, and why."""

    make: MakeExternal
    name: str
    why: str


@contextmanager
def superlu_errors() -> Iterator[None]:
    """Turn what SuperLU says of singular matrices and of memory into Singular and MemoryError."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, MemoryError) or "MALLOC" in str(error).upper():
            raise MemoryError(_NO_MEMORY) from error
        if "singular" in str(error):
            raise Singular from error
        raise


class ScaledFactor:
    """A block scaled by powers of two, as the core scales its own, and external factors of it."""

    # The largest entry of each row is between 1 and 2, then that of each column; nothing is
    # rounded. Where that leaves no inverse, rows are scaled by the transversal of largest product.
    # SuperLU factorises it where the external solver that was chosen is not reliable.
    _factor: ExternalFactor

    def __init__(
        self, choice: Choice, indptr: IndexArray, rows: IndexArray, values: Array, memory: Memory
    ) -> None:
        self._indptr, self._rows = indptr, rows
        self._alone = threading.Lock()
        self.choice = choice
        self._columns = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        self._factorise(values, lambda scaled: choice.make(indptr, rows, scaled, memory))

    def _fall_back(self, error: Unreliable) -> Callable[[Array], ExternalFactor]:
        assert self.choice.make is not SuperLUFactor  # which is never unreliable
        self.choice = Choice(SuperLUFactor, "superlu", f"instead of {self.choice.name}: {error}")
        return lambda scaled: SuperLUFactor(self._indptr, self._rows, scaled, {})

    @property
    def order(self) -> str:
        """In which order it is factorised."""
        return getattr(self._factor, "order", "the solver's own")

    @property
    def doubtful(self) -> bool:
        """Whether the condition is worth an estimate: a solution of ones is large."""
        # Of ones of either sign. Or whether the solver says so, by its pivots.
        if (known := getattr(self._factor, "doubtful", None)) is not None:
            return bool(known)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (self._indptr.size - 1, 1))
        x = self._solve(signs.astype(self._scaled.dtype), "N")
        return not HALF_OF_THE_DIGITS * np.abs(x).max(initial=0.0) < 1

    @property
    def nnz(self) -> int:
        """Entries of the factors, or 0 if that is not known."""
        return self._factor.nnz

    @property
    def growth(self) -> float:
        """The largest entry of U over that of the scaled block; NaN if that is not known."""
        return getattr(self._factor, "largest_u", np.nan) / float(np.abs(self._scaled).max())

    def refactorise(self, values: Array) -> None:
        """Factorise new values, in the order of the columns; raise Singular."""
        self._factorise(values, self._again)

    def _again(self, scaled: Array) -> ExternalFactor:
        self._factor.refactorise(scaled)
        return self._factor

    def solve_in_place(self, x: Array, trans: str) -> None:
        """Solve with the block as it is, `x` being a matrix."""
        first, last = (self._row, self._col) if trans == "N" else (self._col, self._row)
        with np.errstate(all="ignore"):  # what is not finite is measured
            x *= first
            x[...] = self._solve(x, trans)
            x *= last

    def rcond(self) -> float:
        """Estimate the reciprocal condition in the 1-norm, by a product where that is better."""

        def solve(b: Array, adjoint: bool) -> Array:
            return self._solve(b[:, np.newaxis], "H" if adjoint else "N")[:, 0]

        block, ones = self._block(), np.ones(self._indptr.size - 1)
        rcond = scaled_rcond(solve, block, ones, ones)
        if rcond >= SINGULAR or (scaling := product_scaling(abs(block))) is None:
            return rcond
        return max(rcond, scaled_rcond(solve, block, *scaling))

    def _block(self) -> Any:
        # a copy, as SciPy sorts what it takes the absolute values of, and others share the arrays
        arrays, n = (self._scaled, self._rows, self._indptr), self._indptr.size - 1
        return sp.csc_array(arrays, shape=(n, n), copy=True)

    def _solve(self, b: Array, trans: str) -> Array:
        if getattr(self._factor, "shared", False):
            return self._factor.solve(b, trans)
        with self._alone:
            try:
                return self._factor.solve(b, trans)
            except Unreliable as error:
                self._factor = self._fall_back(error)(self._scaled)
                return self._factor.solve(b, trans)

    def _factorise(self, values: Array, by: Callable[[Array], ExternalFactor]) -> None:
        n = self._indptr.size - 1
        row = power_of_two(1 - largest_exponents(values, self._rows, n))
        is_last = False
        while True:
            scaled = values * row[self._rows]
            col = power_of_two(1 - largest_exponents(scaled, self._columns, n))
            self._row, self._col = row[:, np.newaxis], col[:, np.newaxis]
            self._scaled = scaled * col[self._columns]
            try:
                self._factor = by(self._scaled)
                return
            except Unreliable as error:
                by = self._fall_back(error)
            except Singular:
                if is_last or (scaling := product_scaling(abs(self._block()))) is None:
                    raise
                is_last, row = True, np.clip(row * scaling[0], 2.0**-1022, 2.0**1022)


class SuperLUFactor:
    """A block factorised by SciPy's SuperLU, by partial pivoting, ordered by COLAMD."""

    shared, order = True, "COLAMD"

    def __init__(self, indptr: IndexArray, rows: IndexArray, values: Array, memory: Memory) -> None:
        n = indptr.size - 1
        starts, lists = (x.astype(np.int32, copy=False) for x in (indptr, rows))
        self._A = compressed_matrix("csc", (n, n), starts, lists, values)
        self._A.has_canonical_format = True  # as far as SuperLU asks
        self.refactorise(values)

    def refactorise(self, values: Array) -> None:
        """Factorise new values."""
        self._A.data = values
        with superlu_errors():
            self._lu = splu(self._A, permc_spec="COLAMD")
        self.nnz = int(self._lu.nnz)

    def solve(self, b: Array, trans: str) -> Array:
        """Solve."""
        return self._lu.solve(b, trans)

    @property
    def largest_u(self) -> float:
        """The largest entry of U."""
        return float(np.abs(self._lu.U.data).max(initial=0))
