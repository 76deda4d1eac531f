"""The last resort: the whole matrix as it is, by SciPy's SuperLU and, if small, by LAPACK's QR.

Where entries differ by many orders of magnitude, the block triangular form may have no solution
within the range of doubles, though a matrix has one that differs in the smallest entries only.
Partial pivoting on the whole matrix, not scaled, may find that, and a QR factorisation does, which
is backward stable normwise whatever the condition: Higham, Accuracy and Stability of Numerical
Algorithms (2002), Theorem 19.5.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.sparse.linalg import splu

from sparsematch._api.transversal import structural_rank

#: Rows up to which a dense factorisation takes some milliseconds.
_FEW_ROWS = 500


class WholeMatrix:
    """A sparse matrix that is factorised, not scaled, when it is first solved with."""

    def __init__(self, A: Any) -> None:
        self._A = A.copy()
        self._A.eliminate_zeros()  # which would only mislead the order of the columns
        self._superlu: Callable[..., NDArray[Any]] | None = None

    def solve(
        self, b: NDArray[Any], trans: str
    ) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
        """Yield solutions of a matrix, and their errors, infinite where there is none."""
        A = {"N": self._A, "T": self._A.T, "H": self._A.conj().T}[trans]
        methods = partial(self._by_superlu, trans=trans), partial(_by_lu, A), partial(_by_qr, A)
        for solve in methods if A.shape[0] <= _FEW_ROWS else methods[:1]:
            with np.errstate(all="ignore"):
                try:
                    x = solve(b)
                except (RuntimeError, MemoryError, np.linalg.LinAlgError):  # singular, or too much
                    continue
                size = (abs(A) @ np.abs(x) + np.abs(b)).max(axis=0)
                errors = np.abs(A @ x - b).max(axis=0) / np.where(size > 0, size, 1)
            yield x, np.where(np.isfinite(x).all(axis=0), errors, np.inf)

    def _by_superlu(self, b: NDArray[Any], trans: str) -> NDArray[Any]:
        if self._superlu is None:
            if structural_rank(self._A) < self._A.shape[0]:
                raise RuntimeError("singular without its zeros")  # SuperLU may crash
            self._superlu = splu(self._A).solve
        if self._A.dtype == b.dtype:
            return self._superlu(b, trans)
        real, imag = (self._superlu(part.copy(), trans) for part in (b.real, b.imag))
        return real + 1j * imag  # of a real matrix


def _by_lu(A: Any, b: NDArray[Any]) -> NDArray[Any]:
    return np.linalg.solve(A.toarray(), b)


def _by_qr(A: Any, b: NDArray[Any]) -> NDArray[Any]:
    q, r, order = qr(A.toarray(), pivoting=True)
    x = np.empty_like(b)
    x[order] = solve_triangular(r, q.conj().T @ b)
    return x
