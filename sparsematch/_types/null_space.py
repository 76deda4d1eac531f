"""What is returned of a null space."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NullSpaceBasis:
    """A basis of what a matrix maps to zero, and how nearly it does.

    Attributes
    ----------
    vectors : csc_array or ndarray, shape (n, nullity)
        Of float64 or complex128, in the columns; sparse ones, or orthonormal ones.
    free : ndarray, shape (nullity,)
        Columns of the matrix that depend on the others, ascending (rows, on the left side).
        ``vectors[free]`` is the identity if they are sparse: what is free determines the rest.
    residuals : ndarray, shape (nullity,)
        Of each vector the largest element of ``A @ vector`` over the largest of its terms, in the
        worse of two units: with the largest entries of rows and columns 1, and with all entries as
        near to 1 as can be. About 1e-16 if it vanishes but for rounding.
    shape : tuple of int
        The shape of the matrix.
    side : str
        ``"right"``: ``A @ vectors`` vanishes. ``"left"``: ``vectors.T @ A``.
    smallest : float
        The smallest singular value that does not count as zero, of the columns that are not free
        in units of the largest norm; an estimate.
    is_settled : bool
        Whether the rank is clear: no singular value is near the tolerance.
    """

    vectors: Any
    free: IndexArray
    residuals: FloatArray
    shape: tuple[int, int]
    side: str
    smallest: float
    is_settled: bool

    @property
    def nullity(self) -> int:
        """How many vectors there are."""
        return self.free.size

    @property
    def rank(self) -> int:
        """The numerical rank of the matrix."""
        return self.shape[self.side == "right"] - self.nullity

    @property
    def independent(self) -> IndexArray:
        """The other columns (rows): a basis of what the columns (rows) span."""
        return np.delete(np.arange(self.rank + self.nullity), self.free)

    def __repr__(self) -> str:
        rows, cols = self.shape
        how = "orthonormal" if isinstance(self.vectors, np.ndarray) else "sparse"
        return f"NullSpaceBasis({rows}x{cols}, rank {self.rank}, {self.nullity} {how}, {self.side})"
