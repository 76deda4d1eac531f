"""What to expect of a linear system, as data and as a page of text.

In the text rows are equations, columns are variables.
"""

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._base.errors import check_count
from sparsematch._text.dicts import plain
from sparsematch._text.explanation import Explanation
from sparsematch._text.name_lists import Names, count
from sparsematch._text.wording import wrapped
from sparsematch._types.diagnosis import BlockCondition, Misscaled, Spectrum
from sparsematch._types.html import Page
from sparsematch._types.run_info import table

#: Ratio of neighbouring singular values that is called a gap.
_GAP = 1e3
#: Digits that are called few: half of those that a double has.
_POOR_DIGITS = 8
_HARMLESS = "harmless here, other solvers may suffer"
#: Backward errors of solutions that are worth a line: a hundred times rounding.
_POOR_RESIDUAL = 1e-14


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Diagnosis(Page):
    """What to expect of a linear system; ``str`` of it is a page that says so.

    Attributes
    ----------
    n, n_entries, stored_zeros : int
        Rows of the matrix, its entries that are not zero, and those stored that are.
    rank : int
        The numerical rank: singular values of the scaled matrix above 2.2e-15 of the largest. Of a
        structurally singular matrix the structural rank, an upper bound.
    spectrum : Spectrum or None
        The extreme singular values of the scaled matrix; None if they are not known, as those of a
        structurally singular one.
    n_blocks, largest_block : int
        Diagonal blocks of the block triangular form, and the rows of the largest; 0 if none.
    blocks : tuple of BlockCondition
        Blocks of two rows or more with the least reciprocal condition, the least first.
    rcond, scaled_rcond : float or None
        Estimated reciprocal condition in the 1-norm, of the matrix as it is and as it is scaled.
        None if it cannot be factorised.
    misscaled : tuple of Misscaled
        Rows and columns with units that are to blame for an `rcond` much worse than `scaled_rcond`,
        the farthest from the others first.
    digits : ndarray of float64, shape (n,), or None
        Decimal digits of each element of the solution that are to be relied upon, if the entries
        are known to working precision: between 0 and 15.7. None if the matrix is singular.
    vanishing : ndarray
        Elements of the solution that are zero but for rounding: less than a digit of them is right,
        though their error is small beside the largest element, scaled.
    of_several : bool
        Whether no right-hand side was given, and `digits` are the fewer of two.
    backward_error : float
        The relative change of the entries that accounts for the error of the computed solution.
    explanation : Explanation or None
        Which rows and columns make the matrix singular, or nearly so, if it is.
    row_names, col_names : tuple of str or None
        What the user calls the rows and columns.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import diagnose
    >>> found = diagnose(csc_array([[1.0, 1.0], [1.0, 1.0001]]))
    >>> found
    Diagnosis(2x2, rank 2, at least 11 digits)
    >>> found.blocks
    (BlockCondition(2x2, rcond 2e-05),)
    """

    n: int
    n_entries: int
    stored_zeros: int
    rank: int
    spectrum: Spectrum | None = None
    n_blocks: int = 0
    largest_block: int = 0
    blocks: tuple[BlockCondition, ...] = ()
    rcond: float | None = None
    scaled_rcond: float | None = None
    misscaled: tuple[Misscaled, ...] = ()
    digits: FloatArray | None = None
    vanishing: IndexArray = field(default_factory=lambda: np.empty(0, np.intp))
    of_several: bool = False
    backward_error: float = 0.0
    explanation: Explanation | None = None
    row_names: tuple[str, ...] | None = None
    col_names: tuple[str, ...] | None = None

    @property
    def is_singular(self) -> bool:
        """Whether the rank is less than the number of rows."""
        return self.rank < self.n

    @property
    def gap(self) -> tuple[int, float]:
        """The rank that the widest gap in the small singular values suggests, and its ratio.

        The ratio is that of the last singular value above the gap to the first below it. The rank
        is n, and the ratio 1, if nothing is known of them.
        """
        below, ratio = (0, 1.0) if self.spectrum is None else self.spectrum.gap
        return self.n - below, ratio

    @property
    def fewest_digits(self) -> IndexArray:
        """Elements of the solution, those with the fewest digits first, those vanishing not."""
        if self.digits is None:
            return np.empty(0, np.intp)
        order = np.argsort(self.digits, kind="stable")
        return order[~np.isin(order, self.vanishing)]

    def text(self, *, max_names: int = 5) -> str:
        """Say what to expect, in a page.

        Parameters
        ----------
        max_names : int, optional
            How many rows, columns or blocks to show in a list.

        Returns
        -------
        str
            Several lines, without a line break at the end.

        Raises
        ------
        TypeError, ValueError
            If `max_names` is no integer, or negative.
        """
        check_count("max_names", max_names)
        zeros = f", {count(n, 'stored zero')} not counted" if (n := self.stored_zeros) else ""
        entries = "1 entry" if self.n_entries == 1 else f"{self.n_entries:,} entries"
        lines = [_headline(self), "", f"Matrix    {self.n:,} x {self.n:,}, {entries}{zeros}"]
        lines += _rank(self) + _condition(self) + _digits(self, max_names)
        lines += _blocks(self, max_names) + _scaling(self, max_names)
        if self.explanation is not None:
            lines += ["", self.explanation.text(max_pieces=2, max_names=max_names)]
        elif self.row_names is None or self.col_names is None:
            lines += ["", "Rows and columns are counted from 0."]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in numbers, strings, lists and dicts, as `json` can write it.

        Returns
        -------
        dict
            The attributes by their names, `n` as ``n_rows`` and ``n_cols``, `gap` as ``gap_rank``
            and ``gap``, and ``is_singular``. The blocks have ``n_rows`` beside their rows and
            columns, and what is misscaled its ``name``.
        """
        gap_rank, gap = self.gap
        names = {"rows": Names(self.row_names, "row"), "columns": Names(self.col_names, "column")}
        sizes = {"n_rows": self.n, "n_cols": self.n}
        found = sizes | {each.name: plain(getattr(self, each.name)) for each in fields(self)[1:]}
        for block, each in zip(found["blocks"], self.blocks, strict=True):
            block |= {"n_rows": each.rows.size, "digits_lost": each.digits_lost}
        for unit in found["misscaled"]:
            unit["name"] = names[unit["side"]].of(unit["index"])
        error = self.backward_error if isfinite(self.backward_error) else None
        more = {"is_singular": self.is_singular, "gap_rank": gap_rank, "gap": gap}
        return found | more | {"backward_error": error}

    def __repr__(self) -> str:
        about = ""
        if self.digits is not None and (fewest := self.fewest_digits).size:
            about = f", at least {int(self.digits[fewest[0]])} digits"
        return f"Diagnosis({self.n}x{self.n}, rank {self.rank}{about})"


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
    is_near = found.explanation is not None and found.explanation.is_numerically_singular
    how = "Nearly singular" if is_near else "Ill-conditioned"
    return (
        f"{how}: expect less than {_POOR_DIGITS} digits in {few:,} of "
        f"{count(found.n, 'variable')}, {int(digits[0])} in the worst."
    )


def _rank(found: Diagnosis) -> list[str]:
    if found.spectrum is None or not found.spectrum.smallest.size:
        return []
    spectrum, (rank, ratio) = found.spectrum, found.gap
    shown = " ".join(f"{value:.1e}" for value in spectrum.smallest[-5:])
    values = f"largest {spectrum.largest:.1e}, smallest {'' if spectrum.exact else 'about '}{shown}"
    lines = [f"Rank      {found.rank:,} to working precision"]
    lines.append(wrapped(f"{'':10}singular values, scaled: {values}", 12))
    if ratio >= _GAP:
        lines += [f"{'':10}a gap of {ratio:.0e}: rank {rank:,} if what is below it counts as zero"]
    return lines


def _condition(found: Diagnosis) -> list[str]:
    if found.rcond is None or found.scaled_rcond is None or not found.n:
        return []
    as_it_is, scaled = (
        f"{1 / rcond:.1e}" if rcond > 1e-300 else "above 1e300"
        for rcond in (found.rcond, found.scaled_rcond)
    )
    return [f"Condition {as_it_is} as it is, {scaled} scaled (1-norm, estimated)"]


def _digits(found: Diagnosis, most: int) -> list[str]:
    if found.digits is None or not found.n:
        return []
    order, lines, names = found.fewest_digits, [], Names(found.col_names, "column")
    if order.size:
        digits = found.digits[order]
        low, middle, high = digits[[0, digits.size // 2, -1]].astype(int)
        lines = [f"{low} to {high} of 15 in the variables, median {middle}"]
        if low == high:
            lines = [f"{low} of 15 in all variables"]
        elif most:
            shown = (f"{names.of(j)} {int(found.digits[j])}" for j in order[:most].tolist())
            lines.append(f"the fewest: {', '.join(shown)}")
    if found.of_several:
        lines.append("the fewer of two: b = A @ ones, and a solution of equal elements, scaled")
    if found.vanishing.size:
        lines.append(f"zero but for rounding: {names.list(found.vanishing, most)}")
    if found.backward_error > _POOR_RESIDUAL:
        lines.append(f"solved with a backward error of {found.backward_error:.0e}")
    return [wrapped(f"{'Digits' if k == 0 else '':10}{line}", 12) for k, line in enumerate(lines)]


def _blocks(found: Diagnosis, most: int) -> list[str]:
    if not found.n_blocks:
        return []
    blocks = count(found.n_blocks, "diagonal block")
    lines = [f"Blocks    {blocks}, the largest of {count(found.largest_block, 'row')}"]
    rows = []
    for block in found.blocks[:most]:
        names = Names(found.row_names, "row").list(block.rows, 3)
        rcond = f"{'' if block.exact else 'about '}{block.rcond:.0e}"
        size = f"{block.number:,}", f"{block.rows.size:,}"
        rows.append((*size, rcond, f"{block.digits_lost:.0f}", names))
    if rows and found.n_blocks > 1:
        heads = "block", "size", "rcond", "digits lost", "equations"
        lines.append("          the worst conditioned:")
        lines += [f"          {line}" for line in table(heads, rows, (0, 1, 2, 3)).splitlines()]
    return lines


def _scaling(found: Diagnosis, most: int) -> list[str]:
    if found.rcond is None or found.scaled_rcond is None:
        return []
    if not found.misscaled:
        differ = found.rcond * _GAP <= found.scaled_rcond
        return [f"Scaling   units differ throughout; {_HARMLESS}"] if differ else []
    names = {"rows": Names(found.row_names, "row"), "columns": Names(found.col_names, "column")}
    shown = [f"{names[x.side].of(x.index)} (x {x.factor:.0e})" for x in found.misscaled[:most]]
    n_rows = sum(each.side == "rows" for each in found.misscaled)
    sides = (n_rows, "row"), (len(found.misscaled) - n_rows, "column")
    counts = [count(number, noun) for number, noun in sides if number]
    words = f"Scaling   units unlike the others in {' and '.join(counts)}; {_HARMLESS}"
    lines = [wrapped(words, 10)]
    if shown:
        farthest = f"          the farthest, with the factor that suits: {', '.join(shown)}"
        lines.append(wrapped(farthest, 12))
    return lines
