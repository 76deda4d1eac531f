"""Arguments that several public functions have, read in one way."""

from typing import Any, TypeAlias

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._base.errors import wrong_type

Rng: TypeAlias = int | np.random.Generator | None
#: Tuples: to make a union at each call takes as long as the check.
_FLAGS = bool, np.bool_
_NUMBERS = int, float, np.number


def read_seed(rng: Rng) -> int:
    """Draw a seed from a generator, or from the generator that an integer seeds."""
    if rng is None:
        return 0
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer | np.random.Generator):
        raise wrong_type("rng", rng, "None, an integer or a numpy.random.Generator")
    if not isinstance(rng, np.random.Generator) and rng < 0:
        raise ValueError(f"rng is {rng}, but must not be negative")
    return int(np.random.default_rng(rng).integers(2**63))


def check_flags(**flags: Any) -> None:
    """Raise TypeError unless each is True or False."""
    for name, flag in flags.items():
        if not isinstance(flag, _FLAGS):
            raise wrong_type(name, flag, "True or False")


def read_capacities(given: Any, col_cost: FloatArray) -> IndexArray:
    """Return how many rows each column may have, given what it costs if unmatched."""
    numbers, size = np.asarray(given), col_cost.size
    if numbers.size and numbers.dtype.kind not in "iu":
        raise wrong_type("capacities", given, "integers, one for all columns or for each, or None")
    if numbers.shape not in ((), (size,)):
        raise ValueError(f"capacities has shape {numbers.shape}, not () or ({size},)")
    if numbers.min(initial=0) < 0:
        raise ValueError(f"capacities must not be negative, but one is {numbers.min()}")
    if abs(col_cost).max(initial=0) > 2.0**960:
        raise ValueError("unmatched_cost of columns with capacities must not be above 2**960")
    return np.full(size, np.minimum(numbers.astype(np.uint64), np.uint64(2**62)), np.int64)


def check_number(name: str, number: Any) -> None:
    """Raise TypeError unless it is a real number."""
    if isinstance(number, _FLAGS) or not isinstance(number, _NUMBERS):
        raise wrong_type(name, number, "a number")


def check_share(name: str, number: Any) -> None:
    """Raise unless it is a number between 0 and 1."""
    check_number(name, number)
    if not 0 < number < 1:
        raise ValueError(f"{name} is {number}, but must be between 0 and 1")


def check_tolerance(name: str, tolerance: Any, finite: bool = False) -> None:
    """Raise unless it is a number that is not negative, or, if it need not be finite, None."""
    if tolerance is None and not finite:
        return
    check_number(name, tolerance)
    if not tolerance >= 0:
        raise ValueError(f"{name} is {tolerance}, but must not be negative")
    if finite and tolerance == np.inf:
        raise ValueError(f"{name} is {tolerance}, but must be finite")
