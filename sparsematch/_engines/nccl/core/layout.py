"""Ownership, send buffers and counters as arguments of kernels."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.device import HostNumbers
from sparsematch._engines.cuda.core.layout import Struct, layout
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Least capacity of a send buffer, unless fewer messages are possible; messages to one rank.
LEAST_CAPACITY = 1 << 14


def owners(kernels: Kernels, A: DistributedCSR, side: str) -> Struct:
    """Return the owners of the ``"rows"`` or the ``"cols"``."""
    starts = A.row_starts if side == "rows" else A.col_starts
    begin, end = starts[A.rank], starts[A.rank + 1]
    on_device = namespace(A.indptr).asarray(starts)
    return kernels.struct("Owners", starts=on_device, begin=begin, end=end)


def capacity_for(messages: int, entries: int, size: int) -> int:
    """Return the capacity of each send buffer, given the most messages written at once."""
    # Destinations are about even. At most 1/8 of all entries: the next exchange sends the rest.
    others = max(size - 1, 1)
    share = messages // size + (messages // (4 * size) if others > 1 else 0) + 1
    return max(min(share, entries // (8 * others)), min(messages, LEAST_CAPACITY))


class SendBuffers:
    """Buffers for messages of `width` numbers, one for each other rank. Collective."""

    # Kernels write to `counts` (int64) how many each has; `largest_capacity` is that of any rank.
    def __init__(
        self, exchange: Exchange, counts: Any, width: int, capacity: int, dtype: Any
    ) -> None:
        self.exchange, self.counts, self.width, self.capacity = exchange, counts, width, capacity
        self._messages = namespace(counts).empty((exchange.size - 1) * capacity * width, dtype)
        self._capacities = exchange.allgather_numbers([capacity])  # they differ between ranks
        self.largest_capacity = int(self._capacities.max())

    def struct(self, kernels: Kernels) -> Struct:
        """Return the argument of kernels."""
        numbers = {"rank": np.int32(self.exchange.rank), "ranks": np.int32(self.exchange.size)}
        arrays = {"messages": self._messages, "counts": self.counts}
        return kernels.struct("SendBuffers", **arrays, capacity=np.int64(self.capacity), **numbers)

    def alltoallv(self, counts: Any) -> tuple[Any, np.int64]:
        """Exchange the messages; return those that arrive, and their number. Collective."""
        # `counts`: messages from each rank to each, shape (ranks, ranks).
        rank, size, width = self.exchange.rank, self.exchange.size, self.width
        counts = np.minimum(counts, self._capacities) * width
        np.fill_diagonal(counts, 0)
        place = np.arange(size)
        begin = (place - (place > rank)) * self.capacity * width
        parts = counts[rank], counts[:, rank]
        arrived = self.exchange.alltoallv_parts(self._messages, *parts, begin)
        return arrived, np.int64(arrived.size // width)


class Counts:
    """Counters of kernels on the device, which a kernel reports to the host."""

    # The array `device` has the counts of messages, for each of the `buffers` and each rank, then
    # the fields of struct ``Progress``. A report clears the counts and the first `cleared` fields.
    def __init__(
        self, kernels: Kernels, exchange: Exchange, xp: Any, *, buffers: int, cleared: int
    ) -> None:
        self.kernels, self._exchange, self._size = kernels, exchange, exchange.size
        self._cleared = np.int32(buffers * exchange.size + cleared)
        self._fields = layout(kernels.name, kernels.dtype, "Progress").names or ()
        n = buffers * exchange.size + len(self._fields)
        self.device = xp.zeros(n, np.int64)
        self._host = HostNumbers(xp, n)

    def messages(self, number: int) -> Any:
        """Return the counts of messages in the given send buffers, by rank."""
        return self.device[number * self._size : (number + 1) * self._size]

    @property
    def progress(self) -> Any:
        """The fields."""
        return self.device[self.device.size - len(self._fields) :]

    def read(self) -> list[int]:
        """Return all counters; waits for the device."""
        n = self.device.size
        arguments = self.device, np.int32(n), self._cleared, self._host.pointer
        self.kernels.launch("report", n, *arguments)
        return self._host.read()

    def read_all(self) -> tuple[Any, list[int]]:
        """Return the counters of all ranks, and of this one. Collective; waits."""
        numbers = self.read()
        return self._exchange.allgather_numbers(numbers), numbers

    def field(self, numbers: Any, name: str) -> Any:
        """Return a field of counters that were read, on this rank or on all."""
        return np.asarray(numbers)[..., self._fields.index(name) - len(self._fields)]

    def messages_of_all(self, everyone: Any, number: int) -> Any:
        """Return the counts of messages on all ranks, shape (ranks, ranks)."""
        return everyone[:, number * self._size : (number + 1) * self._size]
