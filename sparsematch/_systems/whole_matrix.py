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
from scipy.linalg import qr, solve_triangular

from sparsematch._base.arrays import Array, FloatArray
from sparsematch._numerics.backward_error import componentwise, normwise_by_terms
from sparsematch._numerics.foreign_calls import FEW_ROWS, splu


class WholeMatrix:
    """A sparse matrix that is factorised, not scaled, when it is first solved with."""

    def __init__(self, A: Any) -> None:
        self._A = A.copy()
        self._A.eliminate_zeros()  # which would only mislead the order of the columns
        #: By whether the transpose is factorised: other pivots, and another error.
        self._superlu: dict[bool, Callable[..., Array]] = {}

    def solve(self, b: Array, trans: str) -> Iterator[tuple[Array, FloatArray]]:
        """Yield solutions of a matrix, and their normwise errors, infinite where there is none."""
        A = self._turned(trans)
        superlu = (partial(self._by_superlu, trans=trans, flipped=flip) for flip in (False, True))
        methods: Any = *superlu, lambda b: np.linalg.solve(A.toarray(), b), partial(_by_qr, A)
        for solve in methods if A.shape[0] <= FEW_ROWS else methods[:2]:
            with np.errstate(all="ignore"):
                try:
                    x = solve(b)
                except (RuntimeError, MemoryError, np.linalg.LinAlgError):  # singular, or too much
                    continue
            yield x, normwise_by_terms(A, x, b)

    def rowwise_errors(self, x: Array, b: Array, trans: str) -> FloatArray:
        """Return the componentwise backward errors."""
        return componentwise(self._turned(trans), x, b)

    def _turned(self, trans: str) -> Any:
        return {"N": self._A, "T": self._A.T, "H": self._A.conj().T}[trans]

    def _by_superlu(self, b: Array, trans: str, flipped: bool) -> Array:
        if flipped and trans == "H":
            return self._by_superlu(b.conj(), "T", True).conj()
        if flipped not in self._superlu:
            from sparsematch._api.transversal import maximum_matching  # seldom needed
            from sparsematch._input.bipartite import as_bipartite

            if not maximum_matching(as_bipartite(self._A))[0].is_perfect:
                raise RuntimeError("singular without its zeros")  # SuperLU may crash
            self._superlu[flipped] = splu(self._A.T.tocsc() if flipped else self._A).solve
        solve = self._superlu[flipped]
        side = {"N": "T", "T": "N"}[trans] if flipped else trans
        if self._A.dtype == b.dtype:
            return solve(b, side)
        real, imag = (solve(part.copy(), side) for part in (b.real, b.imag))
        return real + 1j * imag  # of a real matrix


def _by_qr(A: Any, b: Array) -> Array:
    q, r, order = qr(A.toarray(), pivoting=True)
    x = np.empty_like(b)
    x[order] = solve_triangular(r, q.conj().T @ b)
    return x
