"""The numerical rank of a matrix of any shape, in words: rows are equations, columns variables."""

from collections.abc import Sequence

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._base.tolerances import ROUNDING_OF_RESIDUALS
from sparsematch._text.dependences import described, paragraph, vanishing_digits
from sparsematch._text.name_lists import count
from sparsematch._text.wording import Line, Wording
from sparsematch._types.numerical_rank import NumericalRank
from sparsematch._types.singularity import Dependence, one_of_each


def headline(found: NumericalRank) -> str:
    """Say what the rank is with these values."""
    rows, cols = found.shape
    size = f"{count(rows, 'equation')}, {count(cols, 'variable')}"
    rank = f"rank {'' if found.is_settled else 'at most '}{found.rank:,}"
    deficient = "rank deficient" if rows != cols else "singular"
    if not found.is_singular:
        return f"Full rank with these values: {size}, {rank}."
    dependences = found.equations if rows <= cols else found.variables
    residual = max((each.residual for each in dependences), default=0.0)
    if residual <= ROUNDING_OF_RESIDUALS:
        return f"Numerically {deficient}: {size}, but {rank} with these values."
    return f"Nearly {deficient}: {size}, but {rank} to {vanishing_digits(residual)}."


def account(found: NumericalRank, wording: Wording) -> list[Line]:
    """Return the lines below the headline; an empty one separates the paragraphs."""
    paragraphs: list[list[Line]] = []
    if not found.is_settled:
        doubt = "The rank is not clear: a singular value is near the tolerance of "
        paragraphs.append([f"{doubt}{found.tolerance:.0e}, or units differ too much."])
    sides = [
        ("equation", found.shape[0], found.equations, found.redundant_rows),
        ("variable", found.shape[1], found.variables, found.undetermined_cols),
    ]
    if is_tall := found.shape[0] > found.shape[1]:
        sides.reverse()
    for noun, size, dependences, members in sides:
        empty = [each for each in dependences if each.size == 1]
        others = [each for each in dependences if each.size > 1]
        surplus = size - found.rank - len(empty)
        if found.shape[0] != found.shape[1]:  # else the structure has said it
            paragraphs.append(_empty(empty, wording))
        if not others:
            continue
        if surplus > len(others) or (is_tall and noun == "equation"):
            n = members.size - len(empty)
            lines, n_sets = described(others, wording, of=(n, surplus))
            if n_sets > 1:  # measurements, say, of which there are more on purpose
                lines[0] = f"Dependent: {n:,} {noun}s, {surplus:,} of which follow from others"
        else:
            lines = paragraph(others, one_of_each(others, np.empty(0, np.intp)), wording)
        paragraphs.append(lines)
    paragraphs.append(_redundancy(found, wording))
    return [line for lines in paragraphs if lines for line in ("", *lines)]


def _empty(dependences: Sequence[Dependence], wording: Wording) -> list[Line]:
    """Name rows without entries, or columns."""
    if not dependences:
        return []
    indices = np.concatenate([each.indices for each in dependences])
    side = dependences[0].side
    names = wording.names(side).list(indices, wording.most_names)
    if side == "rows":
        return [f"Empty: {count(indices.size, 'equation')} without variables: {names}"]
    return [f"Free: {count(indices.size, 'variable')} in no equation: {names}"]


def _redundancy(found: NumericalRank, wording: Wording) -> list[Line]:
    """Say which equations may be dropped, and which not."""
    if found.shape[0] == found.shape[1] or not (found.is_settled and found.redundant_rows.size):
        return []
    empty = [each.indices[0] for each in found.equations if each.size == 1]
    redundant, critical = np.setdiff1d(found.redundant_rows, empty), found.critical_rows
    lines: list[Line] = []
    if redundant.size and len(found.equations) > len(empty) + 1:  # else the dependence says it
        alone = "of which any one may be dropped, but not any two"
        lines.append(f"Redundant: {_listed(redundant, wording, alone)}")
    if critical.size:
        lines.append(f"Critical: {_listed(critical, wording, 'not to be dropped')}")
    return lines


def _listed(rows: IndexArray, wording: Wording, which: str) -> str:
    return f"{count(rows.size, 'equation')}, {which}: {wording.rows.list(rows, wording.most_names)}"
