"""What makes a matrix numerically singular, in words: rows are equations, columns are variables."""

from math import log10

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._base.tolerances import ROUNDING_OF_RESIDUALS, TINY
from sparsematch._text.dependences import described, paragraph, vanishing_digits
from sparsematch._text.name_lists import count
from sparsematch._text.wording import Line, Wording
from sparsematch._types.numerical_rank import NumericalRank
from sparsematch._types.singularity import NumericalDefects, SingularBlock, members_of

_DIGITS = 16  # that a double has, about
_FORM = " of the block triangular form (counted from 0)"


def headline(found: NumericalDefects) -> str:
    """Say whether the matrix is singular with these values."""
    size = f"{count(found.n, 'equation')}, {count(found.n, 'variable')}"
    rank = f"rank {'' if found.is_complete else 'at most '}{found.rank:,}"
    if not found.is_singular and not found.is_complete:
        return f"These values are too far apart to tell: {size}, {rank}."
    if not found.is_singular:
        near = (*found.near_equations, *found.near_variables)
        lost = [block.digits_lost for block in found.blocks]
        lost += [-log10(max(each.residual, TINY)) for each in near]
        but = f", but solutions lose {max(lost):.0f} of {_DIGITS} digits" if lost else ""
        return f"Nonsingular with these values: {size}, {rank}{but}."
    sides = [each for each in (found.equations, found.variables) if each]
    residual = min(max(one.residual for one in side) for side in sides)  # one proves it
    if residual <= ROUNDING_OF_RESIDUALS:
        return f"Numerically singular: {size}, but {rank} with these values."
    return f"Nearly singular: {size}, but {rank} to {vanishing_digits(residual)}."


def beside_structure(found: NumericalDefects | NumericalRank, structural_rank: int) -> list[Line]:
    """Say what the rank is where the structure is singular already."""
    is_clear = found.is_complete if isinstance(found, NumericalDefects) else found.is_settled
    if not is_clear and found.rank >= structural_rank:
        return ["These values are too far apart to tell whether more depends on each other."]
    rank = f"{found.rank:,}" if found.rank < structural_rank else f"{structural_rank:,}, no less"
    return [f"With these values the rank is {'' if is_clear else 'at most '}{rank}."]


def account(found: NumericalDefects, wording: Wording, what: str = "it") -> list[Line]:
    """Return the lines below the headline, empty ones between paragraphs; `what` is singular."""
    rows, cols = found.one_choice
    more = found.is_singular and not found.is_complete
    equations, variables = found.equations, found.variables
    shifts = [one.is_constant for one in variables]
    by_reference = bool(shifts) and all(shifts)
    sides = [(variables, cols), (equations, rows)]
    near = found.near_equations, found.near_variables
    turning_point = _turning_point(found, wording)
    more_members = sum(one.size for one in variables) > sum(one.size for one in equations)
    if turning_point or (more_members and not any(shifts)):
        sides.reverse()
    paragraphs: list[list[Line]] = [
        ["There is more than is named: at least the following."] if more else [],
        *(paragraph(*side, wording, by_reference) for side in sides),
        turning_point,
        [] if more else _repair(rows, cols, wording, what),
        *(described(side, wording, "Nearly ")[0] for side in near if side),
        _blocks(found, wording),
    ]
    return [line for lines in paragraphs if lines for line in ("", *lines)]


def _turning_point(found: NumericalDefects, wording: Wording) -> list[Line]:
    """Say what it looks like if all rows and columns take part, with the same weights."""
    both = (*found.equations, *found.variables)
    if len(both) != 2 or {each.size for each in both} != {found.n} or both[0].is_constant:
        return []
    left, right = (each.coefficients for each in both)
    if found.n <= wording.most_names or not np.allclose(left, right, atol=1e-3):
        return []
    return ["All equations and variables take part, as at a turning point or a bifurcation."]


def _repair(rows: IndexArray, cols: IndexArray, wording: Wording, what: str) -> list[Line]:
    """Say what makes the matrix nonsingular: equations for variables that are free."""
    if not rows.size or rows.size != cols.size:
        return []
    start = f"To make {what} nonsingular,"
    if rows.size > 1:
        return [f"{start} do both: drop those equations, fix those variables instead."]
    fixed, dropped = wording.cols.of(int(cols[0])), wording.rows.of(int(rows[0]))
    return [
        f"{start} fix a free variable in the place of a dependent equation:",
        f"for example {fixed} in the place of {dropped}.",
    ]


def _blocks(found: NumericalDefects, wording: Wording) -> list[Line]:
    """Say which diagonal blocks are singular, and how they can be more than the rank lacks."""
    blocks = found.blocks  # one that is the whole matrix has nothing to add
    if not blocks or (len(blocks) == 1 and blocks[0].rows.size == found.n):
        return []
    lacking, lack = sum(block.deficiency for block in blocks), found.n - found.rank
    if len(blocks) == 1 and lacking == lack > 0:
        return [f"Where: in diagonal block {blocks[0].number}{_FORM}, {_block_words(blocks[0])}"]
    lines: list[Line] = [f"Where: in these diagonal blocks{_FORM}, each by itself"]
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


def _block_words(block: SingularBlock) -> str:
    n, lost = block.rows.size, block.digits_lost
    rank = f", rank {n - block.deficiency:,}" if block.deficiency else ""
    digits = "" if lost >= _DIGITS else f", {lost:.0f} of {_DIGITS} digits lost"
    return f"{n:,} x {n:,}{rank}{digits}"


def _block_members(block: SingularBlock, wording: Wording) -> list[Line]:
    """Name what depends on each other within a block; without a dependence, all of the block."""
    sides = (
        ("equations", block.equations, block.rows, wording.rows),
        ("variables", block.variables, block.cols, wording.cols),
    )
    lines: list[Line] = []
    for noun, dependences, all_of_them, names in sides:
        members = [each.indices for each in dependences] or [all_of_them]
        lines.append(f"     {noun}: {names.list(members_of(members), wording.most_names)}")
    return lines
