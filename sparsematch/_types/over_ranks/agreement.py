"""Errors that all ranks of a communicator share, so that none waits for one that has failed.

A communicator is one of mpi4py, or None for a single process. MPI is not imported here: `collect`
calls one method of the communicator that the caller has made. Everything else that ranks say to
each other goes through the exchange of the MPI back-end.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from sparsematch._base.errors import wrong_type

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


def collect(comm: Any, call: str, make: Callable[[], _T], **same: Any) -> list[_T]:
    """Return what `make` returns on each rank; if it raises on one, raise that on all."""
    # Collective. The results are pickled, so should be small. `call` says what the ranks do, and on
    # which objects: it must be one text on all, as must the ``repr`` of each of `same`. All is in
    # one message, of some 100 bytes beside the results. Raises RuntimeError if the ranks are in
    # different calls, or on different objects; ValueError if one of `same` differs; else what the
    # first rank that failed raised, with its number in front of the text if there are several.
    error, made, given = None, None, {}
    try:
        made = make()
        given = {name: repr(value) for name, value in same.items()}
    except Exception as caught:
        error = caught
    if size_of(comm) == 1:
        if error is not None:
            raise error
        return [made]  # type: ignore[list-item]
    everywhere = comm.allgather((call, error and _portable(error), made, given))
    _check_calls([there for there, *_ in everywhere])
    for rank, (_, found, *_) in enumerate(everywhere):
        if found:
            kind, text = found
            agreed = kind(f"rank {rank}: {text}")
            agreed.agreed = True  # no rank waits for another one
            raise agreed from error
    _check_equal([there for *_, there in everywhere])
    return [made for _, _, made, _ in everywhere]


@contextmanager
def agreeing(comm: Any, call: str, **same: Any) -> Iterator[None]:
    """Run a block that needs no other rank; raise an error in it on all ranks. Collective."""
    error = None
    try:
        yield
    except Exception as caught:
        error = caught

    def fail() -> None:
        if error is not None:
            raise error

    collect(comm, call, fail, **same)


def _check_calls(calls: list[str]) -> None:
    """Raise unless all ranks are in the same call."""
    for rank, call in enumerate(calls):
        if call != calls[0]:
            error = RuntimeError(
                f"rank 0 calls {calls[0]}, but rank {rank} calls {call}: all ranks must make the "
                "same calls, on the same objects, in the same order"
            )
            error.agreed = True  # type: ignore[attr-defined]
            raise error


def _check_equal(given: list[dict[str, str]]) -> None:
    """Raise unless all ranks have the same arguments, as texts."""
    first, *others = given
    for rank, there in enumerate(others, start=1):
        for name in first:
            if first[name] != there[name]:
                raise ValueError(
                    f"{name} must be the same on all ranks, but is {first[name]} on rank 0 and "
                    f"{there[name]} on rank {rank}"
                )


def _portable(error: Exception) -> tuple[type[Exception], str]:
    """Return the type and the text of an error, or of one that can be made of a text alone."""
    for kind in type(error).__mro__:
        with suppress(TypeError):
            if issubclass(kind, Exception) and "<locals>" not in kind.__qualname__:
                kind(str(error))
                return kind, str(error)
    return RuntimeError, str(error)
