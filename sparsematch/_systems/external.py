"""Factorisations of single blocks by other libraries: one small class each, behind one shape.

An external solver is a class that is made of a block, by columns, and of values for it. It
solves, and takes new values for the same pattern. What it finds out about the pattern may be
stored in `memory` for the next factorisation of it. If rows and columns come in an order that makes
little fill when pivots stay on the diagonal, `memory` says how many entries the factors then have,
as ``"predicted"``, and what ``"order"`` it is; as ``"threshold"``, which share of the largest in
its column a pivot must have there, if not as little as does.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._base.tolerances import HALF_OF_THE_DIGITS
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._numerics.foreign_calls import splu
from sparsematch._numerics.scaling import largest_exponents, power_of_two, product_scaling
from sparsematch._systems.condition import reciprocal_condition

#: Share that all but one of 256 are to have before, where that is wanted.
STABLE_SHARE = 1e-3
#: That of a block, as it is scaled, whose pivots are expected to stay; else it is scaled first.
_STEADY = 0.1
#: As good as no pivot leaves the diagonal, so that no more fill comes than was predicted: up to
#: 1.11 times on blocks of real, normal and log-uniform values, where a share of 0.001 makes 2.2
#: times; 2.3 to 6 times of values of 1 and -1 at random, as pivots cancel.
_ON_THE_DIAGONAL = HALF_OF_THE_DIGITS

_NO_MEMORY = (
    "SuperLU has no memory left for the factors: another solver= or pivoting='product' may make "
    "less fill, spilu with a drop_tol does"
)


class Singular(Exception):
    """A block has no inverse."""


class Unreliable(Exception):
    """An external solver does not solve a block to working precision, or failed; says why."""


class ExternalFactor(Protocol):
    """The factorisation of one block.

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


#: What a solver has found out about a pattern.
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
    except RuntimeError as error:
        if "singular" in str(error):
            raise Singular from error
        if "MALLOC" in str(error).upper():
            raise MemoryError(_NO_MEMORY) from error
        raise
    except MemoryError as error:
        raise MemoryError(_NO_MEMORY) from error


class ScaledFactor:
    """A block scaled by powers of two, as the core scales its own, and external factors of it."""

    # The largest entry of each row is between 1 and 2, then that of each column; nothing is
    # rounded. `fallback` factorises it where the external solver that was chosen is not reliable.
    # Where pivots are to stay on a diagonal that is small even so, the block is scaled first, by
    # the duals of the transversal with the largest product, which make its entries the largest
    # (Duff, Koster 2001).
    def __init__(
        self,
        choice: Choice,
        indptr: IndexArray,
        rows: IndexArray,
        values: Array,
        memory: Memory,
        fallback: MakeExternal,
    ) -> None:
        self._indptr, self._rows, self._fallback = indptr, rows, fallback
        self._alone = threading.Lock()
        self.choice = choice
        n = indptr.size - 1
        self._columns = np.repeat(np.arange(n), np.diff(indptr))
        self._first = np.ones(n), np.ones(n)
        scaled = self._scale(values)
        steady = operations(LuOps, "numpy").steady_diagonal
        own_order = choice.make is SuperLUFactor and memory.get("predicted")
        if own_order and not steady(indptr, rows, scaled, _STEADY):
            self._first = self._by_largest_product(scaled)
            scaled = self._scale(values)
        try:
            self._factor = choice.make(indptr, rows, scaled, memory)
        except Unreliable as error:
            self._fall_back(error)

    def _fall_back(self, error: Unreliable) -> None:
        if self.choice.make in (SuperLUFactor, self._fallback):
            raise AssertionError("SuperLU has nothing to fall back to") from error
        self._factor = self._fallback(self._indptr, self._rows, self._scaled, {})
        self.choice = Choice(self._fallback, "superlu", f"instead of {self.choice.name}: {error}")

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
        scaled = self._scale(values)
        try:
            self._factor.refactorise(scaled)
        except Unreliable as error:
            self._fall_back(error)

    def solve_in_place(self, x: Array, trans: str) -> None:
        """Solve with the block as it is, `x` being a matrix."""
        first, last = (self._row, self._col) if trans == "N" else (self._col, self._row)
        with np.errstate(all="ignore"):  # what is not finite is measured
            x *= first
            x[...] = self._solve(x, trans)
            x *= last

    def rcond(self) -> float:
        """Estimate the reciprocal condition of the scaled block in the 1-norm."""

        def solve(b: Array, adjoint: bool) -> Array:
            return self._solve(b[:, np.newaxis], "H" if adjoint else "N")[:, 0]

        n = self._indptr.size - 1
        block = sp.csc_array((self._scaled, self._rows, self._indptr), shape=(n, n))
        return reciprocal_condition(solve, block)

    def _solve(self, b: Array, trans: str) -> Array:
        if getattr(self._factor, "shared", False):
            return self._factor.solve(b, trans)
        with self._alone:
            try:
                return self._factor.solve(b, trans)
            except Unreliable as error:
                self._fall_back(error)
                return self._factor.solve(b, trans)

    def _by_largest_product(self, values: Array) -> tuple[Array, Array]:
        n = self._indptr.size - 1
        block = sp.csc_array((values, self._rows, self._indptr), shape=(n, n))
        if (scaling := product_scaling(block)) is None:
            return self._first
        first = self._row[:, 0] * scaling[0], self._col[:, 0] * scaling[1]
        is_in_range = all(np.isfinite(side).all() and side.min() > 0 for side in first)
        return first if is_in_range else self._first

    def _scale(self, values: Array) -> Array:
        n, (row, col) = self._indptr.size - 1, self._first
        scaled = values * row[self._rows] * col[self._columns]
        by_row = power_of_two(1 - largest_exponents(scaled, self._rows, n))
        scaled *= by_row[self._rows]
        by_col = power_of_two(1 - largest_exponents(scaled, self._columns, n))
        scaled *= by_col[self._columns]
        self._row, self._col = (row * by_row)[:, np.newaxis], (col * by_col)[:, np.newaxis]
        self._scaled = scaled
        return scaled


