"""Arguments that several public functions have, read in one way."""

from typing import Any, TypeAlias

import numpy as np

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


def check_number(name: str, number: Any) -> None:
    """Raise TypeError unless it is a real number."""
    if isinstance(number, _FLAGS) or not isinstance(number, _NUMBERS):
        raise wrong_type(name, number, "a number")


def check_tolerance(name: str, tolerance: Any, finite: bool = False) -> None:
    """Raise unless it is a number that is not negative, or, if it need not be finite, None."""
    if tolerance is None and not finite:
        return
    check_number(name, tolerance)
    if not tolerance >= 0:
        raise ValueError(f"{name} is {tolerance}, but must not be negative")
    if finite and tolerance == np.inf:
        raise ValueError(f"{name} is {tolerance}, but must be finite")
