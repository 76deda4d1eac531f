"""Entries as SciPy's `coo_array` takes them: ``(data, (i, j))``."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array


def convert(A: Any) -> Any:
    """Return a matrix as large as the indices need, or None if this is no such pair."""
    if not isinstance(A, tuple) or len(A) != 2 or not isinstance(A[1], tuple | list):
        return None
    data, coords = A
    if len(coords) != 2 or any(np.ndim(array) != 1 for array in (data, *coords)):
        return None
    return coo_array((np.asarray(data), tuple(map(np.asarray, coords))))
