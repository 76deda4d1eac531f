"""The result as a flat dictionary for programs, and as text for people.

The keys are documented in docs/reference/command_line.md and are stable: keys may be added.
"""

from collections import Counter
from typing import Any

from sparsematch import DistributedBlockForm, RunInfo
from sparsematch._text.name_lists import count
from sparsematch._types.over_ranks.agreement import collect

Fields = dict[str, Any]  # of an answer, by their names
_SIZES_SHOWN = 5
_PARTS = "horizontal", "square", "vertical"


def rank_fields(file: str, matrix: Any, matching: Any, maximum: bool = True) -> Fields:
    """Describe the matrix and its structural rank, or a lower bound for it."""
    n_rows, n_cols = (int(n) for n in matrix.shape)
    rank = int(matching.cardinality)
    known = maximum or rank == min(n_rows, n_cols)
    return {
        "file": str(file),
        "n_rows": n_rows,
        "n_cols": n_cols,
        "n_entries": int(matrix.nnz),
        "cardinality": rank,
        "structural_rank": rank if known else None,
        "structurally_singular": rank < min(n_rows, n_cols) if known else None,
    }


def match_fields(file: str, matrix: Any, matching: Any, maximum: bool = True) -> Fields:
    """`rank_fields`, and what is left unmatched."""
    fields = rank_fields(file, matrix, matching, maximum)
    fields["unmatched_rows"] = fields["n_rows"] - fields["cardinality"]
    fields["unmatched_cols"] = fields["n_cols"] - fields["cardinality"]
    return fields


def block_fields(file: str, matrix: Any, form: Any) -> Fields:
    """`match_fields` and the block triangular form; of all ranks."""
    sizes = Counter(map(tuple, form.block_sizes.tolist()))
    if isinstance(form, DistributedBlockForm):
        sizes = sum(collect(matrix.comm, "block_fields", lambda: sizes), Counter())
        coarse = form.coarse_sizes
    else:
        parts = (form.horizontal, form.square, form.vertical)
        coarse = tuple((rows.size, cols.size) for rows, cols in parts)
    square = [rows for rows, cols in sizes if rows == cols]
    blocks = [[*size, number] for size, number in sizes.items()]
    return match_fields(file, matrix, form.matching) | {
        "reducible": form.n_blocks > 1,
        "n_blocks": form.n_blocks,
        "n_square_blocks": sum(sizes[size, size] for size in square),
        "largest_square_block": max(square, default=0),
        **{part: list(size) for part, size in zip(_PARTS, coarse, strict=True)},
        # rows, columns and number of the blocks of each size, the largest first
        "block_sizes": sorted(blocks, key=lambda block: (block[0] * block[1], block), reverse=True),
    }


def run_fields(run: RunInfo, seconds: dict[str, float], ranks: int = 1) -> Fields:
    """Which engines ran, with how many threads, and the seconds of each step."""
    # On several ranks: how many, and what they have sent to each other.
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
        "seconds": seconds | {"total": round(sum(seconds.values()), 6)},
    }


def text(fields: Fields) -> str:
    """Word the fields for a person."""
    lines = [_head(fields), line("structural rank", _rank_words(fields))]
    if fields["stored_zeros"]:
        share = f"{fields['stored_zeros']:,} of {fields['n_entries']:,} entries"
        lines.append(line("stored zeros", share + _dropped(fields)))
    if "n_blocks" in fields:
        lines += _part_lines(fields)
        lines.append(line("block form", count(fields["n_blocks"], "block") + _kind_words(fields)))
        if fields["reducible"]:
            lines.append(line("block sizes", _size_words(fields["block_sizes"])))
    return "\n".join([*lines, *_run_lines(fields)])


def explanation_text(fields: Fields, explanation: str) -> str:
    """Put an explanation between the name of the file and how it was found."""
    return "\n".join([_head(fields), "", explanation, "", *_run_lines(fields)])


def _head(fields: Fields) -> str:
    size = size_words((fields["n_rows"], fields["n_cols"]), fields["n_entries"])
    return f"{fields['file']}: {size}"


def _run_lines(fields: Fields) -> list[str]:
    engines = " then ".join(dict.fromkeys(fields["engines"])) or "none"
    words = f"{engines}, {count(fields['workers'], 'thread')}"
    if "ranks" in fields:
        exchanges, sent = count(fields["exchanges"], "exchange"), fields["bytes_sent"] / 1e6
        words += f" on each of {fields['ranks']} ranks, {exchanges}, {sent:,.1f} MB"
    times = (
        f"{key} {s * 1e3:.1f} ms" if s < 0.1 else f"{key} {s:.2f} s"
        for key, s in fields["seconds"].items()
    )
    return [line("method", words), line("time", ", ".join(times))]


def size_words(shape: tuple[int, int], n_entries: int) -> str:
    """Word the size of a matrix."""
    return f"{shape[0]:,} x {shape[1]:,}, {n_entries:,} entries"


def one_line(fields: Fields) -> str:
    """Word the fields of one file of several."""
    words = f"{_head(fields)}, structural rank {_rank_words(fields)}"
    if "n_blocks" in fields:
        words += f", {count(fields['n_blocks'], 'block')}"
    if fields["stored_zeros"]:
        words += f", {count(fields['stored_zeros'], 'stored zero')}{_dropped(fields)}"
    for part in ("overdetermined", "underdetermined"):
        if part in fields and fields[part]["n_pieces"]:
            words += f", {count(fields[part]['n_pieces'], 'conflict')} {part[:-10]}-determined"
    found = fields.get("numbers")
    known = fields["structurally_singular"] and found and found["rank"] == fields["structural_rank"]
    if found and not known:
        singular = f"numerically SINGULAR, rank {found['rank']:,}"
        words += f", {singular if found['singular'] else 'numerically nonsingular'}"
    return words


def line(label: str, words: str) -> str:
    """Align one line of the summary."""
    return f"  {label:<18}{words}"


def _rank_words(fields: Fields) -> str:
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


def _dropped(fields: Fields) -> str:
    return " dropped" if fields["explicit_zeros"] == "drop" else ""


def _part_lines(fields: Fields) -> list[str]:
    (few_rows, many_cols), (many_rows, few_cols) = fields["horizontal"], fields["vertical"]
    under, over = (many_cols, "column", few_rows, "row"), (many_rows, "row", few_cols, "column")
    parts = ("under-determined", under), ("over-determined", over)
    lines = [line(name, _surplus_words(*part)) for name, part in parts if part[0]]
    if lines:
        lines.append(line("well-determined", "{:,} x {:,}".format(*fields["square"])))
    return lines


def _surplus_words(many: int, noun: str, few: int, other: str) -> str:
    if few == 0:
        return f"{count(many, noun)} without entries"
    return f"{count(many, noun)} with entries in {count(few, other)} only: {many - few:,} too many"


def _kind_words(fields: Fields) -> str:
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
        return ", ".join(shown)
    hidden = sum(count for *_, count in block_sizes[_SIZES_SHOWN - 1 : -1])
    return ", ".join([*shown[: _SIZES_SHOWN - 1], f"{hidden:,} between", shown[-1]])
