"""Blocks of rows, checked: each by itself, and all of them together."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._types.arrays import IndexArray
from sparsematch._types.errors import check_count, wrong_type

_INT32_MAX = 2**31 - 8


class BlockFacts(NamedTuple):
    """What the ranks have to agree on."""

    shape: tuple[int, int]
    first_row: int
    n_rows: int
    nnz: int
    values: str


def balanced(n: int, n_ranks: int) -> IndexArray:
    """Return where each of so many nearly equal blocks of ``range(n)`` begins, and the end."""
    return np.array([n * rank // n_ranks for rank in range(n_ranks + 1)], np.int64)


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
    """Return the arrays of a rank in their types, checked. Time: O(own rows + entries)."""
    indptr, indices = _integers(indptr, "indptr"), _integers(indices, "indices")
    if not indptr.size or indptr[0] != 0:
        first = f"{indptr[0]}" if indptr.size else "missing"
        raise ValueError(f"indptr[0] is {first}, but must be 0: boundaries are those of own rows")
    if (falls := np.flatnonzero(indptr[1:] < indptr[:-1])).size:
        k = int(falls[0])
        raise ValueError(f"indptr must not fall, but goes from {indptr[k]} to {indptr[k + 1]}")
    nnz = int(indptr[-1])
    if indices.size != nnz:
        raise ValueError(f"indices has {indices.size} elements, but indptr ends with {nnz}")
    if nnz and not 0 <= indices.min() <= indices.max() < n_cols:
        p = int(np.flatnonzero((indices < 0) | (indices >= n_cols))[0])
        raise ValueError(f"indices[{p}] is {indices[p]}, but the matrix has {n_cols} columns")
    if values is not None:
        values = np.asarray(values)
        if values.shape != (nnz,):
            raise ValueError(f"values has shape {values.shape}, but there are {nnz} entries")
    small = n_rows <= _INT32_MAX and n_cols <= _INT32_MAX
    indices = np.ascontiguousarray(indices, np.int32 if small else np.int64)
    return np.ascontiguousarray(indptr, np.int64), indices, values


def _integers(array: Any, name: str) -> NDArray[Any]:
    array = np.asarray(array)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must hold integers, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    return array


def check_together(facts: list[BlockFacts]) -> None:
    """Raise, on all ranks alike, unless the blocks make up one matrix."""
    end = 0
    for rank, fact in enumerate(facts):
        if fact.shape != facts[0].shape:
            raise ValueError(
                f"shape is {facts[0].shape} on rank 0, but {fact.shape} on rank {rank}: it is that "
                "of the whole matrix"
            )
        if fact.values != facts[0].values:
            raise TypeError(
                f"values are {facts[0].values} on rank 0, but {fact.values} on rank {rank}: they "
                "must have one type"
            )
        if fact.first_row != end:
            what = f"rows {end}:{fact.first_row} are on no rank"
            if fact.first_row < end:
                what = f"rows {fact.first_row}:{end} are on rank {rank - 1} too"
            raise ValueError(
                f"rank {rank} begins with row {fact.first_row}, but the ranks before it end with "
                f"row {end}: {what}"
            )
        end += fact.n_rows
    if end != facts[0].shape[0]:
        raise ValueError(f"the ranks have {end} rows, but shape is {facts[0].shape}")
