"""Sparse matrices of SciPy or CuPy put together of arrays, checked where they are read."""

from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from sparsematch._base.arrays import on_gpu

#: Types of values that a matrix of cupyx.scipy.sparse can have.
_CUPYX_VALUES = "?fdFD"


def compressed_matrix(
    form: str, shape: tuple[int, ...], indptr: Any, indices: Any, data: Any
) -> Any:
    """Return a matrix that has these arrays; its constructor might cast them down, and copy."""
    if isinstance(indptr, np.ndarray):
        empty = _without_arrays(form, shape)
        matrix = object.__new__(type(empty))  # `copy` takes four times as long
        matrix.__dict__ |= empty.__dict__
    else:
        data = as_cupyx_holds(data)
        sparse = import_module("cupyx.scipy.sparse")
        matrix = getattr(sparse, f"{form}_matrix")(shape, dtype=data.dtype)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    return matrix


@lru_cache(64)  # a constructor takes 20 us, more than to solve with a small matrix
def _without_arrays(form: str, shape: tuple[int, ...]) -> Any:
    matrix: Any = (csr_array if form == "csr" else csc_array)(shape)
    matrix.indptr = matrix.indices = matrix.data = None
    return matrix


def coordinate_matrix(shape: tuple[int, ...], rows: Any, cols: Any, data: Any) -> Any:
    """Return a matrix of entries in any order; those in one place will be added up."""
    if not on_gpu(rows):
        return coo_array((data, (rows, cols)), shape=shape)
    sparse = import_module("cupyx.scipy.sparse")
    return sparse.coo_matrix((as_cupyx_holds(data), (rows, cols)), shape=shape)


def as_cupyx_holds(data: Any) -> Any:
    """Return values in a type that these matrices have."""
    if data.dtype.char in _CUPYX_VALUES:
        return data
    return data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)
