"""Matrix Market files in coordinates, read in parts: each rank the lines that begin in its bytes.

Boisvert, Pozo, Remington, The Matrix Market exchange formats (NISTIR 5935, 1996).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._io.errors import UnreadableFile
from sparsematch._io.market_text import NUMBERS, count_entries, read_header
from sparsematch._types.over_ranks.matrix import balanced

#: Bytes that are parsed at a time.
_PIECE = 1 << 22

_Batch = tuple[NDArray[Any], ...]


class MarketFile:
    """A matrix of coordinates in text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._header = read_header(file)
        if self._header.layout != "coordinate":
            raise UnreadableFile("holds a dense array; ranks read coordinates")
        self.shape, self.stated = self._header.shape, self._header.entries
        self._begin = self._header.begin
        self.lines = 0  #: With an entry, that this rank has read; the file has `stated`.
        self._end = path.stat().st_size

    def batches(self, rank: int, size: int) -> Iterator[_Batch]:
        """Yield rows, columns and perhaps values of the lines of a rank, some at a time."""
        begin, end = (self._begin + balanced(self._end - self._begin, size))[rank : rank + 2]
        with self.path.open("rb") as file:
            file.seek(max(int(begin) - 1, self._begin))
            if begin > self._begin:
                file.readline()  # a line that begins before; empty if the byte before ends one
            while (at := file.tell()) < end:
                text = file.read(min(_PIECE, int(end) - at))
                if not text.endswith(b"\n"):
                    text += file.readline()
                yield from self._entries(text)

    def check_lines(self, found: int) -> None:
        """Raise if all ranks together have not found as many entries as the file states."""
        if found != self.stated:
            raise UnreadableFile(f"states {self.stated} entries, but has {found}")

    def _entries(self, text: bytes) -> Iterator[_Batch]:
        self.lines += count_entries(self._header, text)
        numbers = np.fromstring(text.decode("ascii"), dtype=np.float64, sep=" ")
        table = numbers.reshape(-1, 2 + NUMBERS[self._header.field])
        places = table[:, :2].T
        for name, indices, size in zip(("row", "column"), places, self.shape, strict=True):
            if indices.size and not 1 <= indices.min() <= indices.max() <= size:
                wrong = int(indices[(indices < 1) | (indices > size)][0])
                raise UnreadableFile(f"has an entry in {name} {wrong}, of {size} {name}s")
        rows, cols = places.astype(np.int64) - 1
        values = self._values(table)
        yield (rows, cols, *values)
        if self._header.symmetry != "general":
            off = rows != cols
            yield (cols[off], rows[off], *(self._mirror(v[off]) for v in values))

    def _values(self, table: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        if self._header.field == "pattern":
            return ()
        if self._header.field == "complex":
            return (table[:, 2] + 1j * table[:, 3],)
        return (np.ascontiguousarray(table[:, 2]),)

    def _mirror(self, values: NDArray[Any]) -> NDArray[Any]:
        if self._header.symmetry == "skew-symmetric":
            return -values
        return np.conj(values) if self._header.symmetry == "hermitian" else values
