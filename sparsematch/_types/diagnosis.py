"""What is known of a linear system: the condition of its blocks, singular values, scaling."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._base.tolerances import EPSILON


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
        floor = self.largest * EPSILON  # what is below is noise
        values = np.maximum(self.smallest, floor)
        if values.size < 2 or floor == 0:
            return 0, 1.0
        ratios = values[:-1] / values[1:]
        widest = int(np.argmax(ratios))
        return values.size - widest - 1, float(ratios[widest])
