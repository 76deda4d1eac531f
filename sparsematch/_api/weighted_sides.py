"""What is given for the rows and for the columns: costs if unmatched, duals to begin with."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sparsematch._base.arrays import FloatArray, FloatPair
from sparsematch._base.errors import wrong_type
from sparsematch._types.matching import Matching
from sparsematch._types.symmetric import SymmetricTransversal
from sparsematch._types.weighted import Start, WeightedMatching, WeightedTransversal

UnmatchedCost: TypeAlias = float | tuple[ArrayLike | None, ArrayLike | None] | None
GivenDuals: TypeAlias = tuple[ArrayLike, ArrayLike] | None


def read_costs(given: Any, shape: tuple[int, int]) -> FloatPair:
    """Return what each row and each column costs if unmatched, read-only."""
    name = "unmatched_cost"
    if isinstance(given, tuple | list):
        if (n := len(given)) != 2:
            raise ValueError(
                f"{name} has {n} members, but must have two: costs of the rows, and of the columns"
            )
        return _side(f"{name}[0]", given[0], shape[0]), _side(f"{name}[1]", given[1], shape[1])
    if given is not None and np.ndim(given) > 0:
        raise wrong_type(name, given, "None, a number, or (row costs, col costs)")
    return _side(name, given, shape[0]), _side(name, given, shape[1])


def read_start(
    given: Any,
    shape: tuple[int, int],
    kind: type[WeightedTransversal | WeightedMatching | SymmetricTransversal],
    job: str = "",
) -> Start | None:
    """Return what is given, or raise TypeError or ValueError; None where there is nothing."""
    # `kind`, `job`: of the result that it may be, instead of duals.
    matching: Matching | None = None
    if isinstance(given, kind):
        if isinstance(given, WeightedTransversal) and given.job != job:
            raise ValueError(f"start is the transversal of a {given.job}, but must be of a {job}")
        if given.shape != shape:
            raise ValueError(f"start has shape {given.shape}, but the matrix has shape {shape}")
        matching = given.matching
        if isinstance(given, SymmetricTransversal):
            given = given.dual, given.dual
        else:  # in another unit, duals are beyond the range of doubles
            given = (given.row_dual, given.col_dual) if given.dual_unit == 1 else None
    if given is None:
        return None
    if not isinstance(given, tuple) or len(given) != 2:
        raise wrong_type("start", given, f"a {kind.__name__} or (row_dual, col_dual)")
    sides = _side("start[0]", given[0], shape[0]), _side("start[1]", given[1], shape[1])
    return Start(matching, *sides)


def _side(name: str, given: Any, size: int) -> FloatArray:
    """Return a number for each row, or column; None: zeros."""
    numbers = np.asarray(0 if given is None else given)
    if numbers.dtype.kind not in "biuf":
        raise wrong_type(name, given, "real numbers, one for all or for each, or None")
    if numbers.shape not in ((), (size,)):
        text = f"{name} has shape {numbers.shape}, but must be a number or have ({size},)"
        raise ValueError(text)
    with np.errstate(over="ignore"):
        numbers = numbers.astype(np.float64, copy=False)
    if not (finite := np.isfinite(numbers)).all():
        first = "" if numbers.ndim == 0 else f"[{int(finite.argmin())}]"
        raise ValueError(f"{name}{first} is {numbers[~finite][0]}, but must be finite")
    everywhere = np.full(size, numbers)
    everywhere.setflags(write=False)
    return everywhere
