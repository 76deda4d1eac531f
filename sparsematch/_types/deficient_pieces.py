"""Connected pieces of a matrix with too many rows or columns, each with a conflict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._types.block_form import Part


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeficientPiece:
    """A connected piece of a matrix with more rows than columns or the reverse, and its conflict.

    All arrays are ascending indices of the user's matrix, of its index type.

    Attributes
    ----------
    side : str
        Of what there are too many: ``"rows"`` in an over-determined piece, ``"columns"`` in an
        under-determined one.
    rows, cols : ndarray
        The piece. The rows of an over-determined piece have no entries elsewhere, nor have the
        columns of an under-determined one.
    conflict : Part
        A minimal Hall violator, ``conflict.rows`` and ``conflict.cols``. Over-determined: the rows
        have entries in these columns only, and there is one column less than there are rows; any
        choice of fewer of these rows can be matched. Under-determined: the same with rows and
        columns exchanged.
    """

    side: str
    rows: IndexArray
    cols: IndexArray
    conflict: Part

    @property
    def surplus(self) -> int:
        """How many rows, or columns, are too many."""
        return abs(self.rows.size - self.cols.size)

    @property
    def candidates(self) -> IndexArray:
        """The rows, or columns, one of which to drop: that resolves the conflict."""
        return self.conflict.rows if self.side == "rows" else self.conflict.cols

    def __repr__(self) -> str:
        conflict = f"conflict {self.conflict.rows.size}x{self.conflict.cols.size}"
        what = f"{self.rows.size}x{self.cols.size}, {self.side} {self.surplus} too many"
        return f"DeficientPiece({what}, {conflict})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeficientPieces(Sequence[DeficientPiece]):
    """The connected pieces of the over- or under-determined part, shortest conflict first.

    A sequence of `DeficientPiece`, each made on access: there may be as many as rows.

    Attributes
    ----------
    side : str
        Of what there are too many: ``"rows"`` or ``"columns"``.
    rows, cols : ndarray
        All rows and columns of the pieces, ascending: the vertical or the horizontal part of the
        block form.
    """

    side: str
    rows: IndexArray
    cols: IndexArray
    # The four arrays of all pieces, one piece after the other, and where each begins.
    _grouped: tuple[IndexArray, ...]
    _starts: tuple[IndexArray, ...]

    @property
    def surplus(self) -> int:
        """How many rows, or columns, are too many in all."""
        return abs(self.rows.size - self.cols.size)

    @property
    def n_empty(self) -> int:
        """How many pieces are a single row, or column, without entries; they come first."""
        sizes = np.diff(self._starts[2 if self.side == "rows" else 3])
        return int(np.searchsorted(sizes, 1, side="right"))

    @property
    def empty(self) -> IndexArray:
        """The rows, or columns, without entries, ascending."""
        return np.sort(self._grouped[2 if self.side == "rows" else 3][: self.n_empty])

    @property
    def conflicts(self) -> Part:
        """The rows and columns of all conflicts, ascending."""
        return Part(*(np.sort(array) for array in self._grouped[2:]))

    def __len__(self) -> int:
        return self._starts[0].size - 1

    @overload
    def __getitem__(self, k: int) -> DeficientPiece: ...
    @overload
    def __getitem__(self, k: slice) -> list[DeficientPiece]: ...
    def __getitem__(self, k: int | slice) -> DeficientPiece | list[DeficientPiece]:
        if isinstance(k, slice):
            return [self[place] for place in range(*k.indices(len(self)))]
        place = range(len(self))[k]
        rows, cols, *conflict = (
            np.sort(array[starts[place] : starts[place + 1]])
            for array, starts in zip(self._grouped, self._starts, strict=True)
        )
        return DeficientPiece(self.side, rows, cols, Part(*conflict))

    def __repr__(self) -> str:
        pieces = "1 piece" if len(self) == 1 else f"{len(self)} pieces"
        return f"DeficientPieces({pieces}, {self.side} {self.surplus} too many)"
