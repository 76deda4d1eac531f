"""The numerical rank of a matrix of any shape, and which rows and columns it depends on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._types.singularity import Dependence


@dataclass(frozen=True, eq=False, repr=False)
class NumericalRank:
    """Which rows and columns of a matrix of any shape depend on each other, by its values.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns of the matrix.
    rank : int
        The numerical rank; an upper bound if it is not settled.
    equations : tuple of Dependence
        Rows that depend on each other, the fewest first: of each one may be dropped. Not more than
        a hundred; there are ``shape[0] - rank`` that are independent.
    variables : tuple of Dependence
        Columns that depend on each other, likewise.
    basis_rows, basis_cols : ndarray
        As many rows, and columns, as the rank is, that are independent; one choice.
    redundant_rows : ndarray
        Rows that follow from others: any one may be dropped, and the rank is the same. Each of the
        other rows is critical: without it the rank is less.
    undetermined_cols : ndarray
        Columns (variables) that may change, with others or alone, and no equation notices. All
        others have one value in all solutions.
    tolerance : float
        The residual up to which a combination counts as vanishing.
    smallest : float
        The smallest singular value that counts, of the independent columns or rows, in units of
        the largest norm; an estimate.
    is_settled : bool
        Whether the rank is clear: no singular value is near the tolerance.
    """

    shape: tuple[int, int]
    rank: int
    equations: tuple[Dependence, ...]
    variables: tuple[Dependence, ...]
    basis_rows: IndexArray
    basis_cols: IndexArray
    redundant_rows: IndexArray
    undetermined_cols: IndexArray
    tolerance: float
    smallest: float
    is_settled: bool

    @property
    def is_singular(self) -> bool:
        """Whether the rank is less than the number of rows and than that of columns."""
        return self.rank < min(self.shape)

    @property
    def is_complete(self) -> bool:
        """Whether all independent dependences are named."""
        named = len(self.equations), len(self.variables)
        return self.is_settled and named == tuple(n - self.rank for n in self.shape)

    @cached_property
    def critical_rows(self) -> IndexArray:
        """Rows without which the rank is less."""
        return np.setdiff1d(np.arange(self.shape[0]), self.redundant_rows)

    def __repr__(self) -> str:
        rows, cols = self.shape
        at_most = "" if self.is_settled else " at most"
        return f"NumericalRank({rows}x{cols}, rank {self.rank}{at_most})"
