"""Entries as SciPy's `coo_array` takes them: ``(data, (i, j))``."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array


def convert(A: Any) -> Any:
    """Return a matrix as large as indices need, or None of no such pair; labels: TypeError."""
    if not isinstance(A, tuple) or len(A) != 2 or not isinstance(A[1], tuple | list):
        return None
    data, coords = A
    if len(coords) != 2 or any(np.ndim(array) != 1 for array in (data, *coords)):
        return None
    rows, cols = map(np.asarray, coords)
    for name, indices in (("i", rows), ("j", cols)):
        if indices.dtype.kind not in "iu" and indices.size:
            raise TypeError(
                f"{name} of (data, (i, j)) must hold integers, not {indices.dtype}; "
                f"numpy.unique({name}, return_inverse=True) numbers labels"
            )
    return coo_array((np.asarray(data), (rows, cols)))
