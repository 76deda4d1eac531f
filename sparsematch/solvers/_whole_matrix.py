"""The last resort: the whole matrix as it is, by SciPy's SuperLU and, if small, by LAPACK.

Where entries differ by many orders of magnitude, the block triangular form may have no solution
within the range of doubles, though a matrix has one that differs in the smallest entries only.
Partial pivoting on the whole matrix, not scaled, may find that: it is measured normwise.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

#: Rows up to which a dense factorisation takes some milliseconds.
_FEW_ROWS = 500


def solve_whole(A: Any, b: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
    """Yield solutions, and their errors, infinite where there is none."""
    A = sp.csc_array(A)
    for solve in (_by_superlu, _by_lapack):
        with np.errstate(all="ignore"):
            try:
                x = solve(A, b)
            except (RuntimeError, MemoryError, np.linalg.LinAlgError):  # singular, or too large
                continue
            size = (abs(A) @ np.abs(x) + np.abs(b)).max(axis=0)
            errors = np.abs(A @ x - b).max(axis=0) / np.where(size > 0, size, 1)
        yield x, np.where(np.isfinite(x).all(axis=0), errors, np.inf)


def _by_superlu(A: Any, b: NDArray[Any]) -> NDArray[Any]:
    lu = splu(A)
    if A.dtype == b.dtype:
        return lu.solve(b)
    return lu.solve(b.real.copy()) + 1j * lu.solve(b.imag.copy())  # a real matrix


def _by_lapack(A: Any, b: NDArray[Any]) -> NDArray[Any]:
    if A.shape[0] > _FEW_ROWS:
        raise MemoryError
    return np.linalg.solve(A.toarray(), b)
