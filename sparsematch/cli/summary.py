"""The result as a flat dictionary for programs, and as text for people.

The keys are documented in docs/reference/command_line.md and are stable: keys may be added, none
changes its meaning.
"""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch import BlockForm, Matching, RunInfo
from sparsematch._text.name_lists import count

__all__ = [
    "block_fields",
    "explanation_text",
    "first",
    "line",
    "match_fields",
    "one_line",
    "rank_fields",
    "run_fields",
    "seconds",
    "size_words",
    "text",
    "times",
]

_SIZES_SHOWN = 5
_INDICES_LISTED, _INDICES_SHOWN = 100, 8


def rank_fields(file: str, matrix: Any, matching: Any, maximum: bool = True) -> dict[str, Any]:
    """Describe the matrix and its structural rank, or a lower bound for it."""
    n_rows, n_cols = (int(n) for n in matrix.shape)
    rank = int(matching.cardinality)
    fields = {
        "file": str(file),
        "n_rows": n_rows,
        "n_cols": n_cols,
        "n_entries": int(matrix.nnz),
        "cardinality": rank,
    }
    if maximum or rank == min(n_rows, n_cols):
        singular = rank < min(n_rows, n_cols)
        return fields | {"structural_rank": rank, "structurally_singular": singular}
    return fields | {"structural_rank": None, "structurally_singular": None}


def match_fields(
    file: str, matrix: Any, matching: Matching, maximum: bool = True
) -> dict[str, Any]:
    """`rank_fields`, what is left unmatched, and the diagonal before the permutation."""
    fields = rank_fields(file, matrix, matching, maximum)
    fields["unmatched_rows"] = fields["n_rows"] - fields["cardinality"]
    fields["unmatched_cols"] = fields["n_cols"] - fields["cardinality"]
    fields["diagonal_entries_before"] = _diagonal_entries(matrix)
    diagonal = matching.col_mate[: min(matching.shape)]
    fields["diagonal_entries_after"] = int(np.count_nonzero(diagonal >= 0))
    return fields


def block_fields(file: str, matrix: Any, form: BlockForm) -> dict[str, Any]:
    """`match_fields` and the block triangular form."""
    fields = match_fields(file, matrix, form.matching)
    rows, cols = (np.asarray(bounds).tolist() for bounds in (form.coarse_rows, form.coarse_cols))
    horizontal = [rows[1], cols[2]]
    square = [rows[2] - rows[1], cols[3] - cols[2]]
    vertical = [rows[4] - rows[2], cols[4] - cols[3]]
    heights = np.diff(form.row_blocks)
    fine = heights[int(sum(horizontal) > 0) : len(heights) - int(sum(vertical) > 0)]
    sizes = {"horizontal": horizontal, "square": square, "vertical": vertical}
    fields |= fine_fields(Counter(fine.tolist()), sizes)
    fields["first_underdetermined_cols"] = first(form.col_perm[: cols[2]])
    fields["first_overdetermined_rows"] = first(form.row_perm[rows[2] :])
    return fields


def fine_fields(fine: Counter[int], coarse: dict[str, list[int]]) -> dict[str, Any]:
    """Describe the blocks: how many square ones there are of each size, and coarse parts."""
    horizontal, vertical = coarse["horizontal"], coarse["vertical"]
    n_square = fine.total()
    n_blocks = n_square + int(sum(horizontal) > 0) + int(sum(vertical) > 0)
    return {
        "reducible": n_blocks > 1,
        "n_blocks": n_blocks,
        "n_square_blocks": n_square,
        "largest_square_block": max(fine, default=0),
        **coarse,
        "block_sizes": _block_sizes(fine, horizontal, vertical),
    }


def _block_sizes(fine: Counter[int], horizontal: list[int], vertical: list[int]) -> list[list[int]]:
    """Rows, columns and number of the blocks of each size, the largest first."""
    blocks = [[size, size, count] for size, count in fine.items()]
    blocks += [[*part, 1] for part in (horizontal, vertical) if sum(part)]
    return sorted(blocks, key=lambda block: (block[0] * block[1], block), reverse=True)


