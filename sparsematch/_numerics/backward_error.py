"""Backward errors: how little a matrix and a right-hand side must change to make x exact.

Rigal, Gaches, On the compatibility of a given solution with the data of a linear system (J. ACM 14,
1967), normwise; Oettli, Prager, Compatibility of approximate solution of linear equations with
given error bounds (Numer. Math. 6, 1964), componentwise.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace

Values = Any  # of NumPy or CuPy


def normwise(residual: Values, x: Values, b: Values, norm: float) -> Values:
    """Return the backward error of each column in the maximum norm; NaN where x is not finite.

    `norm` is that of the matrix; a residual of zero has no error.
    """
    xp = namespace(x)
    with np.errstate(over="ignore", invalid="ignore"):
        size = norm * abs(x).max(axis=0) + abs(b).max(axis=0)
        return abs(residual).max(axis=0) / xp.where(size > 0, size, 1)


def componentwise(A: Any, x: Values, b: Values) -> Values:
    """Return the componentwise backward error of each column; infinite where x is not finite.

    Rows whose terms all vanish have no error.
    """
    with np.errstate(all="ignore"):
        left = np.abs(A @ x - b)
        size = abs(A) @ np.abs(x) + np.abs(b)
        errors = np.where(left > 0, left / size, left).max(axis=0, initial=0)
    return np.where(np.isfinite(errors), errors, np.inf)
