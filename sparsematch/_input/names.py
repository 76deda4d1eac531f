"""What users call the rows and columns of a matrix."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sparsematch._base.errors import wrong_type

#: What rows, or columns, are called, where they are; and both.
Names = tuple[str, ...] | None
BothNames = tuple[Names, Names]


def read_both_names(
    row_names: Iterable[Any] | None, col_names: Iterable[Any] | None, shape: tuple[int, int]
) -> BothNames:
    """Return the names of rows and of columns, as `read_names` does."""
    rows = read_names(row_names, shape[0], "row_names", "rows")
    return rows, read_names(col_names, shape[1], "col_names", "columns")


def read_names(names: Iterable[Any] | None, size: int, argument: str, noun: str) -> Names:
    """Return as many names as rows or columns (`noun`), as strings, or raise; None of none."""
    if names is None:
        return None
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise wrong_type(argument, names, f"a sequence with the names of all {noun}")
    given = tuple(str(name) for name in names)
    if len(given) != size:
        count = "1 name" if len(given) == 1 else f"{len(given)} names"
        raise ValueError(f"{argument} has {count}, but the matrix has {size} {noun}")
    if len(set(given)) != size:
        twice = next(name for name, times in Counter(given).items() if times > 1)
        raise ValueError(f"{argument} has {twice!r} more than once: {noun} could not be told apart")
    return given
