"""What users call the rows and columns of a matrix."""

from collections.abc import Iterable, Mapping
from typing import Any

from sparsematch._base.errors import wrong_type


def read_names(
    names: Iterable[Any] | None, size: int, argument: str, noun: str
) -> tuple[str, ...] | None:
    """Return names as strings, as many as there are rows or columns (`noun`); None if none came.

    Raises TypeError if they are no collection, ValueError if there are more or fewer.
    """
    if names is None:
        return None
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise wrong_type(argument, names, f"a sequence with the names of all {noun}")
    given = tuple(str(name) for name in names)
    if len(given) != size:
        count = "1 name" if len(given) == 1 else f"{len(given)} names"
        raise ValueError(f"{argument} has {count}, but the matrix has {size} {noun}")
    return given
