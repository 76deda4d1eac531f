"""Blocks of rows, checked: each by itself, and all of them together."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray, namespace, on_gpu
from sparsematch._base.compressed import INT32_MAX
from sparsematch._base.errors import check_count, wrong_type

#: Entries checked in one call; bounds the workspace on a GPU.
_SLICE = 1 << 30


class BlockFields(NamedTuple):
    """What the ranks have to agree on."""

    shape: tuple[int, int]
    first_row: int
    n_rows: int
    nnz: int
    values: str
    memory: str
    serial: int


def read_shape(shape: Any) -> tuple[int, int]:
    """Return the rows and columns of the whole matrix."""
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise wrong_type("shape", shape, "a pair (rows, columns)")
    for name, size in zip(("shape[0]", "shape[1]"), shape, strict=True):
        check_count(name, size)
    return int(shape[0]), int(shape[1])


def read_block(
    indptr: Any, indices: Any, values: Any, n_rows: int, n_cols: int
) -> tuple[IndexArray, IndexArray, NDArray[Any] | None]:
    """Return the arrays of a rank in their types, checked where they are.

    Time: O(own rows + entries).
    """
    device = _device_of(indptr)
    indptr, indices = (
        _integers(array, name, device) for array, name in ((indptr, "indptr"), (indices, "indices"))
    )
    xp = namespace(indptr)
    if not indptr.size or indptr[0] != 0:
        first = f"{int(indptr[0])}" if indptr.size else "missing"
        raise ValueError(f"indptr[0] is {first}, but must be 0: boundaries are those of own rows")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        k = int(falls.argmax())
        raise ValueError(
            f"indptr must not fall, but goes from {int(indptr[k])} to {int(indptr[k + 1])}"
        )
    nnz = int(indptr[-1])
    if indices.size != nnz:
        raise ValueError(f"indices has {indices.size} elements, but indptr ends with {nnz}")
    for begin in range(0, nnz, _SLICE):
        part = indices[begin : begin + _SLICE]
        if not (int(part.min()) >= 0 and int(part.max()) < n_cols):
            p = int(((part < 0) | (part >= n_cols)).argmax())
            raise ValueError(
                f"indices[{begin + p}] is {int(part[p])}, but the matrix has {n_cols} columns"
            )
    if values is not None:
        _check_device(values, "values", device)
        values = xp.asarray(values)
        if values.shape != (nnz,):
            raise ValueError(f"values has shape {values.shape}, but there are {nnz} entries")
    small = n_rows <= INT32_MAX and n_cols <= INT32_MAX
    dtype = np.dtype(np.int32 if small else np.int64)
    indices = xp.ascontiguousarray(indices.astype(dtype, copy=False))
    return xp.ascontiguousarray(indptr.astype(np.int64, copy=False)), indices, values


def memory_of(array: Any) -> str:
    """Return where an array is, as messages have it."""
    return "on a GPU" if on_gpu(array) else "in host memory"


def _device_of(array: Any) -> int | None:
    """Return the number of the GPU that an array is on, which must be the current one, or None."""
    if not on_gpu(array):
        return None
    here, there = namespace(array).cuda.runtime.getDevice(), int(array.device.id)
    if here != there:
        raise ValueError(
            f"indptr is on GPU {there}, but GPU {here} is the current one of this rank; "
            f"cupy.cuda.Device({there}).use() selects the other"
        )
    return there


def _check_device(array: Any, name: str, device: int | None) -> None:
    """Raise unless an array is where `indptr` is."""
    if on_gpu(array) != (device is not None):
        other = "in host memory" if device is None else "on a GPU"
        raise TypeError(f"{name} is {memory_of(array)}, but indptr is {other}")
    if device is not None and array.device.id != device:
        raise ValueError(f"{name} is on GPU {array.device.id}, but indptr is on GPU {device}")


def _integers(array: Any, name: str, device: int | None) -> NDArray[Any]:
    _check_device(array, name, device)
    array = np.asarray(array) if device is None else array
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must hold integers, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    return array


def check_together(blocks: list[BlockFields]) -> None:
    """Raise, on all ranks alike, unless the blocks make up one matrix."""
    end = 0
    for rank, block in enumerate(blocks):
        if block.memory != blocks[0].memory:
            raise TypeError(
                f"the arrays are {blocks[0].memory} on rank 0, but {block.memory} on rank {rank}: "
                "they must be in the same kind of memory"
            )
        if block.shape != blocks[0].shape:
            raise ValueError(
                f"shape is {blocks[0].shape} on rank 0, but {block.shape} on rank {rank}: it is "
                "that of the whole matrix"
            )
        if block.values != blocks[0].values:
            raise TypeError(
                f"values are {blocks[0].values} on rank 0, but {block.values} on rank {rank}: they "
                "must have one type"
            )
        if block.first_row != end:
            what = f"rows {end}:{block.first_row} are on no rank"
            if block.first_row < end:
                what = f"rows {block.first_row}:{end} are on rank {rank - 1} too"
            raise ValueError(
                f"rank {rank} begins with row {block.first_row}, but the ranks before it end with "
                f"row {end}: {what}"
            )
        end += block.n_rows
    if end != blocks[0].shape[0]:
        raise ValueError(f"the ranks have {end} rows, but shape is {blocks[0].shape}")
