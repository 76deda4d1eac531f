"""Arrays and sparse matrices of other libraries, shared by DLPack where they can be, not copied.

None of these libraries is imported: what an object offers says what it is.
"""

import sys
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from sparsematch._types.arrays import import_cupy, namespace, on_gpu
from sparsematch._types.errors import wrong_type

#: Kinds of devices of the DLPack protocol whose memory NumPy reads, and CuPy.
_HOST, _CUDA = (1, 3), (2, 13)

#: By the layout of a tensor, the methods that return its pointers and its indices.
_COMPRESSED = {
    "sparse_csr": ("csr", "crow_indices", "col_indices"),
    "sparse_csc": ("csc", "ccol_indices", "row_indices"),
}

#: Types of values that a matrix of cupyx.scipy.sparse can have.
_CUPYX_VALUES = "?fdFD"


def as_array(value: Any, name: str) -> Any:
    """Return an array of NumPy or CuPy on the same memory; what is no array is copied to one.

    Raises
    ------
    TypeError
        If it is on a device that neither of them reads.
    """
    if isinstance(value, np.ndarray):
        return value
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(value, cupy.ndarray):
        return value
    if not hasattr(value, "__dlpack_device__"):
        return np.asarray(value)
    kind = int(value.__dlpack_device__()[0])
    if kind in _HOST:
        return np.from_dlpack(value)
    if kind in _CUDA:
        return import_cupy(f"{name}, which is on a GPU,").from_dlpack(value)
    raise TypeError(
        f"{name} is on a device of DLPack type {kind}, but must be in host memory (1) or on an "
        "NVIDIA GPU (2)"
    )


def from_other_library(A: Any) -> Any:
    """Convert a sparse matrix that is neither SciPy's nor CuPy's; return the rest as it is.

    A pydata/sparse array becomes one of SciPy. A sparse tensor with PyTorch's methods becomes a
    matrix of SciPy or, if it is on a GPU, of CuPy, which shares its arrays; a COO tensor is
    coalesced first.
    """
    kind = getattr(sys.modules.get("sparse"), "SparseArray", None)
    if kind is not None and isinstance(A, kind):
        return A.to_scipy_sparse()
    layout = str(getattr(A, "layout", "")).rpartition(".")[2]
    if layout == "sparse_coo":
        _check_coordinates(A)
        A, layout = A.coalesce().to_sparse_csr(), "sparse_csr"
    if layout not in _COMPRESSED:
        if layout.startswith("sparse_"):
            raise TypeError(
                f"a sparse tensor must be in the layout CSR, CSC or COO, not {A.layout}; "
                "to_sparse_csr() converts it"
            )
        return A
    form, pointers, indices = _COMPRESSED[layout]
    if len(A.shape) != 2:
        raise ValueError(f"a sparse tensor must have two dimensions, not {len(A.shape)}")
    A = A.detach()
    fields = getattr(A, pointers)(), getattr(A, indices)(), A.values()
    names = f"{pointers}()", f"{indices}()", "values()"
    return compressed_matrix(form, tuple(A.shape), *map(as_array, fields, names))


def _check_coordinates(A: Any) -> None:
    """Raise ValueError if an index of a COO tensor lies outside: PyTorch need not have checked."""
    indices = as_array(A.detach()._indices(), "_indices()")
    for side, (found, size) in enumerate(zip(indices, A.shape, strict=False)):
        if found.size and not 0 <= int(found.min()) <= int(found.max()) < size:
            raise ValueError(
                f"a sparse tensor of shape {tuple(A.shape)} has indices from {int(found.min())} to "
                f"{int(found.max())} in dimension {side}"
            )


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


def pair_of_arrays(indptr: Any, indices: Any) -> tuple[Any, Any]:
    """Return both as arrays of NumPy, or both as arrays of CuPy.

    Raises
    ------
    TypeError
        If they are not in the same memory, or do not hold integers.
    """
    arrays = as_array(indptr, "indptr"), as_array(indices, "indices")
    for name, array in zip(("indptr", "indices"), arrays, strict=True):
        if array.dtype.kind not in "iu" and array.size:
            raise wrong_type(f"{name}.dtype", array.dtype.type(), "an integer type")
    if namespace(arrays[0]) is not namespace(arrays[1]):
        where = [("in host memory", "on a GPU")[on_gpu(array)] for array in arrays]
        raise TypeError(f"indptr is {where[0]}, but indices are {where[1]}; copy one of the two")
    return arrays
