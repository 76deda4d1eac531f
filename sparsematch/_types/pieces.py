"""Work on long arrays, cut into pieces for several threads."""

from collections.abc import Callable
from typing import TypeVar

_R = TypeVar("_R")
_LARGE = 1 << 17  # values: fewer are done before other threads have started


def in_pieces(work: Callable[[int, int], _R], size: int, threads: int) -> list[_R]:
    """Call ``work(begin, end)`` on consecutive pieces of ``range(size)``, each on its own thread.

    NumPy lets other threads run while it works on an array. The results are in order, of one piece
    if the array is short. The threads have ended when the call returns.
    """
    threads = min(threads, max(1, size // _LARGE))
    if threads == 1:
        return [work(0, size)]
    from concurrent.futures import ThreadPoolExecutor

    bounds = [size * k // threads for k in range(threads + 1)]
    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work, *bounds[k : k + 2]) for k in range(1, threads)]
        return [work(*bounds[:2]), *(other.result() for other in others)]
