"""Why a matrix is structurally singular: pieces with conflicts, as data and as text.

In the text rows are equations, columns are variables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsematch._types.arrays import IndexArray
from sparsematch._types.deficient_pieces import DeficientPiece, DeficientPieces
from sparsematch._types.errors import check_count
from sparsematch._types.matching import Matching

_ROW, _COL = "equation", "variable"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """Why a matrix is structurally singular, or not square enough; ``str`` of it says why.

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
        """Say what is wrong, in terms of equations (rows) and variables (columns).

        Parameters
        ----------
        max_pieces : int, optional
            How many conflicts of each kind to show, beside the rows or columns without entries,
            which are listed together.
        max_names : int, optional
            How many names to show in a list.

        Returns
        -------
        str
            Several lines, without a line break at the end.

        Raises
        ------
        TypeError, ValueError
            If a number is no integer, or negative.
        """
        for name, number in (("max_pieces", max_pieces), ("max_names", max_names)):
            check_count(name, number)
        lines = [_headline(self)]
        for part in (self.overdetermined, self.underdetermined):
            if part:
                lines += ["", *_part(self, part, max_pieces, max_names)]
        if self.is_singular:
            lines += ["", *_repair(self)]
        if len(lines) > 1 and (self.row_names is None or self.col_names is None):
            lines += ["", "Rows and columns are counted from 0."]
        return "\n".join(lines)

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
            ``overdetermined`` and ``underdetermined`` the numbers ``surplus``, ``n_pieces`` and
            ``n_empty`` (pieces of a row or column without entries, listed first) and the list
            ``pieces``: of each its indices ``rows``, ``cols``, ``conflict_rows``,
            ``conflict_cols``, and the names of the latter two if given, ``conflict_row_names``,
            ``conflict_col_names``.

        Raises
        ------
        TypeError, ValueError
            If `max_pieces` is no integer, or negative.
        """
        if max_pieces is not None:
            check_count("max_pieces", max_pieces)
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
        counts = {"surplus": part.surplus, "n_pieces": len(part), "n_empty": part.n_empty}
        return {**counts, "pieces": pieces}

    def _piece_dict(self, piece: DeficientPiece) -> dict[str, Any]:
        arrays = piece.rows, piece.cols, *piece.conflict
        names = "rows", "cols", "conflict_rows", "conflict_cols"
        out = {name: array.tolist() for name, array in zip(names, arrays, strict=True)}
        if self.row_names is not None:
            out["conflict_row_names"] = [self.row_names[i] for i in out["conflict_rows"]]
        if self.col_names is not None:
            out["conflict_col_names"] = [self.col_names[j] for j in out["conflict_cols"]]
        return out

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


def _headline(why: Explanation) -> str:
    n_rows, n_cols = why.shape
    rank, size = why.structural_rank, f"{_count(n_rows, _ROW)}, {_count(n_cols, _COL)}"
    if why.is_singular:
        singular = "singular" if n_rows == n_cols else "rank deficient"
        return f"Structurally {singular}: {size}, but rank {rank:,} at most, whatever the values."
    if n_rows == n_cols:
        return f"Structurally nonsingular: {size}, rank {rank:,} for almost all values."
    return f"Full structural rank, but not square: {size}, rank {rank:,} for almost all values."


def _part(why: Explanation, part: DeficientPieces, max_pieces: int, max_names: int) -> list[str]:
    over = part.side == "rows"
    kind = "Over-determined" if over else "Under-determined"
    if part.rows.size + part.cols.size == sum(indices.size for indices in part[0].conflict):
        return [f"{kind}: {_words(part[0])}", *_details(why, part[0], max_names)]
    if len(part) == part.n_empty:
        words, *details = _empty(why, part, max_names)
        return [f"{kind}: {words}", *details]
    noun, other = (_ROW, _COL) if over else (_COL, _ROW)
    n_many, n_few = (part.rows.size, part.cols.size) if over else (part.cols.size, part.rows.size)
    lines = [
        f"{kind}: {_count(n_many, noun)} with {_count(n_few, other)}, {part.surplus:,} too many"
    ]
    if len(part) > 1:
        lines[0] += f", in {len(part):,} separate pieces"
    groups = [_empty(why, part, max_names)] if part.n_empty > 1 else []
    first = part.n_empty if groups else 0  # pieces that need no words of their own
    groups += [
        [_words(piece), *_details(why, piece, max_names)]
        for piece in part[first : first + max_pieces]
    ]
    for number, (words, *details) in enumerate(groups, start=1):
        lines.append(f"  {number}. {words}" if len(part) > 1 else f"  {words}")
        lines += [f"   {line}" for line in details]
    if (hidden := len(part) - first - max_pieces) > 0:
        lines.append(f"  and {_count(hidden, 'more piece')}, none with a shorter conflict")
    return lines


def _empty(why: Explanation, part: DeficientPieces, max_names: int) -> list[str]:
    """Put all rows, or columns, without entries together: there may be thousands."""
    if part.side == "rows":
        words, noun = f"{_count(part.n_empty, _ROW)} without variables", "equations"
        names = _names(part.empty, why.row_name, max_names)
        advice = "drop these equations, or bring a variable into each"
    else:
        words, noun = f"{_count(part.n_empty, _COL)} in no equation", "variables"
        names = _names(part.empty, why.col_name, max_names)
        advice = "fix these variables, or write an equation with each"
    return [words, f"  {noun}: {names}", f"  to do: {advice}"]


def _words(piece: DeficientPiece) -> str:
    """Say what is wrong with a conflict."""
    n_rows, n_cols = (indices.size for indices in piece.conflict)
    if piece.side == "rows":
        between = f"{_count(n_rows, _ROW)} with only {_count(n_cols, _COL)} between them"
        return between if n_cols else "1 equation without variables"
    return (
        f"{_count(n_cols, _COL)} in only {_count(n_rows, _ROW)}"
        if n_rows
        else "1 variable in no equation"
    )


def _details(why: Explanation, piece: DeficientPiece, max_names: int) -> list[str]:
    """Name the members of a conflict, and say what resolves it."""
    over, (rows, cols) = piece.side == "rows", piece.conflict
    lists = [
        ("equations", _names(rows, why.row_name, max_names)),
        ("variables", _names(cols, why.col_name, max_names)),
    ]
    lines = [f"  {label}: {names}" for label, names in (lists if over else lists[::-1]) if names]
    if rest := piece.surplus - 1:
        noun = _count(rest, f"more {_ROW if over else _COL}")
        size = f"{piece.rows.size:,} x {piece.cols.size:,}"
        lines.append(f"  beside it, {noun} too many in the same piece of {size}")
    many = piece.candidates.size > 1
    if over:
        advice = "drop one of these equations (any will do)" if many else "drop this equation"
        return [
            *lines,
            f"  to do: {advice}, or bring another variable into {'one of them' if many else 'it'}",
        ]
    advice = "fix one of these variables (any will do)" if many else "fix this variable"
    return [
        *lines,
        f"  to do: {advice}, or write another equation with {'one of them' if many else 'it'}",
    ]


def _repair(why: Explanation) -> list[str]:
    """Say which entries raise the rank: between rows of one part and columns of the other."""
    rows, cols = why.overdetermined.rows, why.underdetermined.cols
    return [
        f"To raise the rank by one, put a variable of the under-determined part ({cols.size:,}) "
        "into an equation",
        f"of the over-determined part ({rows.size:,}); no other new entry helps.",
        _missing(why),
    ]


def _missing(why: Explanation) -> str:
    """Say how many entries are missing, and name one choice of them."""
    rows, cols = why.missing_entries
    first = zip(rows[:3].tolist(), cols[:3].tolist(), strict=True)
    pairs = [f"{why.col_name(j)} in {why.row_name(i)}" for i, j in first]
    more = f" and {rows.size - len(pairs):,} more" if rows.size > len(pairs) else ""
    return f"For full rank it takes {rows.size:,}, for example {', '.join(pairs)}{more}."


def _names(indices: IndexArray, name: Callable[[int], str], max_names: int) -> str:
    shown = [name(k) for k in indices[:max_names].tolist()]
    hidden = indices.size - len(shown)
    return ", ".join(shown) + (f" and {hidden:,} more" if hidden else "")


def _count(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless it is one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
