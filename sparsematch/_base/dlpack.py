"""Arrays of any library, shared by the DLPack protocol where they can be, not copied."""

import sys
from typing import Any

import numpy as np

from sparsematch._base.arrays import import_cupy, namespace, on_gpu
from sparsematch._base.errors import wrong_type

#: Kinds of devices of the DLPack protocol whose memory NumPy reads, and CuPy.
_HOST, _CUDA = (1, 3), (2, 13)


def as_array(value: Any, name: str) -> Any:
    """Return an array of NumPy or CuPy on the same memory; what is no array is copied to one."""
    if isinstance(value, np.ndarray):
        return value
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(value, cupy.ndarray):
        return value
    if not hasattr(value, "__dlpack_device__"):
        return np.asarray(value)
    if hasattr(value, "detach"):  # a tensor of PyTorch that may require gradients
        value = value.detach()
    kind = int(value.__dlpack_device__()[0])
    try:
        if kind in _HOST:
            return np.from_dlpack(value)
        if kind in _CUDA:
            return import_cupy(f"{name}, which is on a GPU,").from_dlpack(value)
    except (BufferError, RuntimeError) as error:  # its type of numbers, say
        raise TypeError(f"{name} holds what cannot be read: {error}") from error
    raise TypeError(
        f"{name} is on a device of DLPack type {kind}, but must be in host memory (1) or on an "
        "NVIDIA GPU (2)"
    )


def pair_of_arrays(indptr: Any, indices: Any) -> tuple[Any, Any]:
    """Return both as arrays of integers of NumPy, or both of CuPy, or raise TypeError."""
    arrays = as_array(indptr, "indptr"), as_array(indices, "indices")
    for name, array in zip(("indptr", "indices"), arrays, strict=True):
        if array.dtype.kind not in "iu" and array.size:
            raise wrong_type(f"{name}.dtype", array.dtype.type(), "an integer type")
    if namespace(arrays[0]) is not namespace(arrays[1]):
        where = [("in host memory", "on a GPU")[on_gpu(array)] for array in arrays]
        raise TypeError(f"indptr is {where[0]}, but indices are {where[1]}; copy one of the two")
    return arrays
