"""Who owns what, and what is sent, as kernels take it; counts that the host reads."""

from typing import Any

import numpy as np

from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.device import HostNumbers
from sparsematch._engines.cuda.core.layout import Struct, layout
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._types.arrays import namespace
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Letters to a rank that there is room for at least, if so many can be sent.
LEAST_ROOM = 1 << 14


def owners(kernels: Kernels, A: DistributedCSR, what: str) -> Struct:
    """Return who owns the ``"rows"`` or the ``"cols"``."""
    starts = A.row_starts if what == "rows" else A.col_starts
    begin, end = starts[A.rank], starts[A.rank + 1]
    on_device = namespace(A.indptr).asarray(starts)
    return kernels.struct("Owners", starts=on_device, begin=begin, end=end)


def room_for(letters: int, entries: int, size: int) -> int:
    """Return how many letters fit in each box, where a rank writes so many at most in one go.

    Some stay on the rank, and the others go to several, evenly for the most part. There is room for
    no more than an eighth of the entries: what finds none is sent in the next exchange.
    """
    others = max(size - 1, 1)
    share = letters // size + (letters // (4 * size) if others > 1 else 0) + 1
    return max(min(share, entries // (8 * others)), min(letters, LEAST_ROOM))


class Outbox:
    """Boxes for letters of so many numbers, one for each other rank. Making one is collective.

    Attributes
    ----------
    counts : array of int64, shape (ranks,)
        Letters in each, written by kernels.
    largest_room : int
        The room of a box on the rank where it is largest.
    """

    def __init__(self, exchange: Exchange, counts: Any, width: int, room: int, dtype: Any) -> None:
        self.exchange, self.counts, self.width, self.room = exchange, counts, width, room
        self._letters = namespace(counts).empty((exchange.size - 1) * room * width, dtype)
        self._rooms = exchange.share([room])  # every rank may have another
        self.largest_room = int(self._rooms.max())

    def struct(self, kernels: Kernels) -> Struct:
        """Return it as kernels take it."""
        numbers = {"rank": np.int32(self.exchange.rank), "ranks": np.int32(self.exchange.size)}
        arrays = {"letters": self._letters, "counts": self.counts}
        return kernels.struct("Outbox", **arrays, room=np.int64(self.room), **numbers)

    def send(self, counts: Any) -> tuple[Any, np.int64]:
        """Exchange the letters; return those that came, and how many. Collective.

        `counts` are those of all ranks, of how many go to each.
        """
        rank, size, width = self.exchange.rank, self.exchange.size, self.width
        counts = np.minimum(counts, self._rooms)
        out = []
        for to in range(size):
            begin = (to - (to > rank)) * self.room * width
            n = 0 if to == rank else int(counts[rank, to])
            out.append(self._letters[begin : begin + n * width])
        arrived = self.exchange.swap(out, counts[:, rank] * width)
        return arrived, np.int64(arrived.size // width)


class Counts:
    """Numbers that kernels count on the device, and that a kernel reports to the host.

    The letters of the boxes, and as many of the fields as are `fresh`, begin anew then.

    Attributes
    ----------
    device : array of int64
        `boxes` times the number of ranks, and then the fields of the struct ``Progress``.
    """

    def __init__(
        self, kernels: Kernels, exchange: Exchange, xp: Any, *, boxes: int, fresh: int
    ) -> None:
        self.kernels, self._size = kernels, exchange.size
        self._cleared = np.int32(boxes * exchange.size + fresh)
        self._fields = layout(kernels.name, kernels.dtype, "Progress").names or ()
        n = boxes * exchange.size + len(self._fields)
        self.device = xp.zeros(n, np.int64)
        self._host = HostNumbers(xp, n)

    def box(self, number: int) -> Any:
        """Return the counts of an outbox, by rank."""
        return self.device[number * self._size : (number + 1) * self._size]

    @property
    def progress(self) -> Any:
        """The fields."""
        return self.device[self.device.size - len(self._fields) :]

    def read(self) -> list[int]:
        """Return all numbers; waits for the device."""
        n = self.device.size
        arguments = self.device, np.int32(n), self._cleared, self._host.pointer
        self.kernels.launch("report", n, *arguments)
        return self._host.read()

    def field(self, numbers: Any, name: str) -> Any:
        """Return a field of numbers that were read, or of those of all ranks."""
        return np.asarray(numbers)[..., self._fields.index(name) - len(self._fields)]

    def boxes(self, everyone: Any, number: int) -> Any:
        """Return the counts of an outbox of all ranks, shape (ranks, ranks)."""
        return everyone[:, number * self._size : (number + 1) * self._size]
