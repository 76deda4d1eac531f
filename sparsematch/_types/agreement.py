"""Errors that all ranks of a communicator share, so that none waits for one that has failed.

A communicator is one of mpi4py, or None for a single process. MPI is not imported here: `collect`
calls one method of the communicator that the caller has made. Everything else that ranks say to
each other goes through the exchange of the MPI back-end.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sparsematch._types.errors import wrong_type

_T = TypeVar("_T")


def rank_of(comm: Any) -> int:
    """Return the rank of this process; 0 without a communicator."""
    return 0 if comm is None else int(comm.Get_rank())


def size_of(comm: Any) -> int:
    """Return the number of ranks; 1 without a communicator."""
    return 1 if comm is None else int(comm.Get_size())


def check_communicator(comm: Any) -> None:
    """Raise TypeError unless this is a communicator of mpi4py, or None."""
    needed = "allgather", "Get_rank", "Get_size"
    if comm is not None and not all(hasattr(comm, name) for name in needed):
        raise wrong_type("comm", comm, "a communicator of mpi4py, or None for one process")


def collect(comm: Any, make: Callable[[], _T]) -> list[_T]:
    """Return what `make` returns on each rank; if it raises on one, raise that on all.

    Collective. The results are pickled, so they should be small.

    Raises
    ------
    Exception
        That of the first rank that failed: its type, and its text with the number of the rank in
        front if there are several.
    """
    error, facts = None, None
    try:
        facts = make()
    except Exception as caught:
        error = caught
    if size_of(comm) == 1:
        if error is not None:
            raise error
        return [facts]  # type: ignore[list-item]
    everywhere = comm.allgather((error and _portable(error), facts))
    for rank, (found, _) in enumerate(everywhere):
        if found:
            kind, text = found
            agreed = kind(f"rank {rank}: {text}")
            agreed.agreed = True  # no rank waits for another one
            raise agreed from error
    return [facts for _, facts in everywhere]


def agree(comm: Any, error: Exception | None = None) -> None:
    """Raise on all ranks the error of the first rank that has one. Collective."""

    def fail() -> None:
        if error is not None:
            raise error

    collect(comm, fail)


@contextmanager
def agreeing(comm: Any) -> Iterator[None]:
    """Run a block that needs no other rank; an error in it is raised on all ranks. Collective."""
    error = None
    try:
        yield
    except Exception as caught:
        error = caught
    agree(comm, error)


def check_equal(comm: Any, **arguments: Any) -> None:
    """Raise ValueError on all ranks unless each argument is the same on all of them. Collective."""
    names = list(arguments)
    first, *others = collect(comm, lambda: [repr(arguments[name]) for name in names])
    for rank, given in enumerate(others, start=1):
        for name, here, there in zip(names, first, given, strict=True):
            if here != there:
                raise ValueError(
                    f"{name} must be the same on all ranks, but is {here} on rank 0 and {there} on "
                    f"rank {rank}"
                )


def _portable(error: Exception) -> tuple[type[Exception], str]:
    """Return the type and the text of an error, or of one that can be made of a text alone."""
    for kind in type(error).__mro__:
        try:
            if issubclass(kind, Exception) and "<locals>" not in kind.__qualname__:
                kind(str(error))
                return kind, str(error)
        except TypeError:
            continue
    return RuntimeError, str(error)
