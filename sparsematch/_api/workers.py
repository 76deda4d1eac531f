"""How many threads a call may use: an argument, or a default for all calls within a context."""

from __future__ import annotations  # readable names in help()

import operator
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from sparsematch._api.cores import usable_cores
from sparsematch._base.arrays import on_gpu
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import MatchingOps
from sparsematch._engines.registry import operations

_LARGEST = 1024
#: That of `set_workers`; 0 outside.
_default: ContextVar[int] = ContextVar("sparsematch_workers", default=0)


def set_workers(workers: int) -> AbstractContextManager[None]:
    """Set the number of threads that calls within a ``with`` block use by default.

    Parameters
    ----------
    workers : int
        From 1 to 1024, or -1 for as many as there are cores that this process may use. No call
        starts more threads than that, whatever was asked for.

    Returns
    -------
    context manager
        The default is set on entry and restored on exit, for the current thread or task only.

    Raises
    ------
    TypeError, ValueError
        If `workers` is not an integer, or none of the above.

    See Also
    --------
    get_workers

    Notes
    -----
    The cores that a process may use are those of its affinity, or fewer if a control group has a
    CPU quota, as a container has: a quota of 1.5 cores counts as two. The environment variable
    ``SPARSEMATCH_CORES`` overrides both where they are wrong.

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
    return _default.get() or 1


def resolve_workers(workers: int | None, given: Any = None) -> int:
    """Turn the argument `workers` of a call on a matrix, or an array, into a number of threads."""
    # No more than cores: threads that take turns on a core wait for each other. What a GPU leaves
    # to the host was large enough for a GPU.
    wanted = _default.get() if workers is None else _read(workers)
    wanted = wanted or (_read(-1) if given is not None and on_gpu(given) else 1)
    return wanted if wanted == 1 else min(wanted, usable_cores())


def one_team(threads: int, given: Any) -> AbstractContextManager[object]:
    """Keep the threads that work on a matrix in host memory from one stage to the next."""
    if threads == 1 or on_gpu(given):
        return nullcontext()
    return operations(MatchingOps, "numpy").kept_team()


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
    if (count := operator.index(workers)) == -1:
        return min(usable_cores(), _LARGEST)
    if not 1 <= count <= _LARGEST:
        text = f"workers is {count}, but must be from 1 to {_LARGEST}, or -1 for all cores"
        raise ValueError(text)
    return count
