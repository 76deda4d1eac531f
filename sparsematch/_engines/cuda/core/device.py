"""What the drivers share: the threads of a list, sets of vertices, seeds, numbers read back."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR

#: The largest int of a kernel.
INT_MAX = 2**31 - 1


def lane_shift(entries: int, lists: int, *, each: int = 2, most: int = 5) -> int:
    """Return how many threads share a list, as a power of two."""
    # About one for `each` entries of the mean list, 2^most at most.
    return min((max(entries // max(lists, 1), 0) // each).bit_length(), most)


def lanes_of(graph: BipartiteCSR) -> np.int32:
    """Return the `lane_shift` of the lists of the majors."""
    return np.int32(lane_shift(graph.nnz, graph.n_major))


def bit_set(xp: Any, n: int) -> Any:
    """Return a set that holds none of n vertices, one bit each."""
    return xp.zeros(n // 32 + 1, np.uint32)


def index_bits(n: int) -> np.int32:
    """Return the bits of the largest of n numbers: what `shuffle` mixes."""
    return np.int32(max(n - 1, 0).bit_length())


def seed_of(run: Run) -> np.uint32:
    """Return the low bits of the seed."""
    return np.uint32(run.seed & 0xFFFFFFFF)


def start_copy(array: Any) -> Callable[[], Any]:
    """Start to copy a small array to the host; return what waits for that, and gives the copy."""
    # Unlike `get` it does not wait for kernels launched after it.
    cuda = namespace(array).cuda
    host = np.frombuffer(cuda.alloc_pinned_memory(array.nbytes), array.dtype, array.size)
    array.get(out=host, blocking=False)
    copied = cuda.Event(disable_timing=True)
    copied.record()

    def read() -> Any:
        copied.synchronize()
        return host

    return read


class HostNumbers:
    """A few numbers in host memory, zero, that a kernel writes by itself."""

    # They are read after a wait, without a copy: pinned memory, at one address on both sides.
    def __init__(self, xp: Any, n: int) -> None:
        self._stream = xp.cuda.get_current_stream()
        self._memory = xp.cuda.alloc_pinned_memory(8 * n)
        self._numbers = np.frombuffer(self._memory, np.int64, n)
        self._numbers[:] = 0

    @property
    def pointer(self) -> np.uint64:
        """The address, as a kernel takes it."""
        return np.uint64(self._memory.ptr)

    def read(self) -> list[int]:
        """Return the numbers; waits for the device."""
        self._stream.synchronize()
        return self._numbers.tolist()