def first(indices: NDArray[Any]) -> list[int]:
    """Return the smallest of some indices: those that are listed."""
    smallest: list[int] = np.sort(indices)[:_INDICES_LISTED].tolist()
    return smallest


def run_fields(run: RunInfo, seconds: dict[str, float], ranks: int = 1) -> dict[str, Any]:
    """Which engines ran, with how many threads, and the seconds of each step.

    On several ranks: how many, and what they have sent to each other.
    """
    rounded = {key: round(value, 6) for key, value in seconds.items()}
    among = {
        "ranks": ranks,
        "exchanges": sum(step.rounds for step in run.steps),
        "bytes_sent": sum(step.bytes_sent for step in run.steps),
    }
    return (among if ranks > 1 else {}) | {
        "method": run.method,
        "init": run.init,
        "engines": [step.engine for step in run.steps],
        "workers": int(run.workers),
        "seconds": rounded | {"total": round(sum(rounded.values()), 6)},
    }


def text(fields: dict[str, Any]) -> str:
    """Word the fields for a person."""
    lines = [_head(fields), line("structural rank", _rank_words(fields))]
    if fields["stored_zeros"]:
        share = f"{fields['stored_zeros']:,} of {fields['n_entries']:,} entries"
        lines.append(line("stored zeros", "; ".join([share, *_zero_words(fields)])))
    if "diagonal_entries_before" in fields:
        lines.append(line("diagonal", _diagonal_words(fields)))
    if "square" in fields:
        lines += _part_lines(fields)
    if "n_blocks" in fields:
        blocks = count(fields["n_blocks"], "block")
        lines.append(line("block form", blocks + _kind_words(fields)))
        if fields["reducible"]:
            lines.append(line("block sizes", _size_words(fields["block_sizes"])))
    return "\n".join([*lines, *_run_lines(fields)])


def explanation_text(fields: dict[str, Any], explanation: str) -> str:
    """Put an explanation between the name of the file and how it was found."""
    return "\n".join([_head(fields), "", explanation, "", *_run_lines(fields)])


def _head(fields: dict[str, Any]) -> str:
    size = f"{fields['n_rows']:,} x {fields['n_cols']:,}, {fields['n_entries']:,} entries"
    return f"{fields['file']}: {size}"


def _run_lines(fields: dict[str, Any]) -> list[str]:
    return [line("method", _method_words(fields)), line("time", times(fields["seconds"]))]


def times(by_step: dict[str, float]) -> str:
    """Word the seconds of each step."""
    return ", ".join(f"{key} {seconds(value)}" for key, value in by_step.items())


def size_words(matrix: Any) -> str:
    """Word the size of a matrix."""
    n_rows, n_cols = matrix.shape
    return f"{n_rows:,} x {n_cols:,}, {matrix.nnz:,} entries"


def one_line(fields: dict[str, Any]) -> str:
    """Word the fields of one file of several."""
    words = f"{_head(fields)}, structural rank {_rank_words(fields)}"
    if "n_blocks" in fields:
        words += f", {count(fields['n_blocks'], 'block')}"
    if fields["stored_zeros"]:
        what = "".join(f" ({part})" for part in _zero_words(fields))
        words += f", {count(fields['stored_zeros'], 'stored zero')}{what}"
    for part in ("overdetermined", "underdetermined"):
        if part in fields and fields[part]["n_pieces"]:
            words += f", {count(fields[part]['n_pieces'], 'conflict')} {part[:-10]}-determined"
    if found := fields.get("numbers"):
        singular = f"numerically SINGULAR, rank {found['rank']:,}"
        words += f", {singular if found['singular'] else 'numerically nonsingular'}"
    return words


def line(label: str, words: str) -> str:
    """Align one line of the summary."""
    return f"  {label:<18}{words}"


def _rank_words(fields: dict[str, Any]) -> str:
    smaller = min(fields["n_rows"], fields["n_cols"])
    if fields["structural_rank"] is None:
        return f"at least {fields['cardinality']:,} (only a maximal matching was asked for)"
    words = f"{fields['structural_rank']:,} of {smaller:,}"
    missing = smaller - fields["structural_rank"]
    square = fields["n_rows"] == fields["n_cols"]
    if not missing:
        return f"{words}: {'structurally nonsingular' if square else 'full'}"
    what = "SINGULAR" if square else "rank DEFICIENT"
    return f"{words}: structurally {what}, short by {missing:,}"


