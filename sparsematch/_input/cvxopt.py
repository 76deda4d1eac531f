"""Matrices ``spmatrix`` of cvxopt and kvxopt: columns as three dense matrices."""

from typing import Any

import numpy as np

from sparsematch._base.compressed import INT32_MAX
from sparsematch._input.assembled import compressed_matrix


def convert(A: Any) -> Any:
    """Return a matrix of SciPy, or None if this is no such matrix."""
    if not (hasattr(A, "CCS") and hasattr(A, "typecode")):
        return None
    indptr, indices, data = (np.asarray(part).ravel() for part in A.CCS)  # copies already
    if max(*A.size, indices.size) <= INT32_MAX:
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    return compressed_matrix("csc", tuple(A.size), indptr, indices, data)
