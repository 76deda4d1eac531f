"""The last resort for small systems: LAPACK on the dense matrix, its solutions measured.

Where entries differ by many orders of magnitude, the block triangular form may have no
solution within the range of doubles, though a matrix has one that differs in the smallest entries
only. Partial pivoting on the whole matrix, not scaled, finds that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows up to which a dense factorisation takes some milliseconds.
FEW_ROWS = 500


def solve_dense(A: Any, b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return solutions and their normwise backward errors, infinite where there is none."""
    dense = A.toarray()
    with np.errstate(all="ignore"):
        try:
            x = np.linalg.solve(dense, b)
        except np.linalg.LinAlgError:
            return np.zeros_like(b), np.full(b.shape[1], np.inf)
        size = (np.abs(dense) @ np.abs(x) + np.abs(b)).max(axis=0)
        errors = np.abs(dense @ x - b).max(axis=0) / np.where(size > 0, size, 1)
    return x, np.where(np.isfinite(x).all(axis=0), errors, np.inf)
