"""What factorisations offer to iterative solvers: the inverse as a linear operator."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from sparsematch._types.choices import Side


class InverseOperator(ABC):
    """A factorisation that may be passed to SciPy's iterative solvers as ``M``."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @abstractmethod
    def solve(self, b: ArrayLike, trans: Side = "N") -> NDArray[Any]:
        """Solve a linear system."""

    def matvec(self, b: ArrayLike) -> NDArray[Any]:
        """Apply the inverse: what makes this a preconditioner, as in ``gmres(A, b, M=lu)``."""
        return self.solve(b)

    def rmatvec(self, b: ArrayLike) -> NDArray[Any]:
        """Apply the inverse of the conjugate transpose."""
        return self.solve(b, "H")

    def matmat(self, b: ArrayLike) -> NDArray[Any]:
        """Apply the inverse to several columns."""
        return self.solve(b)

    def as_operator(self) -> LinearOperator:
        """Return the inverse as a SciPy LinearOperator."""
        also: Any = {"matmat": self.solve, "rmatvec": self.rmatvec, "rmatmat": self.rmatvec}
        return LinearOperator(self.shape, self.solve, dtype=self.dtype, **also)
