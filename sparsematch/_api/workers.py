"""How many threads a call may use: an argument, or a default for all calls within a context."""

import operator
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from sparsematch._types.errors import wrong_type

_LARGEST = 1024
_default: ContextVar[int] = ContextVar("sparsematch_workers", default=1)


def set_workers(workers: int) -> AbstractContextManager[None]:
    """Set the number of threads that calls within a ``with`` block use by default.

    Parameters
    ----------
    workers : int
        From 1 to 1024, or -1 for as many as there are cores that this process may use.

    Returns
    -------
    context manager
        The default is set on entry and restored on exit, for the current thread or task only.

    Raises
    ------
    TypeError
        If `workers` is not an integer.
    ValueError
        If it is none of the above.

    See Also
    --------
    get_workers

    Examples
    --------
    >>> from sparsematch import get_workers, set_workers
    >>> with set_workers(4):
    ...     get_workers()
    4
    """
    return _workers_set_to(_read(workers))


def get_workers() -> int:
    """Return the number of threads that a call with ``workers=None`` uses.

    Returns
    -------
    int
        1 outside `set_workers`.

    See Also
    --------
    set_workers

    Examples
    --------
    >>> from sparsematch import get_workers
    >>> get_workers()
    1
    """
    return _default.get()


def resolve_workers(workers: int | None) -> int:
    """Turn the argument `workers` of a call into a number of threads."""
    return _default.get() if workers is None else _read(workers)


@contextmanager
def _workers_set_to(count: int) -> Iterator[None]:
    token = _default.set(count)
    try:
        yield
    finally:
        _default.reset(token)


def _read(workers: Any) -> int:
    if isinstance(workers, bool) or not hasattr(workers, "__index__"):
        raise wrong_type("workers", workers, "an integer")
    count = operator.index(workers)
    if count == -1:
        return _available_cores()
    if not 1 <= count <= _LARGEST:
        raise ValueError(
            f"workers is {count}, but must be from 1 to {_LARGEST}, or -1 for all cores"
        )
    return count


def _available_cores() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
