"""What makes a matrix numerically singular, in words: rows are equations, columns are variables."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sparsematch._types.arrays import IndexArray
from sparsematch._types.combination import Combination, combination, number, readable
from sparsematch._types.name_lists import Names, count
from sparsematch._types.singularity import (
    Dependence,
    NumericalDefects,
    ParallelPair,
    SingularBlock,
)
from sparsematch._types.wording import Line, Wording

_ROUNDING = 1e-13  # a residual: what vanishes up to this may vanish exactly; n = 1e4 adds up to it
_TINY = 1e-3  # a coefficient, of 1: solutions lose three digits where it alone is chosen
_DIGITS = 16  # that a double has, about


def headline(found: NumericalDefects) -> str:
    """Say whether the matrix is singular with these values."""
    size = f"{count(found.n, 'equation')}, {count(found.n, 'variable')}"
    if not found.is_singular:
        lost = max((block.digits_lost for block in found.blocks), default=0.0)
        but = f", but solutions lose {lost:.0f} of {_DIGITS} digits" if found.blocks else ""
        return f"Nonsingular with these values: {size}, rank {found.rank:,}{but}."
    residual = max(each.residual for each in (*found.equations, *found.variables))
    if residual <= _ROUNDING:
        return f"Numerically singular: {size}, but rank {found.rank:,} with these values."
    digits = int(-np.log10(residual))
    return f"Nearly singular: {size}, but rank {found.rank:,} to {count(digits, 'digit')}."


def account(found: NumericalDefects, wording: Wording) -> list[Line]:
    """Return the lines below the headline; an empty one separates the paragraphs."""
    rows, cols = found.one_choice
    paragraphs = [
        _dependences(found.equations, rows, wording),
        _dependences(found.variables, cols, wording),
        _repair(rows, cols, wording),
        _blocks(found, wording),
        _parallel(found, "rows", wording),
        _parallel(found, "columns", wording),
    ]
    return [line for paragraph in paragraphs if paragraph for line in ("", *paragraph)]


def _dependences(
    all_of_them: Sequence[Dependence], chosen: IndexArray, wording: Wording
) -> list[Line]:
    """Describe the dependences of one side, each by what it says, and what to do."""
    if not all_of_them:
        return []
    over = all_of_them[0].side == "rows"
    kind, (one, noun) = (
        ("Dependent", ("drop", "equation")) if over else ("Free", ("fix", "variable"))
    )
    if len(all_of_them) == 1:
        words, *details = _describe(all_of_them[0], wording, 2)
        lines = [f"{kind}: {words}", *details]
    else:
        members = np.unique(np.concatenate([each.indices for each in all_of_them])).size
        lines = [f"{kind}: {count(members, noun)}, {len(all_of_them):,} too many"]
        for place, each in enumerate(all_of_them[: wording.most], start=1):
            words, *details = _describe(each, wording, 5)
            lines += [f"  {place}. {words}", *details]
        if (hidden := len(all_of_them) - wording.most) > 0:
            lines.append(f"  and {hidden:,} more, none of fewer {noun}s")
        names = wording.names(all_of_them[0].side).list(chosen, wording.most_names)
        lines.append(f"  to do: {one} one {noun} of each, for example {names},")
    rest = "or correct a coefficient;" if over else "or write an equation that notices the change"
    last = "unless the right-hand sides cancel as well, there is no solution" if over else ""
    if len(all_of_them) == 1:
        lines.append(f"  to do: {one} one of these {noun}s ({_which(all_of_them[0])}), {rest}")
        return [*lines, f"         {last}"] if over else lines
    return [*lines, f"         {rest} {last}".rstrip()]


def _which(one: Dependence) -> str:
    """Say which member to choose: one of a tiny coefficient leaves the matrix nearly singular."""
    if np.abs(one.coefficients).min() >= _TINY:
        return "any will do"
    return f"best one that {'counts' if one.side == 'rows' else 'changes'} much"


def _describe(one: Dependence, wording: Wording, indent: int) -> list[Line]:
    """Say in words what a combination means, and below it who takes part."""
    names, pad = wording.names(one.side), " " * indent
    if one.side == "rows":
        if one.size == 2:
            words = "2 equations, one a multiple of the other"
            return [words + _digits(one), pad + _multiple(*_pair(one), names)]
        words = f"{count(one.size, 'equation')}, each of which follows from the others"
        return [words + _digits(one), _equation(one, names, wording.most_names, indent)]
    if one.is_constant and one.size > 1:
        words = f"{count(one.size, 'variable')} without a reference: all may shift by one amount"
        return [
            words + _digits(one),
            f"{pad}variables: {names.list(one.indices, wording.most_names)}",
        ]
    if one.size == 2:
        first, second = one.coefficients
        only = combination(
            one.indices, np.array([second, -first]) / max(abs(first), abs(second)), names, 2
        )
        words = "2 variables that occur in one combination only"
        return [words + _digits(one), f"{pad}everywhere as {only.sum()}"]
    words = f"{count(one.size, 'variable')} that may change together, and no equation notices"
    return [words + _digits(one), f"{pad}changes: {_changes(one, names, wording.most_names)}"]


def _equation(one: Dependence, names: Names, most: int, indent: int) -> Combination:
    return combination(one.indices, one.coefficients, names, most, indent)


def _changes(one: Dependence, names: Names, most: int) -> str:
    """List by how much each variable changes."""
    values, order = readable(one.coefficients), np.arange(one.size)
    if one.size > most:  # the largest, as they matter most
        order = np.argsort(-np.abs(values), kind="stable")
    if values[order[0]].real < 0:
        values = -values
    shown = zip(one.indices[order[:most]].tolist(), values[order[:most]], strict=True)
    words = ", ".join(f"{names.of(k)} by {number(value)}" for k, value in shown)
    return words + (f" and {one.size - most:,} more" if one.size > most else "")


def _digits(one: Dependence) -> str:
    """Say to how many digits a combination vanishes, if it is not all of them."""
    if one.residual <= _ROUNDING:
        return ""
    return f" (to {count(int(-np.log10(one.residual)), 'digit')})"


def _pair(one: Dependence) -> tuple[int, int, Any]:
    """Return two parallel rows or columns, and by what the first is multiplied to be the other."""
    (i, j), (x, y) = one.indices.tolist(), one.coefficients
    return (i, j, -x / y) if abs(x) >= abs(y) else (j, i, -y / x)


def _multiple(i: int, j: int, factor: Any, names: Names) -> str:
    """Say that row or column `j` is a multiple of the other."""
    value, first, second = number(factor), names.of(i), names.of(j)
    if value == "1":
        return f"{second} is the same as {first}"
    if value == "-1":
        return f"{second} is {first} with the opposite sign"
    return f"{second} is {value} x {first}"


def _repair(rows: IndexArray, cols: IndexArray, wording: Wording) -> list[Line]:
    """Say what makes the matrix nonsingular: equations for variables that are free."""
    if not rows.size or rows.size != cols.size:
        return []
    if rows.size > 1:
        return [
            "To make it nonsingular, do both: drop those equations, fix those variables instead."
        ]
    fixed, dropped = wording.cols.of(int(cols[0])), wording.rows.of(int(rows[0]))
    return [
        "To make it nonsingular, fix a free variable in the place of a dependent equation:",
        f"for example {fixed} in the place of {dropped}.",
    ]


def _blocks(found: NumericalDefects, wording: Wording) -> list[Line]:
    """Say which diagonal blocks are singular, and how they can be more than the rank lacks."""
    blocks = found.blocks  # one that is the whole matrix has nothing to add
    if not blocks or (len(blocks) == 1 and blocks[0].rows.size == found.n):
        return []
    lacking = sum(block.deficiency for block in blocks)
    lack = found.n - found.rank
    if len(blocks) == 1 and lacking == lack > 0:
        which = f"diagonal block {blocks[0].number} of the block triangular form (counted from 0)"
        return [f"Where: in {which}, {_block_words(blocks[0])}"]
    lines: list[Line] = [_title(blocks)]
    for block in blocks[: wording.most]:
        lines.append(f"  block {block.number}: {_block_words(block)}")
        if lacking > lack or not block.deficiency:
            lines += _block_members(block, wording)
    if (hidden := len(blocks) - wording.most) > 0:
        lines.append(f"  and {hidden:,} more")
    if lacking > lack:
        lines += [
            f"  Alone, these blocks lack {lacking:,} of the rank; with what couples them, it is "
            f"only {lack:,}.",
            "  Not all that is dependent or free in a block is so in the whole: go by the above.",
        ]
    return lines


def _title(blocks: Sequence[SingularBlock]) -> str:
    singular = sum(block.deficiency > 0 for block in blocks)
    kind = "nearly singular" if not singular else "singular"
    if 0 < singular < len(blocks):
        kind = "singular, or nearly so"
    one, are = len(blocks) == 1, "is" if len(blocks) == 1 else "are"
    alone = "by itself" if one else "by themselves"
    return (
        f"Where: {count(len(blocks), 'diagonal block')} of the block triangular form {are} {kind} "
        f"{alone} (counted from 0)"
    )


def _block_words(block: SingularBlock) -> str:
    n = block.rows.size
    words = f"{n:,} x {n:,}"
    if block.deficiency:
        words += f", rank {n - block.deficiency:,}"
    lost = block.digits_lost
    return words + ("" if lost >= _DIGITS else f", {lost:.0f} of {_DIGITS} digits lost")


def _block_members(block: SingularBlock, wording: Wording) -> list[Line]:
    """Name what depends on each other within a block; without a dependence, all of the block."""
    sides = (
        ("equations", block.equations, block.rows, wording.rows),
        ("variables", block.variables, block.cols, wording.cols),
    )
    lines: list[Line] = []
    for noun, dependences, all_of_them, names in sides:
        members = [each.indices for each in dependences] or [all_of_them]
        listed = names.list(np.unique(np.concatenate(members)), wording.most_names)
        lines.append(f"     {noun}: {listed}")
    return lines


def _parallel(found: NumericalDefects, side: str, wording: Wording) -> list[Line]:
    """List the pairs that are nearly parallel, and not said to be multiples of each other."""
    rows = side == "rows"
    pairs = found.parallel_rows if rows else found.parallel_cols
    new = _not_said(pairs, found.equations if rows else found.variables)
    if not new:
        return []
    noun, names = ("equation" if rows else "variable"), wording.names(side)
    lines: list[Line] = [f"Nearly parallel {noun}s: {count(len(new), 'pair')}"]
    for pair in new[: wording.most]:
        words = _multiple(pair.first, pair.second, pair.factor, names)
        lines.append(f"  {words} but for an angle of {pair.angle:.1g}")
    if (hidden := len(new) - wording.most) > 0:
        lines.append(f"  and {hidden:,} more, at larger angles")
    return lines


def _not_said(
    pairs: Iterable[ParallelPair], dependences: Iterable[Dependence]
) -> list[ParallelPair]:
    """Return the pairs that do not follow from dependences of two."""
    group: dict[int, int] = {}

    def leader(k: int) -> int:
        while (above := group.get(k, k)) != k:
            k = above
        return k

    for each in dependences:
        if each.size == 2:
            first, second = map(leader, each.indices.tolist())
            group[second] = first
    return [pair for pair in pairs if leader(pair.first) != leader(pair.second)]
