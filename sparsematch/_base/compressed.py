"""Whether index arrays of compressed rows, or columns, are consistent."""

from typing import Any, NoReturn

import numpy as np

from sparsematch._base.arrays import IndexArray

_UNSIGNED = {np.dtype(f"i{k}"): np.dtype(f"u{k}") for k in (4, 8)}
_INT32 = np.dtype(np.int32)
#: Vertices of a side: numbers of blocks go on from there, the largest have other meanings.
INT32_MAX = 2**31 - 8


def as_one_type(
    first: Any,
    second: Any,
    shape: tuple[int, int],
    name: str,
    fields: tuple[str, str] = ("indptr", "indices"),
) -> tuple[Any, Any]:
    """Return two index arrays as they are if both are int32, and that will do, else int64."""
    # They are of NumPy or CuPy. Raises TypeError if one does not hold integers.
    if first.dtype == second.dtype == _INT32 and max(shape) <= INT32_MAX:
        return first, second
    for field, index_array in zip(fields, (first, second), strict=True):
        if index_array.dtype.kind not in "iu":
            raise TypeError(f"{name}.{field} must hold integers, not {index_array.dtype}")
    return first.astype(np.int64, copy=False), second.astype(np.int64, copy=False)


def check_compressed(
    indptr: IndexArray,
    indices: IndexArray,
    sides: tuple[int, int],
    name: str,
    *,
    major: str = "row",
) -> None:
    """Raise ValueError unless every entry lies in the matrix, which messages call `name`."""
    # `indptr` runs over as many rows, columns or block rows (`major`) as the first of `sides`, and
    # `indices`, of the same type, number the second; they may be longer than ``indptr[-1]``. Time:
    # O(n_major + nnz), two passes.
    n_major, n_minor = sides
    if indptr.ndim != 1 or indices.ndim != 1:
        raise ValueError(f"{name}.indptr and {name}.indices must have one dimension")
    if min(sides) < 0:
        raise ValueError(f"{name} has {min(sides)} rows or columns, but cannot have fewer than 0")
    if indptr.size != n_major + 1:
        raise ValueError(
            f"{name}.indptr has length {indptr.size}, but a matrix with {n_major} {major}s "
            f"needs length {n_major + 1}"
        )
    if indptr[0] != 0:
        raise ValueError(f"{name}.indptr[0] is {int(indptr[0])}, but must be 0")
    if (falls := (indptr[1:] < indptr[:-1]).nonzero()[0]).size:
        k = int(falls[0])
        start, end = int(indptr[k]), int(indptr[k + 1])
        raise ValueError(f"{name}.indptr decreases at {major} {k}: from {start} to {end}")
    if (nnz := int(indptr[-1])) > indices.size:
        raise ValueError(
            f"{name}.indptr[-1] is {nnz}, but {name}.indices holds {indices.size} entries only"
        )
    if nnz and not all_below(indices[:nnz], n_minor):
        _refuse_indices(indptr, indices, n_minor, name, major)


def check_values(data: Any, nnz: int, name: str) -> None:
    """Raise TypeError unless these are numbers, ValueError if there are too few of them."""
    if data.dtype.kind not in "biufc":
        raise TypeError(f"{name}.data must hold numbers, not {data.dtype}")
    if data.ndim != 1 or data.size < nnz:
        raise ValueError(f"{name}.data has shape {data.shape}, but there are {nnz} entries")


def all_below(indices: IndexArray, size: int) -> bool:
    """Tell whether some indices, int32 or int64, are from 0 to `size` - 1."""
    # Read as unsigned, a negative index is a very large one: the largest bounds both ends.
    values = indices.view(_UNSIGNED[indices.dtype])
    return int(values[values.argmax()]) < size  # which NumPy finds faster than by max()


def _refuse_indices(
    indptr: IndexArray, indices: IndexArray, n_minor: int, name: str, major: str
) -> NoReturn:
    used = indices[: indptr[-1]]
    p = int(np.flatnonzero((used < 0) | (used >= n_minor))[0])
    k = (indptr <= p).nonzero()[0].size - 1
    minor = {"column": "row", "block row": "block column"}.get(major, "column")
    raise ValueError(
        f"{name}.indices[{p}] is {int(used[p])}, in {major} {k}, "
        f"but the matrix has {n_minor} {minor}s"
    )
