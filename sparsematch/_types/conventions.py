"""The layouts of Pyomo and MATLAB, which differ in names, order and the first index."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import UNMATCHED, IndexArray
from sparsematch._base.errors import wrong_type

#: Larger numbers are no places in any array.
_MOST = 2**53


class RowPartition(NamedTuple):
    """The rows of each part, with the fields of Pyomo's ``RowPartition``; lists of integers."""

    unmatched: list[int]
    overconstrained: list[int]
    underconstrained: list[int]
    square: list[int]


class ColPartition(NamedTuple):
    """The columns of each part, in the order of Pyomo's ``ColPartition``."""

    unmatched: list[int]
    underconstrained: list[int]
    overconstrained: list[int]
    square: list[int]


def pairs_of(given: Any, name: str) -> Iterable[tuple[Any, Any]]:
    """Return the pairs (row, column) of a Pyomo matching: a dict, or its two partitions."""
    if isinstance(given, Mapping):
        return given.items()
    fields = "underconstrained", "square", "overconstrained"
    is_pair = isinstance(given, tuple | list) and len(given) == 2
    if is_pair and all(hasattr(part, fields[0]) for part in given):
        return [pair for f in fields for pair in zip(*(getattr(g, f) for g in given), strict=True)]
    wanted = "a dict from rows to columns or a pair (RowPartition, ColPartition)"
    raise wrong_type(name, given, wanted)


def row_mate_of(pairs: Iterable[tuple[Any, Any]], shape: tuple[int, int], name: str) -> IndexArray:
    """Return the mates of the rows, given pairs (row, column)."""
    listed = np.array(list(pairs)).reshape(-1, 2)
    if listed.size and listed.dtype.kind not in "iu":
        raise wrong_type(name, listed[0, 0], "made of integers, rows and columns counted from 0")
    rows, cols = listed.astype(np.int64).T
    for index, size, noun in ((rows, shape[0], "row"), (cols, shape[1], "column")):
        wrong = np.flatnonzero((index < 0) | (index >= size))
        if wrong.size:
            text = f"{name} pairs {noun} {index[wrong[0]]}, but there are {size}, counted from 0"
            raise ValueError(text)
    row_mate: IndexArray = np.full(shape[0], UNMATCHED, np.int64)
    row_mate[rows] = cols
    return row_mate


def from_one(array: Any, name: str, low: int = 1) -> IndexArray:
    """Read a vector that counts from 1, and count it from 0."""
    given = np.asarray(array).reshape(-1)
    # MATLAB's numbers are doubles
    whole = given.dtype.kind == "f" and np.array_equal(given, np.trunc(given))
    if given.size and given.dtype.kind not in "iu" and not whole:
        raise wrong_type(name, given[0], f"made of integers from {low}")
    if given.size and given.min() < low:
        raise ValueError(f"{name} has the element {given.min()}, but counts from {low}")
    if given.size and given.max() > _MOST:
        raise ValueError(f"{name} has the element {given.max()}, but numbers at most {_MOST}")
    return given.astype(np.int64) - 1


def permutation(array: Any, name: str) -> IndexArray:
    """Read a permutation that counts from 1."""
    order = from_one(array, name)
    if not np.array_equal(np.sort(order), np.arange(order.size)):
        raise ValueError(f"{name} is not a permutation of the numbers from 1 to {order.size}")
    return order


def boundaries(array: Any, name: str, end: int, size: int | None = None) -> IndexArray:
    """Read boundaries that count from 1, ascending from 1 to end + 1."""
    places = from_one(array, name)
    if size is not None and places.size != size:
        raise ValueError(f"{name} has {places.size} elements, but must have {size}")
    if places.size == 0 or places[0] != 0 or places[-1] != end or np.any(np.diff(places) < 0):
        raise ValueError(f"{name} must ascend from 1 to {end + 1}")
    return places
