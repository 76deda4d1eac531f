"""What a least-squares solver returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: By how many times another solver must be faster to be named.
WORTH_SAYING = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LeastSquares:
    """A least-squares solution of a sparse linear system, and how good it is.

    Attributes
    ----------
    x : ndarray or csc_array, shape (n,) or (n, k)
        The solution, of float64 or complex128; sparse if the right-hand sides were, and several.
    residual_norm : float, or ndarray of shape (k,)
        The 2-norm of ``b - A @ x``, for each right-hand side.
    rank : int
        The numerical rank of the matrix.
    shape : tuple of int
        The shape of the matrix.
    backward_error : float, or ndarray of shape (k,)
        By how much `A` and `b` would have to change at most, relative to ``|A| |x| + |b|``, for
        `x` to be an exact least-squares solution (Stewart, On the perturbation of pseudo-inverses,
        projections and linear least squares problems, SIAM Review 19, 1977). About 1e-16 of a good
        one.
    minimum_norm : bool
        Whether `x` is the solution of least norm. Of full column rank there is only one solution.
    lsmr_gain : float
        How many times as fast ``scipy.sparse.linalg.lsmr`` is predicted to be, to ten digits, if
        columns have norms of about 1: by the entries of R and its small singular values. 0 if it is
        less than ten whatever these are.
    """

    x: Any
    residual_norm: float | NDArray[Any]
    rank: int
    shape: tuple[int, int]
    backward_error: float | NDArray[Any]
    minimum_norm: bool
    lsmr_gain: float = 0.0

    @property
    def is_unique(self) -> bool:
        """Whether no other vector has as small a residual: the columns are independent."""
        return self.rank == self.shape[1]

    def __repr__(self) -> str:
        rows, cols = self.shape
        one_of_many = "minimum norm" if self.minimum_norm else "a basic solution"
        which = "the only solution" if self.is_unique else one_of_many
        return f"LeastSquares({rows}x{cols}, rank {self.rank}, {which})"

    def report(self) -> str:
        """Return a text: what was found, and whether ``lsmr`` would be faster by ten or more."""
        text = f"{self!r}, with a backward error of {np.max(self.backward_error, initial=0):.0e}"
        if self.lsmr_gain < WORTH_SAYING:
            return text
        return (
            f"{text}\nscipy.sparse.linalg.lsmr is predicted to be {self.lsmr_gain:.0f} times as "
            "fast, with ten digits and columns scaled to norms of 1: the factor fills up, and the "
            "condition is small"
        )
