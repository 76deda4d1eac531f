"""Why a matrix is structurally singular: pieces with too many rows or columns, and conflicts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from sparsematch._types import explanation_text
from sparsematch._types.arrays import IndexArray
from sparsematch._types.block_form import Part
from sparsematch._types.matching import Matching


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
        return (
            f"DeficientPiece({self.rows.size}x{self.cols.size}, {self.side} {self.surplus} too "
            f"many, {conflict})"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeficientPieces(Sequence[DeficientPiece]):
    """The connected pieces of the over- or under-determined part, shortest conflict first.

    A sequence of `DeficientPiece`, each made when it is asked for: there may be as many as rows.

    Attributes
    ----------
    side : str
        Of what there are too many: ``"rows"`` or ``"columns"``.
    rows, cols : ndarray
        All rows and columns of the pieces, ascending: the vertical or the horizontal part of the
        block form.
    surplus : int
        How many rows, or columns, are too many in all.
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

    def __iter__(self) -> Iterator[DeficientPiece]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        pieces = "1 piece" if len(self) == 1 else f"{len(self)} pieces"
        return f"DeficientPieces({pieces}, {self.side} {self.surplus} too many)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """Why a matrix is structurally singular, or not square enough; ``str`` of it tells.

    Attributes
    ----------
    overdetermined : DeficientPieces
        Where there are too many rows (equations) for the columns (variables) in them, piece by
        piece.
    underdetermined : DeficientPieces
        Where there are too many columns (variables) for the rows (equations) that they are in.
    matching : Matching
        The maximum transversal that proves that the rank is no smaller.
    row_names, col_names : tuple of str or None
        What the user calls the rows and columns.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import explain_singularity
    >>> A = csr_array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]])
    >>> why = explain_singularity(A)
    >>> why
    Explanation(4x4, structural rank 3: 1 row too many, 1 column too many)
    >>> why.overdetermined[0].conflict.rows.tolist(), why.overdetermined[0].conflict.cols.tolist()
    ([0, 1, 2], [0, 1])
    """

    overdetermined: DeficientPieces
    underdetermined: DeficientPieces
    matching: Matching
    row_names: tuple[str, ...] | None = None
    col_names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.matching.shape

    @property
    def structural_rank(self) -> int:
        """Cardinality of the matching."""
        return self.matching.cardinality

    @property
    def is_singular(self) -> bool:
        """Whether the structural rank is less than the number of rows and than that of columns."""
        return bool(self.overdetermined) and bool(self.underdetermined)

    @property
    def pieces(self) -> list[DeficientPiece]:
        """The pieces of both kinds, those with the shortest conflict first."""
        both = [*self.overdetermined, *self.underdetermined]
        return sorted(both, key=lambda piece: piece.candidates.size)

    @property
    def missing_entries(self) -> tuple[IndexArray, IndexArray]:
        """The fewest new entries (rows, columns) that give the pattern full rank.

        They are one choice of many: an entry raises the rank if and only if its row is in
        ``overdetermined.rows`` and its column in ``underdetermined.cols``.
        """
        rows, cols = (
            np.flatnonzero(mate < 0) for mate in (self.matching.row_mate, self.matching.col_mate)
        )
        short = min(rows.size, cols.size)
        dtype = self.matching.row_mate.dtype
        return rows[:short].astype(dtype), cols[:short].astype(dtype)

    def row_name(self, i: int) -> str:
        """Return what row `i` is called."""
        return self.row_names[i] if self.row_names else f"row {i}"

    def col_name(self, j: int) -> str:
        """Return what column `j` is called."""
        return self.col_names[j] if self.col_names else f"column {j}"

    def text(self, *, max_pieces: int = 3, max_names: int = 12) -> str:
        """Tell an engineer what is wrong, in terms of equations (rows) and variables (columns).

        Parameters
        ----------
        max_pieces : int, optional
            How many conflicts of each kind to show.
        max_names : int, optional
            How many names to show in a list.

        Returns
        -------
        str
            Several lines, without a line break at the end.
        """
        return explanation_text.text(self, max_pieces, max_names)

    def to_dict(self, *, max_pieces: int | None = None) -> dict[str, Any]:
        """Return everything in numbers, strings, lists and dicts, as `json` can write it.

        Parameters
        ----------
        max_pieces : int, optional
            How many pieces of each kind to list; by default all.

        Returns
        -------
        dict
            With ``n_rows``, ``n_cols``, ``structural_rank``, ``structurally_singular``, and under
            ``overdetermined`` and ``underdetermined`` the numbers ``surplus`` and ``n_pieces`` and
            the list ``pieces``: of each its indices ``rows``, ``cols``, ``conflict_rows``,
            ``conflict_cols``, and the names of the latter two if given, ``conflict_row_names``,
            ``conflict_col_names``.
        """
        n_rows, n_cols = self.shape
        return {
            "n_rows": n_rows,
            "n_cols": n_cols,
            "structural_rank": self.structural_rank,
            "structurally_singular": self.is_singular,
            "overdetermined": self._part_dict(self.overdetermined, max_pieces),
            "underdetermined": self._part_dict(self.underdetermined, max_pieces),
        }

    def _part_dict(self, part: DeficientPieces, max_pieces: int | None) -> dict[str, Any]:
        pieces = [self._piece_dict(piece) for piece in part[:max_pieces]]
        return {"surplus": part.surplus, "n_pieces": len(part), "pieces": pieces}

    def _piece_dict(self, piece: DeficientPiece) -> dict[str, Any]:
        arrays = piece.rows, piece.cols, *piece.conflict
        names = "rows", "cols", "conflict_rows", "conflict_cols"
        facts = {name: array.tolist() for name, array in zip(names, arrays, strict=True)}
        if self.row_names is not None:
            facts["conflict_row_names"] = [self.row_names[i] for i in facts["conflict_rows"]]
        if self.col_names is not None:
            facts["conflict_col_names"] = [self.col_names[j] for j in facts["conflict_cols"]]
        return facts

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        over, under = self.overdetermined.surplus, self.underdetermined.surplus
        faults = [
            f"{n} {noun}{'s' * (n != 1)} too many"
            for n, noun in ((over, "row"), (under, "column"))
            if n
        ]
        return (
            f"Explanation({n_rows}x{n_cols}, structural rank {self.structural_rank}: "
            f"{', '.join(faults) or 'full'})"
        )
