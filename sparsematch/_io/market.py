"""Matrix Market files in coordinates, read in parts: each rank the lines that begin in its bytes.

Boisvert, Pozo, Remington, The Matrix Market exchange formats (NISTIR 5935, 1996).
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import scipy.io

from sparsematch._base.arrays import Array
from sparsematch._io.errors import UnreadableFile, check_places
from sparsematch._io.formats import call_reader
from sparsematch._io.market_text import PIECE, count_entries, read_header
from sparsematch._types.over_ranks.matrix import balanced

#: More rows and columns than there are in any file.
_SIDE = 2**63 - 1


class MarketFile:
    """A matrix of coordinates in text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.header = read_header(file)
        if self.header.layout != "coordinate":
            raise UnreadableFile("holds a dense array; ranks read coordinates")
        self.shape, self._begin = self.header.shape, self.header.begin
        self.lines = 0  #: With an entry, that this rank has read.
        self._end = path.stat().st_size

    def batches(self, rank: int, size: int) -> Iterator[tuple[Array, ...]]:
        """Yield rows, columns and perhaps values of the lines of a rank, some at a time."""
        begin, end = (self._begin + balanced(self._end - self._begin, size))[rank : rank + 2]
        with self.path.open("rb") as file:
            file.seek(max(int(begin) - 1, self._begin))
            if begin > self._begin:
                file.readline()  # a line that begins before; empty if the byte before ends one
            while (at := file.tell()) < end:
                text = file.read(min(PIECE, int(end) - at))
                if not text.endswith(b"\n"):
                    text += file.readline()
                yield self._entries(text)

    def _entries(self, text: bytes) -> tuple[Array, ...]:
        """Have SciPy parse lines as a file of their own, so large that no place is outside."""
        n, header = count_entries(self.header, text), self.header
        self.lines += n
        head = f"%%MatrixMarket matrix coordinate {header.field} {header.symmetry}\n{_SIDE} {_SIDE}"
        try:
            A = call_reader(scipy.io.mmread, io.BytesIO(f"{head} {n}\n".encode() + text + b"\n"))
        except ValueError as error:  # which counts lines of the part
            raise UnreadableFile(re.sub(r"^Line \d+: ", "", str(error))) from None
        check_places(A.row, A.col, self.shape, first=1)
        if header.field == "pattern":
            return A.row, A.col
        return A.row, A.col, A.data.astype(complex if header.field == "complex" else float)
