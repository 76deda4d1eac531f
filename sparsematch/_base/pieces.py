"""Work on long arrays, cut into pieces for several threads."""

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

_R = TypeVar("_R")
_LARGE = 1 << 17  # values: fewer are done before other threads have started


def in_pieces(work: Callable[[int, int], _R], size: int, threads: int) -> list[_R]:
    """Call ``work(begin, end)`` on consecutive pieces of ``range(size)``, one for each thread."""
    # NumPy lets other threads run while it works on an array. The results are in order, of one
    # piece if the array is short. Pieces that no thread has begun, because the system refused to
    # start one or it had no memory, are done by the caller. All are done at the return.
    pieces = min(threads, max(1, size // _LARGE))
    if pieces == 1:
        return [work(0, size)]
    bounds = [(size * k // pieces, size * (k + 1) // pieces) for k in range(pieces)]
    results: list[Any] = [None] * pieces
    errors: list[BaseException | None] = [None] * pieces
    ended = [allocate_lock() for _ in bounds]
    for lock in ended:
        lock.acquire()
    waiting = list(range(pieces))

    def serve() -> None:
        while True:
            try:
                k = waiting.pop()
            except IndexError:
                return
            try:
                results[k] = work(*bounds[k])
            except BaseException as error:  # raised again by the caller
                errors[k] = error
            finally:
                ended[k].release()

    # as many as the system allows: Thread.start would wait for ever for one that has no memory
    with suppress(RuntimeError, MemoryError):
        for _ in range(pieces - 1):
            start_new_thread(serve, ())
    serve()
    for lock in ended:
        lock.acquire()
    for error in errors:
        if error is not None:
            raise error
    return results
