"""Matrix Market files in coordinates, read in parts: each rank the lines that begin in its bytes.

Boisvert, Pozo, Remington, The Matrix Market exchange formats (NISTIR 5935, 1996).
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._io.formats import UnreadableFile
from sparsematch._types.row_blocks import balanced

#: Bytes that are parsed at a time.
_PIECE = 1 << 22

_NUMBERS = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}
_SYMMETRIES = "general", "symmetric", "skew-symmetric", "hermitian"

_Batch = tuple[NDArray[Any], ...]


class MarketFile:
    """A matrix of coordinates in text.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    stated : int
        Lines with an entry, as the file says.
    lines : int
        Those that this rank has read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            words = file.readline().decode("latin-1").lower().split()
            if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
                raise UnreadableFile("does not begin with %%MatrixMarket matrix")
            layout, self.field, self.symmetry = words[2:]
            if layout != "coordinate" or self.field not in _NUMBERS:
                raise UnreadableFile(
                    f"holds {layout} {self.field}; ranks read coordinates of {', '.join(_NUMBERS)}"
                )
            if self.symmetry not in _SYMMETRIES:
                raise UnreadableFile(
                    f"has the symmetry {self.symmetry!r}, none of {', '.join(_SYMMETRIES)}"
                )
            line = file.readline()
            while line and (line.startswith(b"%") or not line.strip()):
                line = file.readline()
            try:
                n_rows, n_cols, self.stated = (int(word) for word in line.split())
            except ValueError:
                raise UnreadableFile("has no line with rows, columns and entries") from None
            self.shape = n_rows, n_cols
            self._begin = file.tell()
        self.lines = 0
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
        width = 2 + _NUMBERS[self.field]
        numbers = _numbers(text)
        if numbers.size % width:
            raise UnreadableFile(f"has a line without {width} numbers")
        table = numbers.reshape(-1, width)
        self.lines += len(table)
        places = table[:, :2].astype(np.int64)
        if (places != table[:, :2]).any():
            raise UnreadableFile("has a row or column that is no integer")
        rows, cols = places.T - 1
        for name, indices, size in zip(("row", "column"), (rows, cols), self.shape, strict=True):
            if indices.size and not 0 <= indices.min() <= indices.max() < size:
                wrong = indices[(indices < 0) | (indices >= size)][0] + 1
                raise UnreadableFile(f"has an entry in {name} {wrong}, of {size} {name}s")
        values = self._values(table)
        yield (rows, cols, *values)
        if self.symmetry != "general":
            off = rows != cols
            yield (cols[off], rows[off], *(self._mirror(v[off]) for v in values))

    def _values(self, table: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        if self.field == "pattern":
            return ()
        if self.field == "complex":
            return (table[:, 2] + 1j * table[:, 3],)
        return (np.ascontiguousarray(table[:, 2]),)

    def _mirror(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.symmetry == "skew-symmetric":
            return -values
        return np.conj(values) if self.symmetry == "hermitian" else values


def _numbers(text: bytes) -> NDArray[np.float64]:
    """Parse numbers between blanks."""
    with warnings.catch_warnings():
        # how NumPy reports text that is no number
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text.decode("ascii"), dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            raise UnreadableFile("has a line that does not consist of numbers") from None
