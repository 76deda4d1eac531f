"""The text of an explanation: rows are equations, columns are variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sparsematch._types.arrays import IndexArray

if TYPE_CHECKING:
    from sparsematch._types.explanation import DeficientPiece, DeficientPieces, Explanation

_ROW, _COL = "equation", "variable"


def text(why: Explanation, max_pieces: int, max_names: int) -> str:
    """Word an explanation."""
    lines = [_headline(why)]
    for part in (why.overdetermined, why.underdetermined):
        if part:
            lines += ["", *_part(why, part, max_pieces, max_names)]
    if why.is_singular:
        lines += ["", *_repair(why, max_names)]
    if len(lines) > 1 and (why.row_names is None or why.col_names is None):
        lines += ["", "Rows and columns are counted from 0."]
    return "\n".join(lines)


def _headline(why: Explanation) -> str:
    n_rows, n_cols = why.shape
    rank, size = why.structural_rank, f"{count(n_rows, _ROW)}, {count(n_cols, _COL)}"
    if why.is_singular:
        singular = "singular" if n_rows == n_cols else "rank deficient"
        return f"Structurally {singular}: {size}, but rank {rank:,} at most, whatever the values."
    if n_rows == n_cols:
        return f"Structurally non-singular: {size}, rank {rank:,} for almost all values."
    return f"Full structural rank, but not square: {size}, rank {rank:,} for almost all values."


def _part(why: Explanation, part: DeficientPieces, max_pieces: int, max_names: int) -> list[str]:
    over = part.side == "rows"
    kind = "Over-determined" if over else "Under-determined"
    if part.rows.size + part.cols.size == sum(indices.size for indices in part[0].conflict):
        return [f"{kind}: {_words(part[0])}", *_details(why, part[0], max_names)]
    noun, other = (_ROW, _COL) if over else (_COL, _ROW)
    n_many, n_few = (part.rows.size, part.cols.size) if over else (part.cols.size, part.rows.size)
    lines = [f"{kind}: {count(n_many, noun)} with {count(n_few, other)}, {part.surplus:,} too many"]
    if len(part) > 1:
        lines[0] += f", in {len(part):,} separate pieces"
    for number, piece in enumerate(part[:max_pieces], start=1):
        words = _words(piece)
        lines.append(f"  {number}. {words}" if len(part) > 1 else f"  {words}")
        lines += [f"   {line}" for line in _details(why, piece, max_names)]
    if len(part) > max_pieces:
        lines.append(
            f"  and {count(len(part) - max_pieces, 'more piece')}, none with a shorter conflict"
        )
    return lines


def _words(piece: DeficientPiece) -> str:
    """Tell what is wrong with a conflict."""
    n_rows, n_cols = (indices.size for indices in piece.conflict)
    if piece.side == "rows":
        between = f"{count(n_rows, _ROW)} with only {count(n_cols, _COL)} between them"
        return between if n_cols else "1 equation without variables"
    return (
        f"{count(n_cols, _COL)} in only {count(n_rows, _ROW)}"
        if n_rows
        else "1 variable in no equation"
    )


def _details(why: Explanation, piece: DeficientPiece, max_names: int) -> list[str]:
    """Name what takes part in a conflict, and tell what resolves it."""
    over, (rows, cols) = piece.side == "rows", piece.conflict
    lists = [
        ("equations", _names(rows, why.row_name, max_names)),
        ("variables", _names(cols, why.col_name, max_names)),
    ]
    lines = [f"  {label}: {names}" for label, names in (lists if over else lists[::-1]) if names]
    if rest := piece.surplus - 1:
        noun, size = (
            count(rest, f"more {_ROW if over else _COL}"),
            f"{piece.rows.size:,} x {piece.cols.size:,}",
        )
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


def _repair(why: Explanation, max_names: int) -> list[str]:
    """Say which entries raise the rank: between rows of one part and columns of the other."""
    rows, cols = why.overdetermined.rows, why.underdetermined.cols
    return [
        f"To raise the rank by one, put a variable of the under-determined part ({cols.size:,}) "
        "into an equation",
        f"of the over-determined part ({rows.size:,}); no other new entry helps.",
        _missing(why),
    ]


def _missing(why: Explanation) -> str:
    """Tell how many entries are missing, and one choice of them."""
    rows, cols = why.missing_entries
    first = zip(rows[:3].tolist(), cols[:3].tolist(), strict=True)
    pairs = [f"{why.col_name(j)} in {why.row_name(i)}" for i, j in first]
    more = f" and {rows.size - len(pairs):,} more" if rows.size > len(pairs) else ""
    return f"For full rank it takes {rows.size:,}, for example {', '.join(pairs)}{more}."


def _names(indices: IndexArray, name: Callable[[int], str], max_names: int) -> str:
    shown = [name(k) for k in indices[:max_names].tolist()]
    hidden = indices.size - len(shown)
    return ", ".join(shown) + (f" and {hidden:,} more" if hidden else "")


def count(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless it is one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
