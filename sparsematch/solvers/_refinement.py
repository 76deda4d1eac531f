"""Solutions measured against the matrix, and refined where the factors were not good enough.

Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds
for coefficients and right-hand sides (Numerische Mathematik 6, 1964); Arioli, Demmel, Duff, Solving
sparse linear systems with sparse backward error (SIAM J. Matrix Anal. Appl. 10, 1989).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._types.bipartite import BipartiteCSR

Values = NDArray[Any]

#: Backward errors up to this are left as they are.
_GOOD = 1e-14
_MAX_STEPS = 2
#: Each solution is measured where the factors have so many entries for each of the matrix;
#: elsewhere the first one of a kind only, unless that had to be refined.
_CHEAP = 4.0
_ALL = frozenset("NTH")


class Refinement:
    """The values of a matrix, kept to measure solutions.

    Attributes
    ----------
    asked : frozenset of str
        For which of "N", "T" and "H" the next solution is to be measured.
    """

    def __init__(self, graph: BipartiteCSR, values: Values) -> None:
        """Copy the values; `graph` must be flipped."""
        self._A = _columns(graph, values.copy())
        self._magnitude: sp.csc_array | None = None
        self.asked = _ALL

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self._A.dtype

    def renew(self, values: Values) -> None:
        """Take other values of the same type and pattern."""
        self._A.data[...] = values
        self._magnitude, self.asked = None, _ALL

    def refine(
        self, x: Values, b: Values, trans: str, solve: Callable[[Values], Values], nnz: int
    ) -> Values:
        """Return a solution that is as good as `x` or better, `nnz` entries in the factors.

        Only the right-hand sides that need it are solved with again.
        """
        one = x.ndim == 1
        x, b = (x[:, np.newaxis], b[:, np.newaxis]) if one else (x, b)
        with np.errstate(all="ignore"):  # what is not finite is returned as it is
            r, error = self._measure(x, b, trans)
            if not (error > _GOOD).any() and nnz < _CHEAP * self._A.nnz:
                self.asked -= {trans}
            for _ in range(_MAX_STEPS):
                worse = np.flatnonzero(error > _GOOD)
                if not worse.size:
                    break
                better = x[:, worse] + solve(r[:, worse])
                r_better, error_better = self._measure(better, b[:, worse], trans)
                gain = error_better < 0.5 * error[worse]
                x[:, worse[gain]], r[:, worse[gain]] = better[:, gain], r_better[:, gain]
                error[worse] = np.where(gain, error_better, 0)  # nothing more to be had: 0
        return x[:, 0] if one else x

    def _measure(self, x: Values, b: Values, trans: str) -> tuple[Values, Values]:
        """Return the residuals and, for each right-hand side, the componentwise backward error."""
        if self._magnitude is None:
            self._magnitude = abs(self._A)
        A, magnitude = self._A, self._magnitude
        if trans == "N":
            product = A @ x
        else:
            product = A.T @ x if trans == "T" else (A.T @ x.conj()).conj()
            magnitude = magnitude.T
        r = b - product
        size = magnitude @ np.abs(x) + np.abs(b)
        return r, (np.abs(r) / np.where(size > 0, size, 1)).max(axis=0, initial=0)


def _columns(graph: BipartiteCSR, values: Values) -> sp.csc_array:
    A = sp.csc_array(graph.shape, dtype=values.dtype)
    A.data, A.indices, A.indptr = values, graph.indices, graph.indptr  # which are right: no checks
    A.has_canonical_format = True
    return A
