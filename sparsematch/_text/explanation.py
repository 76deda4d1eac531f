"""Why a matrix is singular, by its structure or by its numbers, as data and as text."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexPair
from sparsematch._base.errors import check_count
from sparsematch._text import defects, latex, rectangular
from sparsematch._text.dicts import numbers_dict
from sparsematch._text.name_lists import Names, count
from sparsematch._text.wording import Line, Wording, wrapped
from sparsematch._types.deficient_pieces import DeficientPiece, DeficientPieces
from sparsematch._types.html import Page
from sparsematch._types.matching import Matching
from sparsematch._types.mates import Ranked, free_of
from sparsematch._types.numerical_rank import NumericalRank
from sparsematch._types.singularity import NumericalDefects

_ROW, _COL = "equation", "variable"
#: Of variables that stand for derivatives, as modelling languages call them.
_DERIVATIVE = re.compile(r"\bder\(|Differential\(|\bd\w+/?dt\b|dot\b|ˍt\b|'$")
#: Said of an account of the structure.
NOT_LOOKED_AT = "The values were not looked at: numeric=True looks at them, too."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation(Page, Ranked):
    """Why a matrix is singular, or not square enough; ``str`` of it says why.

    In the text rows are equations, columns are variables.

    Attributes
    ----------
    overdetermined : DeficientPieces
        Where there are too many rows (equations) for the columns (variables) in them, by pieces.
    underdetermined : DeficientPieces
        Where there are too many columns (variables) for the rows (equations) that they are in.
    matching : Matching
        The maximum transversal that proves that the rank is no smaller.
    row_names, col_names : tuple of str or None
        What the user calls the rows and columns.
    numeric : bool
        Whether the values were to be looked at.
    numbers : NumericalDefects, NumericalRank or None
        What the values are to blame for; a `NumericalRank` if the matrix is not square, or
        its rank is too small by more than a hundred. None if they were not to be looked at.
    stored_zeros : int
        How many entries that are stored are zero. They count as entries, unless they were dropped.
    rank_without_zeros : int or None
        The structural rank if they did not count; None if they do not, or there are none.

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
    numeric: bool = False
    numbers: NumericalDefects | NumericalRank | None = None
    stored_zeros: int = 0
    rank_without_zeros: int | None = None

    @property
    def is_singular(self) -> bool:
        """Whether the structural rank is less than the number of rows and than that of columns."""
        return bool(self.overdetermined) and bool(self.underdetermined)

    @property
    def is_numerically_singular(self) -> bool | None:
        """Whether the values make the matrix singular, to the tolerance; None if not looked at."""
        return None if self.numbers is None else self.numbers.is_singular

    @property
    def pieces(self) -> list[DeficientPiece]:
        """The pieces of both kinds, those with the shortest conflict first."""
        both = [*self.overdetermined, *self.underdetermined]
        return sorted(both, key=lambda piece: piece.candidates.size)

    @property
    def missing_entries(self) -> IndexPair:
        """The fewest new entries (rows, columns) that give the pattern full rank.

        They are one choice of many: an entry raises the rank if and only if its row is in
        ``overdetermined.rows`` and its column in ``underdetermined.cols``.
        """
        rows, cols = map(free_of, (self.matching.row_mate, self.matching.col_mate))
        short = min(rows.size, cols.size)
        return rows[:short], cols[:short]

    @property
    def _names(self) -> tuple[Names, Names]:
        return Names(self.row_names, "row"), Names(self.col_names, "column")

    def row_name(self, i: int) -> str:
        """Return what row `i` is called."""
        return self._names[0].of(i)

    def col_name(self, j: int) -> str:
        """Return what column `j` is called."""
        return self._names[1].of(j)

    def text(self, *, max_pieces: int = 3, max_names: int = 12) -> str:
        """Say what is wrong, in terms of equations (rows) and variables (columns).

        Parameters
        ----------
        max_pieces : int, optional
            How many conflicts or dependences of each kind to show, beside the rows or columns
            without entries, which are listed together.
        max_names : int, optional
            How many names to show in a list. In a longer one, those that differ only in what is in
            brackets count as one, ``balance[*] (40)``.

        Returns
        -------
        str
            Several lines of 100 columns at most, unless a name is longer, without a line break at
            the end.

        Raises
        ------
        TypeError, ValueError
            If a number is no integer, or negative.
        """
        return "\n".join(map(wrapped, self._lines(max_pieces, max_names)))

    def to_latex(self, *, max_pieces: int = 3, max_names: int = 12) -> str:
        r"""Return the text for LaTeX: paragraphs, lists, dependences as mathematics.

        Parameters
        ----------
        max_pieces, max_names : int, optional
            As in `text`.

        Returns
        -------
        str
            The part of a document that uses ``amsmath``.

        Raises
        ------
        TypeError, ValueError
            If a number is no integer, or negative.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> from sparsematch import explain_singularity
        >>> A = csr_array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
        >>> names = ["heat", "mass_A", "sum"]
        >>> latex = explain_singularity(A, names, numeric=True).to_latex()
        >>> print(latex.splitlines()[9])
        \item $\text{heat} + \text{mass\_A} - \text{sum} = 0$
        """
        return latex.document(self._lines(max_pieces, max_names))

    def _lines(self, max_pieces: int, max_names: int) -> list[Line]:
        """Return the lines of the text; the parts are one below the other, empty lines between."""
        for name, number in (("max_pieces", max_pieces), ("max_names", max_names)):
            check_count(name, number)
        found = self.numbers
        choice = "any will do" if found is None else "by the structure any will do"
        wording = Wording(*self._names, max_pieces, max_names, choice)
        lines: list[Line] = [_headline(self), *_remarks(self)]
        by_structure = found is None or self.shape[0] == self.shape[1]
        account = _parts(self, wording) if by_structure else []
        if isinstance(found, NumericalRank):
            account += rectangular.account(found, wording)
            if by_structure and self.is_singular:
                lines += defects.beside_structure(found, self.structural_rank)
            else:
                lines[0] = rectangular.headline(found)
                if found.rank < self.structural_rank:
                    lines.append(f"By its structure alone the rank is {self.structural_rank:,}.")
        elif found is not None:
            account += self._defects(found, wording, lines)
        if by_structure and self.is_singular:
            account += ["", *_repair(self)]
        lines += account
        if account and (self.row_names is None or self.col_names is None):
            lines += ["", "Rows and columns are counted from 0."]
        return lines

    def _defects(self, found: NumericalDefects, wording: Wording, lines: list[Line]) -> list[Line]:
        """Return what values add to the structure, and say in `lines` what the rank is."""
        if not self.is_singular:
            lines[0] = defects.headline(found)
            return defects.account(found, wording)
        lines += defects.beside_structure(found, self.structural_rank)
        added = _not_told(self, found, wording.most)
        if len(added.equations) > self.structural_rank - found.rank:
            lines[-1] = f"{str(lines[-1])[:-1]}; the dependences below include the conflicts."
        return defects.account(added, wording, "the rest")

    def to_dict(self, *, max_pieces: int | None = None) -> dict[str, Any]:
        """Return everything in numbers, strings, lists and dicts, as `json` can write it.

        Parameters
        ----------
        max_pieces : int, optional
            How many pieces, dependences, blocks and pairs of each kind to list; by default all.

        Returns
        -------
        dict
            With ``n_rows``, ``n_cols``, ``structural_rank``, ``structurally_singular``, and under
            ``overdetermined`` and ``underdetermined`` the numbers ``surplus``, ``n_pieces`` and
            ``n_empty`` (pieces of a row or column without entries, listed first) and the list
            ``pieces``: of each its indices ``rows``, ``cols``, ``conflict_rows``,
            ``conflict_cols``, and the names of the latter two if given, ``conflict_row_names``,
            ``conflict_col_names``. Further ``stored_zeros``, ``rank_without_zeros``, and
            ``numbers``, which is None or has the attributes of `NumericalDefects` and of what is in
            it; of a complex number the two parts are a list.

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
            "stored_zeros": self.stored_zeros,
            "rank_without_zeros": self.rank_without_zeros,
            "numbers": self.numbers and numbers_dict(self.numbers, *self._names, max_pieces),
        }

    def _part_dict(self, part: DeficientPieces, max_pieces: int | None) -> dict[str, Any]:
        counts = {"surplus": part.surplus, "n_pieces": len(part), "n_empty": part.n_empty}
        return {**counts, "pieces": [self._piece_dict(piece) for piece in part[:max_pieces]]}

    def _piece_dict(self, piece: DeficientPiece) -> dict[str, Any]:
        arrays = piece.rows, piece.cols, *piece.conflict
        names = "rows", "cols", "conflict_rows", "conflict_cols"
        out = {name: array.tolist() for name, array in zip(names, arrays, strict=True)}
        for kind, given in (("row", self.row_names), ("col", self.col_names)):
            if given is not None:
                out[f"conflict_{kind}_names"] = [given[k] for k in out[f"conflict_{kind}s"]]
        return out

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        surplus = (self.overdetermined.surplus, "row"), (self.underdetermined.surplus, "column")
        faults = [f"{count(n, noun)} too many" for n, noun in surplus if n]
        found = "" if self.numbers is None else f", rank {self.numbers.rank} in numbers"
        return (
            f"Explanation({n_rows}x{n_cols}, structural rank {self.structural_rank}: "
            f"{', '.join(faults) or 'full'}{found})"
        )


def _headline(why: Explanation) -> str:
    n_rows, n_cols = why.shape
    rank, size = why.structural_rank, f"{count(n_rows, _ROW)}, {count(n_cols, _COL)}"
    if why.is_singular:
        singular = "singular" if n_rows == n_cols else "rank deficient"
        dropped = why.stored_zeros and why.rank_without_zeros is None
        values = "other values" if dropped else "values"
        return f"Structurally {singular}: {size}, but rank {rank:,} at most, whatever the {values}."
    if n_rows == n_cols:
        return f"Structurally nonsingular: {size}, rank {rank:,} for almost all values."
    return f"Full structural rank, but not square: {size}, rank {rank:,} for almost all values."


def _remarks(why: Explanation) -> list[str]:
    """Say what becomes of zeros that are stored, and of values that were not looked at."""
    lines = []
    if why.stored_zeros and why.rank_without_zeros is None:
        lines.append(f"{count(why.stored_zeros, 'stored zero')} dropped.")
    elif why.stored_zeros:
        counted = f"Entries include {count(why.stored_zeros, 'stored zero')}"
        rank = f"{why.rank_without_zeros:,} of {min(why.shape):,}"
        lines.append(f"{counted}; without zeros the structural rank is {rank}.")
    if not why.numeric:
        lines.append(NOT_LOOKED_AT)
    return lines


def _not_told(why: Explanation, numbers: NumericalDefects, shown: int) -> NumericalDefects:
    """Return what the values add: without rows or columns said to be empty or in conflict."""
    # `shown`: how many conflicts of each kind are.
    kept, both = [], (numbers.equations, numbers.variables)
    for part, claims in zip((why.overdetermined, why.underdetermined), both, strict=True):
        told = {piece.conflict[part.side == "columns"].tobytes() for piece in part[:shown]}
        told |= {index.tobytes() for index in part.empty[:, np.newaxis]}
        dtype = part.rows.dtype
        kept.append(tuple(one for one in claims if one.indices.astype(dtype).tobytes() not in told))
    return replace(numbers, equations=kept[0], variables=kept[1])


def _parts(why: Explanation, wording: Wording) -> list[Line]:
    """Describe what is over-determined, and what is under-determined."""
    free = map(why.col_name, why.underdetermined.cols.tolist())
    binds_states = why.col_names is not None and any(map(_DERIVATIVE.search, free))
    parts = (part for part in (why.overdetermined, why.underdetermined) if part)
    return [line for part in parts for line in ("", *_part(part, wording, binds_states))]


def _part(part: DeficientPieces, wording: Wording, binds_states: bool) -> list[str]:
    groups = [_empty(part, wording, binds_states)] if part.n_empty else []
    conflicts = part[part.n_empty : part.n_empty + wording.most]
    groups += [_conflict(piece, wording) for piece in conflicts]
    kind, many, few = "Over-determined", count(part.rows.size, _ROW), count(part.cols.size, _COL)
    if part.side == "columns":
        kind, many, few = "Under-determined", few, many
    size = sum(indices.size for indices in part[0].conflict)
    if len(part) == part.n_empty or part.rows.size + part.cols.size == size:
        words, *details = groups[0]
        return [f"{kind}: {words}", *details]
    lines = [f"{kind}: {many} with {few}, {part.surplus:,} too many"]
    if len(part) > 1:
        lines[0] += f", in {len(part):,} separate pieces"
    for number, (words, *details) in enumerate(groups, start=1):
        lines.append(f"  {number}. {words}" if len(part) > 1 else f"  {words}")
        lines += [f"   {line}" for line in details]
    if (hidden := len(part) - part.n_empty - wording.most) > 0:
        lines.append(f"  and {count(hidden, 'more piece')}, none with a shorter conflict")
    return lines


def _empty(part: DeficientPieces, wording: Wording, binds_states: bool) -> list[str]:
    """Put all rows, or columns, without entries together: there may be thousands."""
    noun, fault, verb, other = _COL, "in no equation", "fix", "write an equation with"
    if part.side == "rows":
        noun, fault, verb, other = _ROW, "without variables", "drop", "bring a variable into"
    names = wording.names(part.side).list(part.empty, wording.most_names)
    them, each = ("it", "it") if part.n_empty == 1 else ("them", "each")
    first = f"differentiate {each}, if states are bound; else " * (binds_states and noun == _ROW)
    return [
        f"{count(part.n_empty, noun)} {fault}: {names}",
        f"  to do: {first}{verb} {them}, or {other} {each}",
    ]


def _conflict(piece: DeficientPiece, wording: Wording) -> list[str]:
    """Say what is wrong with a conflict, name its members, and say what resolves it."""
    rows, cols = piece.conflict
    equations, variables = count(rows.size, _ROW), count(cols.size, _COL)
    members = [
        f"  equations: {wording.rows.list(rows, wording.most_names)}",
        f"  variables: {wording.cols.list(cols, wording.most_names)}",
    ]
    if piece.side == "rows":
        noun, verb, other = _ROW, "drop", "bring another variable into"
        lines = [f"{equations} with only {variables} between them", *members]
    else:
        noun, verb, other = _COL, "fix", "write another equation with"
        lines = [f"{variables} in only {equations}", *reversed(members)]
    if rest := piece.surplus - 1:
        size = f"{piece.rows.size:,} x {piece.cols.size:,}"
        more = count(rest, f"more {noun}")
        lines.append(f"  beside it, {more} too many in the same piece of {size}")
    choice = f"one of these {noun}s ({wording.choice})"
    return [*lines, f"  to do: {verb} {choice}, or {other} one of them"]


def _repair(why: Explanation) -> list[str]:
    """Say which entries raise the rank: between rows of one part and columns of the other."""
    over, under = why.overdetermined.rows.size, why.underdetermined.cols.size
    rows, cols = why.missing_entries
    first = zip(rows[:3].tolist(), cols[:3].tolist(), strict=True)
    pairs = [f"{why.col_name(j)} in {why.row_name(i)}" for i, j in first]
    more = f" and {rows.size - len(pairs):,} more" if rows.size > len(pairs) else ""
    rank = "rank" if why.numbers is None else "structural rank"
    return [
        f"To raise the {rank} by one, put a variable of the under-determined part ({under:,})",
        f"into an equation of the over-determined part ({over:,}); no other new entry helps.",
        f"For full {rank} it takes {rows.size:,}, for example {', '.join(pairs)}{more}.",
    ]
