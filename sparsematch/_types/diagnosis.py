"""What to expect of a linear system: rank, blocks, scaling, and the digits of a solution."""

from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._types import diagnosis_text
from sparsematch._types.arrays import FloatArray, IndexArray
from sparsematch._types.explanation import Explanation
from sparsematch._types.name_lists import Names

#: Singular values up to this share of the largest are zero but for rounding: ten rounding errors,
#: which is what an LU or a singular value decomposition leaves of them.
ROUNDING = 10 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockCondition:
    """The condition of a diagonal block of the block triangular form.

    Attributes
    ----------
    number : int
        Which block of the form: from the upper left.
    rows, cols : ndarray
        The block, in the user's numbering, ascending.
    rcond : float
        Its reciprocal condition, scaled.
    exact : bool
        Whether that is the least singular value over the largest. Otherwise it is an estimate in
        the 1-norm, usually within a factor of 3.
    """

    number: int
    rows: IndexArray
    cols: IndexArray
    rcond: float
    exact: bool

    @property
    def digits_lost(self) -> float:
        """Decimal digits that a solution with the block loses; at most 16 of them there are."""
        return float(-np.log10(min(max(self.rcond, 1e-16), 1.0)))

    def __repr__(self) -> str:
        n = self.rows.size
        return f"BlockCondition({n}x{n}, rcond {self.rcond:.0e})"


@dataclass(frozen=True, slots=True)
class Misscaled:
    """A row or column in another unit than the rest.

    Attributes
    ----------
    side : str
        ``"rows"`` or ``"columns"``.
    index : int
        Which one.
    factor : float
        What it is multiplied by for the best scaling, those of the others being about 1.
    """

    side: str
    index: int
    factor: float


class Spectrum(NamedTuple):
    """The singular values at both ends of that of a scaled matrix.

    Attributes
    ----------
    largest : float
        The largest one.
    smallest : ndarray
        The smallest ones, in descending order; all of them if there are few.
    exact : bool
        Whether they are from a dense decomposition; otherwise they are estimates from above, the
        first of them the coarsest.
    """

    largest: float
    smallest: FloatArray
    exact: bool

    @property
    def gap(self) -> tuple[int, float]:
        """How many are below the widest gap between the smallest ones, and its ratio."""
        floor = self.largest * ROUNDING / 10  # what is below is noise
        values = np.maximum(self.smallest, floor)
        if values.size < 2 or floor == 0:
            return 0, 1.0
        ratios = values[:-1] / values[1:]
        widest = int(np.argmax(ratios))
        return values.size - widest - 1, float(ratios[widest])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Diagnosis:
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
        Diagonal blocks of the block triangular form, and the rows of the largest; 0 if there is
        none.
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
    digits: NDArray[np.float64] | None = None
    vanishing: IndexArray = field(default_factory=lambda: np.empty(0, np.intp))
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
        if self.spectrum is None:
            return self.n, 1.0
        below, ratio = self.spectrum.gap
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
        return diagnosis_text.text(self, max_names)

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
        spectrum = self.spectrum
        return {
            "n_rows": self.n,
            "n_cols": self.n,
            "n_entries": self.n_entries,
            "stored_zeros": self.stored_zeros,
            "rank": self.rank,
            "is_singular": self.is_singular,
            "gap_rank": gap_rank,
            "gap": gap,
            "spectrum": spectrum and {**spectrum._asdict(), "smallest": spectrum.smallest.tolist()},
            "n_blocks": self.n_blocks,
            "largest_block": self.largest_block,
            "blocks": [_block_dict(block) for block in self.blocks],
            "rcond": self.rcond,
            "scaled_rcond": self.scaled_rcond,
            "misscaled": [
                {**asdict(each), "name": names[each.side].of(each.index)} for each in self.misscaled
            ],
            "digits": None if self.digits is None else self.digits.tolist(),
            "vanishing": self.vanishing.tolist(),
            "backward_error": self.backward_error if isfinite(self.backward_error) else None,
            "explanation": self.explanation and self.explanation.to_dict(),
            "row_names": self.row_names and list(self.row_names),
            "col_names": self.col_names and list(self.col_names),
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        about = ""
        if self.digits is not None and (fewest := self.fewest_digits).size:
            about = f", at least {int(self.digits[fewest[0]])} digits"
        return f"Diagnosis({self.n}x{self.n}, rank {self.rank}{about})"


def _block_dict(block: BlockCondition) -> dict[str, Any]:
    return {
        "number": block.number,
        "n_rows": block.rows.size,
        "rcond": block.rcond,
        "exact": block.exact,
        "digits_lost": block.digits_lost,
        "rows": block.rows.tolist(),
        "cols": block.cols.tolist(),
    }