class SuperLUFactor:
    """A block factorised by SciPy's SuperLU.

    In the order that it comes in, if that suits and the diagonal is large; else ordered by COLAMD
    the first time and as then ever after.
    """

    shared = True

    def __init__(self, indptr: IndexArray, rows: IndexArray, values: Array, memory: Memory) -> None:
        self._memory = memory
        self._indptr = indptr.astype(np.int32, copy=False)
        self._rows = rows.astype(np.int32, copy=False)
        self.refactorise(values)

    def refactorise(self, values: Array) -> None:
        """Factorise new values."""
        memory = self._memory
        self._renumbered, self.order = False, "COLAMD"
        steady = operations(LuOps, "numpy").steady_diagonal
        predicted = memory.get("predicted")
        if predicted and steady(self._indptr, self._rows, values, STABLE_SHARE):
            how: dict[str, Any] = {"options": {"SymmetricMode": True}}
            how["diag_pivot_thresh"] = memory.get("threshold", _ON_THE_DIAGONAL)
            self._lu = _superlu(values, self._rows, self._indptr, "NATURAL", **how)
            self.order = memory["order"]
            if self._lu.nnz > 2 * predicted:  # pivots have left it all the same
                memory.pop("predicted", None)  # which another thread may have done
        elif "place" not in memory:
            self._lu = _superlu(values, self._rows, self._indptr, "COLAMD")
            memory["place"] = self._lu.perm_c
        else:
            if "entries" not in memory:  # one that is never factorised again need not be renumbered
                memory.update(_renumbered(self._indptr, self._rows, memory["place"]))
            values = values[memory["entries"]]
            self._lu = _superlu(values, memory["rows"], memory["indptr"], "NATURAL")
            self._renumbered = True
        self.nnz = int(self._lu.nnz)

    def solve(self, b: Array, trans: str) -> Array:
        """Solve."""
        if not self._renumbered:
            return self._lu.solve(b, trans)
        order = self._memory["renumbered"]
        x = np.empty_like(b)
        x[order] = self._lu.solve(b[order], trans)
        return x

    @property
    def largest_u(self) -> float:
        """The largest entry of U."""
        return float(np.abs(self._lu.U.data).max(initial=0))


def _superlu(
    values: Array, rows: IndexArray, indptr: IndexArray, ordering: str, **options: Any
) -> Any:
    n = indptr.size - 1
    A = sp.csc_array((n, n), dtype=values.dtype)
    A.data, A.indices, A.indptr = values, rows, indptr  # which are right: no checks
    A.has_canonical_format = True
    with superlu_errors():
        return splu(A, permc_spec=ordering, **options)


def _renumbered(indptr: IndexArray, rows: IndexArray, place: IndexArray) -> dict[str, Any]:
    """Renumber rows and columns alike: the diagonal, preferred for pivots, stays the diagonal."""
    n = indptr.size - 1
    new_cols, new_rows = np.repeat(place, np.diff(indptr)), place[rows]
    entries = np.lexsort((new_rows, new_cols))
    starts = np.searchsorted(new_cols[entries], np.arange(n + 1)).astype(np.int32)
    found = {"renumbered": np.argsort(place), "entries": entries}
    return found | {"rows": new_rows[entries], "indptr": starts}
