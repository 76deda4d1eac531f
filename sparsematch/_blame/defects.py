"""Why a structurally nonsingular matrix is numerically singular: which rows, which columns.

The matrix is scaled, so units do not count. Its singular diagonal blocks are found
(`singular_blocks`), the null spaces of the whole matrix computed through entries that make them
regular (`null_space`), and from these combinations of few rows and of few columns (`null_basis`).
"""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexPair
from sparsematch._base.tolerances import NEARLY_SINGULAR, TINY
from sparsematch._blame.null_basis import Lines, sparse_basis
from sparsematch._blame.null_space import BorderedMatrix
from sparsematch._blame.singular_blocks import MOST, Border, Entries, find_border
from sparsematch._numerics.scaling import logarithmic_scaling, maxima_scaling, scaled
from sparsematch._systems.errors import SingularMatrixError
from sparsematch._types.block_form import block_of_each
from sparsematch._types.singularity import Dependence, NumericalDefects, SingularBlock

Dependences = tuple[Dependence, ...]

#: What ends where no number will do: no pivot, none within the range, no convergence.
_NO_NUMBERS = SingularMatrixError, FloatingPointError, np.linalg.LinAlgError

#: Exponents by which two systems of units differ at most: beyond, products are no doubles.
_MOST_SHIFT = 900


def numerical_defects(
    A: Any, missing: IndexPair | None = None, *, tolerance: float = 1e-10
) -> NumericalDefects | None:
    """Find the rows and columns of a CSC matrix that depend on each other by their numbers."""
    # It is square, of float64 or complex128, its columns ascending and without duplicates and
    # stored zeros. `missing` are the rows and columns of entries with which it is structurally
    # nonsingular: they are added like those that make singular blocks regular. None if what they
    # stand for is not found, as where they are many. What leaves no more than `tolerance` vanishes.
    # Time: that of a factorisation, and of two solves for each singular value that is small.
    if A.shape[0] == 0:
        return NumericalDefects(0, (), (), (), tolerance)
    with np.errstate(all="ignore"):
        rows, cols = missing or np.empty((2, 0), np.intp)
        lacking = Entries(rows, cols, np.ones(rows.size))
        row_scale, col_scale = logarithmic_scaling(lacking.added_to(A))
        B = scaled(A, row_scale, col_scale)
        B.data[np.abs(B.data) < TINY] = TINY  # none becomes zero, which changes the pattern
        found = _all_dependences(B, lacking, lines_of(A, B, row_scale, col_scale), tolerance)
    if min(len(found.rows), len(found.cols)) < rows.size:
        return None
    named = found.rows, found.cols, found.blocks, tolerance, found.is_complete
    return NumericalDefects(A.shape[0], *named, row_scale, col_scale, *found.near)


def lines_of(A: Any, B: Any, row_scale: FloatArray, col_scale: FloatArray) -> dict[str, Lines]:
    """Return the rows and the columns, scaled, to be judged so and with the user's maxima at 1."""
    units = []
    for own, scale in zip(maxima_scaling(A), (row_scale, col_scale), strict=True):
        shift = np.clip(np.log2(own) - np.log2(scale), -_MOST_SHIFT, _MOST_SHIFT).astype(int)
        units.append((np.zeros_like(shift), shift))
    return {
        "rows": Lines("rows", B.tocsr().T, row_scale, units[1]),
        "columns": Lines("columns", B, col_scale, units[0]),
    }


class _Found(NamedTuple):
    """Dependences of rows and of columns, the singular blocks, and what is known of others."""

    rows: Dependences = ()
    cols: Dependences = ()
    blocks: tuple[SingularBlock, ...] = ()
    is_complete: bool = False  #: Whether these are all.
    near: tuple[Dependences, ...] = (), ()  #: Those that nearly vanish, if none does.


def _all_dependences(B: Any, lacking: Entries, lines: dict[str, Lines], tolerance: float) -> _Found:
    """Return them; none if there are too many, or if numbers leave the range of doubles."""
    try:
        border = find_border(lacking.added_to(B))
        if not border.is_complete or lacking.rows.size > MOST:
            return _Found()
        if not border.blocks.size + lacking.rows.size:
            return _Found(is_complete=True)
        bordered = BorderedMatrix(border.and_also(lacking))
        found = {side: _dependences(bordered, of, tolerance) for side, of in lines.items()}
        near: Any = (), ()
        if not any(found.values()):
            near = [_dependences(bordered, of, NEARLY_SINGULAR) for of in lines.values()]
        alone = not lacking.rows.size
        blocks = _blocks(bordered, border, lines, found, tolerance) if alone else ()
    except _NO_NUMBERS:
        return _Found()
    rows, cols = found.values()
    return _Found(rows, cols, blocks, len(rows) == len(cols), near)


def _dependences(bordered: BorderedMatrix, lines: Lines, tolerance: float) -> Dependences:
    """Return the combinations that vanish; FloatingPointError if a part has too many."""
    found: list[Dependence] = []
    for which in bordered.parts():
        space = bordered.null_space(which, lines.side, tolerance)
        if space.values.size > MOST:
            raise FloatingPointError("too many combinations vanish")
        found += sparse_basis(lines, space, tolerance)
    return tuple(sorted(found, key=lambda dependence: (dependence.size, dependence.indices[0])))


def _blocks(
    bordered: BorderedMatrix,
    border: Border,
    lines: dict[str, Lines],
    found: dict[str, Dependences],
    tolerance: float,
) -> tuple[SingularBlock, ...]:
    """Return the diagonal blocks that are singular by themselves, each as if it were alone."""
    inside = {side: _by_block(found[side], border, side) for side in lines}
    blocks = []
    numbers, first = np.unique(border.blocks, return_index=True)
    groups = np.split(np.arange(border.blocks.size), first[1:])
    for k, which in zip(numbers.tolist(), groups, strict=True):
        rows, cols = (np.sort(of_block) for of_block in border.plan.block(k))
        own: list[Dependences] = []
        least = 1.0
        for side, members, others in (("rows", rows, cols), ("columns", cols, rows)):
            known = inside[side].get(k, [])
            least = min([least, *(one.residual for one in known)])
            if len(known) < which.size:
                space = bordered.null_space(which, side, tolerance, members)
                least = min([least, *space.values.tolist()])
                if len(known) < space.values.size:
                    known = sparse_basis(lines[side], space, tolerance, others)
            own.append(tuple(known))
        if all(own):
            blocks.append(SingularBlock(k, rows, cols, own[0], own[1], least))
    return tuple(blocks)


def _by_block(found: Dependences, border: Border, side: str) -> dict[int, list[Dependence]]:
    """Return the dependences that lie within a diagonal block, by its number."""
    blocks = border.plan.blocks
    order = blocks.row_perm if side == "rows" else blocks.col_perm
    block_of = block_of_each(order, border.plan.starts)
    inside: dict[int, list[Dependence]] = {}
    for dependence in found:
        numbers = block_of[dependence.indices]
        if (numbers == numbers[0]).all():
            inside.setdefault(int(numbers[0]), []).append(dependence)
    return inside
