"""Backward errors: how little a matrix and a right-hand side must change to make x exact.

Rigal, Gaches, On the compatibility of a given solution with the data of a linear system (J. ACM 14,
1967), normwise; Oettli, Prager, Compatibility of approximate solution of linear equations with
given error bounds (Numer. Math. 6, 1964), componentwise.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import FloatArray, namespace
from sparsematch._base.tolerances import EPSILON, TINY
from sparsematch._numerics.scaling import exponents_of, times_power

Values = Any  # of NumPy, or as far as `normwise` goes of CuPy

#: Sums of two products with exponents up to this are in the range of doubles.
_LARGEST_EXPONENT = 1020


def normwise(residual: Values, x: Values, b: Values, norm: float) -> Values:
    """Return the backward error of each column in the maximum norm; NaN where x is not finite."""
    # `norm` is that of the matrix; a residual of zero has no error.
    xp = namespace(x)
    with np.errstate(over="ignore", invalid="ignore"):
        size = norm * abs(x).max(axis=0) + abs(b).max(axis=0)
        return abs(residual).max(axis=0) / xp.where(size > 0, size, 1)


def normwise_by_terms(A: Any, x: Values, b: Values) -> FloatArray:
    """Return the errors of the columns of x beside the largest sum of terms, however large."""
    # Infinite where x is not finite.
    with np.errstate(all="ignore"):
        size, residual = (part.max(axis=0) for part in _in_range(A, x, b))
        return _finite(residual / np.where(size > 0, size, 1))


def tiny_by_norms(size: Values, A: Any, x: Values, b: Values) -> tuple[Values, Values]:
    """Return sums of terms, ``|A| |x| + |b|``, tiny ones with norms of rows and of x; and these."""
    # Arioli, Demmel, Duff, Solving sparse linear systems with sparse backward error (SIAM J. Matrix
    # Anal. Appl. 10, 1989).
    by_norm = abs(A).max(axis=1).toarray().reshape(-1, 1) * np.abs(x).max(axis=0)
    tiny = 1000 * A.shape[0] * EPSILON * (by_norm + np.abs(b))
    return np.where(size <= tiny, size + by_norm, size), by_norm


def componentwise(A: Any, x: Values, b: Values) -> FloatArray:
    """Return the componentwise errors, of rows whose terms are tiny by their norms."""
    # Infinite where rows are too small to be measured, or x is not finite.
    if not b.shape[0]:
        return np.zeros(b.shape[1])
    with np.errstate(all="ignore"):
        size, residual = _in_range(A, x, b)
        size, by_norm = tiny_by_norms(size, A, x, b)
        residual[(size < TINY) & (by_norm > 0)] = np.inf
        return _finite((residual / np.where(size > 0, size, 1)).max(axis=0, initial=0))


def _in_range(A: Any, x: Values, b: Values) -> tuple[Values, Values]:
    """Return sums of the terms of each row, and residuals, scaled down where products overflow."""
    largest = exponents_of(x).max(axis=0, initial=0) + exponents_of(A.data).max(initial=0)
    shift = -np.maximum(largest + A.shape[0].bit_length() + 1 - _LARGEST_EXPONENT, 0)
    x, b = times_power(x, shift), times_power(b, shift)
    return abs(A) @ np.abs(x) + np.abs(b), np.abs(A @ x - b)


def _finite(errors: FloatArray) -> FloatArray:
    return np.where(np.isfinite(errors), errors, np.inf)
