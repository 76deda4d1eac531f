"""Which adapter reads a sparse matrix that is neither SciPy's nor CuPy's.

None of these libraries is imported: what an object offers says what it is. An adapter returns a
matrix of SciPy or CuPy, on the same arrays where it can; these are checked where that is read.
"""

from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from sparsematch._input import pydata, torch
from sparsematch._types.arrays import on_gpu

#: Types of values that a matrix of cupyx.scipy.sparse can have.
_CUPYX_VALUES = "?fdFD"


def from_other_library(A: Any) -> Any:
    """Convert a sparse matrix of pydata/sparse, or a sparse tensor; return the rest as it is."""
    if pydata.is_sparse(A):
        return A.to_scipy_sparse()  # on the same arrays, not yet checked
    if (parts := torch.compressed_parts(A)) is not None:
        return compressed_matrix(*parts)
    return A


def compressed_matrix(
    form: str, shape: tuple[int, ...], indptr: Any, indices: Any, data: Any
) -> Any:
    """Return a matrix that has these arrays; its constructor might cast them down, and copy."""
    if not on_gpu(indptr):
        matrix: Any = (csr_array if form == "csr" else csc_array)(shape, dtype=data.dtype)
    else:
        if data.dtype.char not in _CUPYX_VALUES:
            data = data.astype(np.float64)
        sparse = import_module("cupyx.scipy.sparse")
        matrix = getattr(sparse, f"{form}_matrix")(shape, dtype=data.dtype)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix
