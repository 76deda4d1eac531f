"""The arrays of sparse matrices of SciPy, each format by its own rules."""

import copy
import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.sparse import SparseEfficiencyWarning

from sparsematch._base.compressed import all_below, as_one_type, check_compressed
from sparsematch._base.errors import warn


def compress(A: Any, name: str) -> Any:
    """Return a CSR or CSC matrix as it is; check and convert others to CSR."""
    if A.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
    if A.format in ("csr", "csc"):
        return A
    if A.format != "coo":
        warn_of_conversion()
        return check_sparse(A, name).tocsr()
    A = copy.copy(check_sparse(A, name))
    A.has_canonical_format = True  # or SciPy adds up what is in one place, in a type that overflows
    A = A.tocsr()
    A.sort_indices()
    return A


def warn_of_conversion() -> None:
    """Warn, in SciPy's words, of a format that takes a conversion."""
    warn(SparseEfficiencyWarning, "Input matrix should be in CSC, CSR, or COO matrix format")


def check_sparse(A: Any, name: str) -> Any:
    """Check all arrays of a sparse matrix of SciPy, in any format, its values included."""
    # Returned is `A`, or a matrix that shares its arrays where these hold more than its entries,
    # which they may, and which not all functions of SciPy bear. Time: O(n_rows + n_cols + nnz).
    if A.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
    if min(A.shape) < 0:
        raise ValueError(f"{name} has shape {A.shape}, but sides must not be negative")
    check = _CHECKS.get(A.format)
    if check is None:
        raise TypeError(f"{name} is in the format {A.format!r}, none of {', '.join(_CHECKS)}")
    return check(A, name)


def _check_csr_or_csc(A: Any, name: str) -> Any:
    by_rows = A.format == "csr"
    sides = A.shape if by_rows else A.shape[::-1]
    return _check_arrays(A, sides, name, "row" if by_rows else "column", 1)


def _check_bsr(A: Any, name: str) -> Any:
    data = A.data
    if not isinstance(data, np.ndarray) or data.ndim != 3 or 0 in data.shape[1:]:
        text = f"{name}.data must be an array of blocks, of shape (blocks, rows, columns)"
        raise ValueError(text)
    (n_rows, n_cols), (height, width) = A.shape, data.shape[1:]
    if n_rows % height or n_cols % width:
        text = f"{name} has shape {A.shape}, which blocks of shape {(height, width)} do not divide"
        raise ValueError(text)
    return _check_arrays(A, (n_rows // height, n_cols // width), name, "block row", 3)


def _check_coo(A: Any, name: str) -> Any:
    if len(A.coords) != 2:
        raise ValueError(f"{name}.coords must be two arrays, not {len(A.coords)}")
    _check_values(A.data, 0, name, 1)
    for side, (field, noun) in enumerate((("row", "rows"), ("col", "columns"))):
        indices = A.coords[side]
        _check_indices(indices, A.shape[side], noun, f"{name}.{field}", "[{}]")
        if indices.size != A.data.size:
            text = f"{name}.{field} has {indices.size} elements, but {name}.data {A.data.size}"
            raise ValueError(text)
    return A


def _check_dia(A: Any, name: str) -> Any:
    offsets, data = _integers(A.offsets, f"{name}.offsets"), A.data
    _check_values(data, offsets.size, name, 2)
    if offsets.ndim != 1 or len(data) != offsets.size:
        text = f"{name}.offsets has shape {offsets.shape}, but {name}.data {len(data)} diagonals"
        raise ValueError(text)
    if np.unique(offsets).size < offsets.size:
        raise ValueError(f"{name}.offsets names a diagonal twice")
    n_rows, n_cols = A.shape
    inside = (offsets > -n_rows) & (offsets < n_cols)
    if inside.all():
        return A
    A = copy.copy(A)
    A.offsets, A.data = offsets[inside], data[inside]
    return A


def _check_lil(A: Any, name: str) -> Any:
    for field in ("rows", "data"):
        lists = getattr(A, field)
        if not isinstance(lists, np.ndarray) or lists.shape != A.shape[:1]:
            raise ValueError(f"{name}.{field} must be an array of {A.shape[0]} lists")
        if not set(map(type, lists)) <= {list}:
            raise TypeError(f"{name}.{field} must hold lists")
    counts = [np.fromiter(map(len, lists), np.intp) for lists in (A.rows, A.data)]
    if not np.array_equal(counts[0], counts[1]):
        i = int(np.flatnonzero(counts[0] != counts[1])[0])
        raise ValueError(f"{name} has {counts[0][i]} indices, but {counts[1][i]} values in row {i}")
    cols = _from_list(itertools.chain.from_iterable(A.rows), f"{name}.rows")
    _check_indices(cols, A.shape[1], "columns", f"{name}.rows", ", index {},")
    return A


def _check_dok(A: Any, name: str) -> Any:
    keys = list(A.keys())
    if not all(isinstance(key, tuple) and len(key) == 2 for key in keys):
        raise ValueError(f"{name} has a key that is no pair of indices")
    for side, noun in enumerate(("rows", "columns")):
        indices = _from_list((key[side] for key in keys), f"{name}.keys()")
        _check_indices(indices, A.shape[side], noun, f"{name}.keys()", f", key {{}}, index {side},")
    return A


_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "csr": _check_csr_or_csc,
    "csc": _check_csr_or_csc,
    "coo": _check_coo,
    "bsr": _check_bsr,
    "dia": _check_dia,
    "lil": _check_lil,
    "dok": _check_dok,
}


def _check_arrays(A: Any, sides: tuple[int, int], name: str, major: str, ndim: int) -> Any:
    """Check a compressed matrix; return it without what lies beyond its entries, or blocks."""
    indptr, indices = (_integers(getattr(A, x), f"{name}.{x}") for x in ("indptr", "indices"))
    indptr, indices = as_one_type(indptr, indices, sides, name)
    check_compressed(indptr, np.ascontiguousarray(indices), sides, name, major=major)
    n = int(indptr[-1])
    _check_values(A.data, n, name, ndim)
    if A.indices.size == n == A.data.shape[0]:
        return A
    A = copy.copy(A)
    A.indices, A.data = A.indices[:n], A.data[:n]
    return A


def _check_indices(indices: Any, size: int, noun: str, name: str, place: str) -> None:
    """Check indices of one side, in any order."""
    if _integers(indices, name).ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {indices.ndim}")
    same = indices if indices.dtype == np.int32 else indices.astype(np.int64, copy=False)
    if indices.size and not all_below(same, size):
        p = int(np.flatnonzero((indices < 0) | (indices >= size))[0])
        text = f"{name}{place.format(p)} is {indices[p]}, but the matrix has {size} {noun}"
        raise ValueError(text)


def _from_list(indices: Iterable[Any], name: str) -> Any:
    try:
        return np.fromiter(map(operator.index, indices), np.int64)
    except TypeError:
        raise TypeError(f"{name} must hold integers only") from None
    except OverflowError:
        raise ValueError(f"{name} holds an integer beyond 64 bits") from None


def _integers(array: Any, name: str) -> Any:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be an array, not {type(array).__name__}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, not {array.dtype}")
    return array


def _check_values(data: Any, n: int, name: str, ndim: int) -> None:
    if not isinstance(data, np.ndarray):
        raise TypeError(f"{name}.data must be an array, not {type(data).__name__}")
    if data.ndim != ndim or data.shape[0] < n:
        raise ValueError(f"{name}.data has shape {data.shape}, but there are {n} entries")
