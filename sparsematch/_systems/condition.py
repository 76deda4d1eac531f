"""Condition numbers by a few solves.

Hager, Condition estimates (SIAM J. Sci. Stat. Comput. 5, 1984); Higham, FORTRAN codes for
estimating the one-norm of a real or complex matrix (ACM TOMS 14, 1988), Algorithm 4.1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, FloatArray

Solve = Callable[[Array, bool], Array]

_MAX_STEPS = 5


def inverse_norm(solve: Solve, n: int, dtype: np.dtype[Any]) -> float:
    """Estimate the 1-norm of an inverse from below, usually within a factor of 3."""
    # ``solve(b, adjoint)`` solves with the matrix or its conjugate transpose. Infinite if a
    # solution is not finite. Costs at most 11 solves, mostly 5; exact up to as many rows.
    with np.errstate(all="ignore"):
        if n <= 2 * _MAX_STEPS + 1:  # solves of an estimate, at most
            columns = [np.abs(solve(unit, False)).sum() for unit in np.eye(n, dtype=dtype)]
            norm = float(np.max(columns, initial=0))
            return norm if np.isfinite(norm) else np.inf
        x = solve(np.full(n, 1.0 / n, dtype), False)
        best, before = float(np.abs(x).sum()), -1
        for _ in range(_MAX_STEPS):
            size = np.abs(x)
            z = np.abs(solve(np.where(size > 0, x / np.where(size > 0, size, 1), 1), True))
            if (j := int(z.argmax())) == before:
                break
            before = j
            x = solve((np.arange(n) == j).astype(dtype), False)
            if (norm := float(np.abs(x).sum())) <= best:
                break
            best = norm
        # which the steps above may miss by exact cancellation
        alternating = np.where(np.arange(n) % 2, -1.0, 1.0) * (1 + np.arange(n) / (n - 1))
        x = solve(alternating.astype(dtype), False)
        best = max(best, 2 * float(np.abs(x).sum()) / (3 * n))
    return best if np.isfinite(best) else np.inf


def scaled_rcond(solve: Solve, A: Any, rows: FloatArray, cols: FloatArray) -> float:
    """Estimate the reciprocal condition, rows and columns multiplied by factors."""

    def scaled(b: Array, adjoint: bool) -> Array:
        return solve(b / (cols if adjoint else rows), adjoint) / (rows if adjoint else cols)

    with np.errstate(all="ignore"):
        norm = float(((abs(A).T @ rows) * cols).max(initial=0))
        condition = norm * inverse_norm(scaled, cols.size, A.dtype)
    return 1 / condition if condition > 0 else 0.0
