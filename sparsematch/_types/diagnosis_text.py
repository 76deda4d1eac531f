"""A diagnosis as a page of text: rows are equations, columns are variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsematch._types.errors import check_count
from sparsematch._types.name_lists import Names, count
from sparsematch._types.tables import table
from sparsematch._types.wording import wrapped

if TYPE_CHECKING:
    from sparsematch._types.diagnosis import Diagnosis

#: Ratio of neighbouring singular values that is called a gap.
_GAP = 1e3
#: Digits that are called few: half of those that a double has.
_POOR_DIGITS = 8
_HARMLESS = "harmless here, other solvers may suffer"
#: Backward errors of solutions that are worth a line: a hundred times rounding.
_POOR_RESIDUAL = 1e-14


def text(found: Diagnosis, max_names: int) -> str:
    """Return the page."""
    check_count("max_names", max_names)
    zeros = (
        f", {count(found.stored_zeros, 'stored zero')} not counted" if found.stored_zeros else ""
    )
    entries = "1 entry" if found.n_entries == 1 else f"{found.n_entries:,} entries"
    lines = [
        _headline(found),
        "",
        f"Matrix    {found.n:,} x {found.n:,}, {entries}{zeros}",
    ]
    lines += _rank(found) + _condition(found) + _digits(found, max_names)
    lines += _blocks(found, max_names) + _scaling(found, max_names)
    if found.explanation is None:
        if found.row_names is None or found.col_names is None:
            lines += ["", "Rows and columns are counted from 0."]
    else:
        lines += ["", found.explanation.text(max_pieces=2, max_names=max_names)]
    return "\n".join(lines)


def _headline(found: Diagnosis) -> str:
    if found.is_singular:
        why = "see below" if found.explanation is not None else "see the singular values"
        numbers = found.explanation and found.explanation.numbers
        named = numbers and numbers.is_complete and numbers.is_singular
        bound = "" if found.spectrum is not None or named else "at most "
        return f"Singular: rank {bound}{found.rank:,} of {found.n:,}, {why}."
    if found.digits is None or not found.fewest_digits.size:
        return "Sound: the solution is zero." if found.n else "There is nothing to solve."
    digits = found.digits[found.fewest_digits]
    if digits[0] >= _POOR_DIGITS:
        return f"Sound: expect at least {int(digits[0])} digits in every variable."
    few = int((digits < _POOR_DIGITS).sum())
    how = "Nearly singular" if found.explanation is not None else "Ill-conditioned"
    return (
        f"{how}: expect less than {_POOR_DIGITS} digits in {few:,} of "
        f"{count(found.n, 'variable')}, {int(digits[0])} in the worst."
    )


def _rank(found: Diagnosis) -> list[str]:
    if found.spectrum is None or not found.spectrum.smallest.size:
        return []
    spectrum, (rank, ratio) = found.spectrum, found.gap
    shown = " ".join(f"{value:.1e}" for value in spectrum.smallest[-5:])
    how = "" if spectrum.exact else "about "
    values = f"largest {spectrum.largest:.1e}, smallest {how}{shown}"
    lines = [
        f"Rank      {found.rank:,} to working precision",
        wrapped(f"          singular values, scaled: {values}", 12),
    ]
    if ratio >= _GAP:
        lines.append(
            f"          a gap of {ratio:.0e}: rank {rank:,} if what is below it counts as zero"
        )
    return lines


def _condition(found: Diagnosis) -> list[str]:
    if found.rcond is None or found.scaled_rcond is None or not found.n:
        return []
    plain, scaled = (_inverse(r) for r in (found.rcond, found.scaled_rcond))
    return [f"Condition {plain} as it is, {scaled} scaled (1-norm, estimated)"]


def _inverse(rcond: float) -> str:
    return f"{1 / rcond:.1e}" if rcond > 1e-300 else "above 1e300"


def _digits(found: Diagnosis, most: int) -> list[str]:
    if found.digits is None or not found.n:
        return []
    order, lines = found.fewest_digits, []
    if order.size:
        digits = found.digits[order]
        low, middle, high = digits[[0, digits.size // 2, -1]].astype(int)
        lines = [f"{low} to {high} of 15 in the variables, median {middle}"]
        if low == high:
            lines = [f"{low} of 15 in all variables"]
        elif most:
            names = Names(found.col_names, "column")
            shown = (f"{names.of(j)} {int(found.digits[j])}" for j in order[:most].tolist())
            lines.append(f"the fewest: {', '.join(shown)}")
    if found.vanishing.size:
        names = Names(found.col_names, "column")
        lines.append(f"zero but for rounding: {names.list(found.vanishing, most)}")
    if found.backward_error > _POOR_RESIDUAL:
        lines.append(f"solved with a backward error of {found.backward_error:.0e}")
    return [wrapped(f"{'Digits' if k == 0 else '':10}{line}", 12) for k, line in enumerate(lines)]


def _blocks(found: Diagnosis, most: int) -> list[str]:
    if not found.n_blocks:
        return []
    blocks = count(found.n_blocks, "diagonal block")
    lines = [f"Blocks    {blocks}, the largest of {count(found.largest_block, 'row')}"]
    rows = [
        (
            f"{block.number:,}",
            f"{block.rows.size:,}",
            f"{'' if block.exact else 'about '}{block.rcond:.0e}",
            f"{block.digits_lost:.0f}",
            Names(found.row_names, "row").list(block.rows, 3),
        )
        for block in found.blocks[:most]
    ]
    if rows and found.n_blocks > 1:
        heads = "block", "size", "rcond", "digits lost", "equations"
        lines.append("          the worst conditioned:")
        lines += [f"          {line}" for line in table(heads, rows, (0, 1, 2, 3)).splitlines()]
    return lines


def _scaling(found: Diagnosis, most: int) -> list[str]:
    if found.rcond is None or found.scaled_rcond is None:
        return []
    if not found.misscaled:
        if found.rcond * _GAP <= found.scaled_rcond:
            return [f"Scaling   units differ throughout; {_HARMLESS}"]
        return []
    names = {"rows": Names(found.row_names, "row"), "columns": Names(found.col_names, "column")}
    shown = [
        f"{names[each.side].of(each.index)} (x {each.factor:.0e})"
        for each in found.misscaled[:most]
    ]
    n_rows = sum(each.side == "rows" for each in found.misscaled)
    counts = [
        count(number, noun)
        for number, noun in ((n_rows, "row"), (len(found.misscaled) - n_rows, "column"))
        if number
    ]
    words = f"Scaling   units unlike the others in {' and '.join(counts)}; {_HARMLESS}"
    lines = [wrapped(words, 10)]
    if shown:
        farthest = f"          the farthest, with the factor that suits: {', '.join(shown)}"
        lines.append(wrapped(farthest, 12))
    return lines