def _zero_words(fields: dict[str, Any]) -> list[str]:
    """Say what changes without the entries that are zero, in a phrase, or in none."""
    if fields["explicit_zeros"] == "drop":
        return ["dropped"]
    if (rank := fields["structural_rank_without_zeros"]) is None:
        return []
    words = f"without them structural rank {rank:,}"
    if "n_blocks" in fields:
        blocks, before = fields["n_blocks_without_zeros"], fields["n_blocks"]
        same = "as many" if blocks == before else f"instead of {before:,}"
        words += f", {count(blocks, 'block')} {same}"
    return [words]


def _diagonal_words(fields: dict[str, Any]) -> str:
    length = min(fields["n_rows"], fields["n_cols"])
    before, after = fields["diagonal_entries_before"], fields["diagonal_entries_after"]
    return f"{before:,} of {length:,} entries as given, {after:,} after the row permutation"


def _part_lines(fields: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    rows, cols = fields["horizontal"]
    if rows + cols:
        lines.append(line("under-determined", _surplus_words(cols, "column", rows, "row")))
        lines.append(line("", f"columns {_listed(fields['first_underdetermined_cols'], cols)}"))
    rows, cols = fields["vertical"]
    if rows + cols:
        lines.append(line("over-determined", _surplus_words(rows, "row", cols, "column")))
        lines.append(line("", f"rows {_listed(fields['first_overdetermined_rows'], rows)}"))
    if lines:
        rows, cols = fields["square"]
        lines.append(line("well-determined", f"{rows:,} x {cols:,}"))
    return lines


def _surplus_words(many: int, noun: str, few: int, other: str) -> str:
    if few == 0:
        return f"{count(many, noun)} without entries"
    return f"{count(many, noun)} with entries in {count(few, other)} only: {many - few:,} too many"


def _listed(indices: list[int], total: int) -> str:
    shown = ", ".join(str(index) for index in indices[:_INDICES_SHOWN])
    hidden = total - min(len(indices), _INDICES_SHOWN)
    return f"{shown}{f' and {hidden:,} more' if hidden else ''} (counted from 0)"


def _kind_words(fields: dict[str, Any]) -> str:
    if not fields["n_blocks"]:
        return ": the matrix is empty"
    if not fields["reducible"]:
        return ": irreducible" if fields["n_square_blocks"] else ", rectangular"
    rest = fields["n_blocks"] - fields["n_square_blocks"]
    return f": {fields['n_square_blocks']:,} square, {rest} rectangular" if rest else ", all square"


def _size_words(block_sizes: list[list[int]]) -> str:
    shown = [
        f"{rows:,} x {cols:,}" + (f" ({count:,} times)" if count > 1 else "")
        for rows, cols, count in block_sizes
    ]
    if len(shown) <= _SIZES_SHOWN:
        return ", ".join(shown) or "none"
    hidden = sum(count for *_, count in block_sizes[_SIZES_SHOWN - 1 : -1])
    return ", ".join([*shown[: _SIZES_SHOWN - 1], f"{hidden:,} between", shown[-1]])


def _method_words(fields: dict[str, Any]) -> str:
    words = f"{' then '.join(fields['engines']) or 'none'}, {count(fields['workers'], 'thread')}"
    if "ranks" not in fields:
        return words
    return (
        f"{words} on each of {fields['ranks']} ranks, {count(fields['exchanges'], 'exchange')}, "
        f"{fields['bytes_sent'] / 1e6:,.1f} MB"
    )


def seconds(value: float) -> str:
    """Word a time: milliseconds below a tenth of a second."""
    return f"{value * 1e3:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def _diagonal_entries(matrix: Any) -> int:
    """Count the different positions (i, i) that are stored, explicit zeros included."""
    coo = matrix.tocoo()
    return len(np.unique(coo.row[coo.row == coo.col]))
