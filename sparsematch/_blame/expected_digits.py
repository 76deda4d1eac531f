"""How many digits of a solution to rely on, element by element.

Gudmundsson, Kenney, Laub, Small-sample statistical estimates for matrix norms (SIAM J. Matrix Anal.
Appl. 16, 1995); Kenney, Laub, Reese, Statistical condition estimation for linear systems (SIAM J.
Sci. Comput. 19, 1998). If every entry changes by a share that is random,
A x changes by a random vector; what solutions with some of these have in common is the error of x.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, FloatArray
from sparsematch._base.tolerances import EPSILON
from sparsematch._numerics.inverse_iteration import SolveColumns

#: Random changes: with 8 the estimate is within a factor of 3 but with probability 1e-3.
_SAMPLES = 8
#: The digits of a double.
MOST_DIGITS = float(-np.log10(EPSILON))


def expected_errors(
    A: Any, x: Array, b: Array, solve: SolveColumns, rng: np.random.Generator
) -> FloatArray:
    """Estimate the error of each element of x: of what it leaves, and of data that are rounded."""
    # Infinite where nothing is known of it.
    with np.errstate(all="ignore"):
        squares = abs(A).power(2) @ (np.abs(x) ** 2) + np.abs(b) ** 2
        size = np.hypot(EPSILON * np.sqrt(squares), np.abs(A @ x - b))
        samples: Array = rng.standard_normal((x.size, _SAMPLES))
        if A.dtype.kind == "c":
            samples = (samples + 1j * rng.standard_normal(samples.shape)) / np.sqrt(2)
        changes = solve(size[:, np.newaxis] * samples, False)
        errors = np.sqrt((np.abs(changes) ** 2).mean(axis=1))
    return np.where(np.isnan(errors), np.inf, errors)


def digits_of(errors: FloatArray, x: Array) -> FloatArray:
    """Return how many digits elements with these errors have, at most those of a double."""
    with np.errstate(all="ignore"):
        digits = -np.log10(np.where(errors > 0, errors / np.abs(x), 0))
    return np.clip(digits, 0, MOST_DIGITS)
