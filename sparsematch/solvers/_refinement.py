"""Solutions measured against the matrix, and refined where the factors were not good enough.

Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds
for coefficients and right-hand sides (Numerische Mathematik 6, 1964); Arioli, Demmel, Duff, Solving
sparse linear systems with sparse backward error (SIAM J. Matrix Anal. Appl. 10, 1989).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import SIDES

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
        self._graph, self._values = graph, values.copy()
        self.asked = _ALL

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self._values.dtype

    def renew(self, values: Values) -> None:
        """Take other values of the same type and pattern."""
        self._values[...] = values
        self.asked = _ALL

    def refine(
        self, x: Values, b: Values, trans: str, solve: Callable[[Values], Values], nnz: int
    ) -> Values:
        """Return a solution that is as good as `x` or better, `nnz` entries in the factors.

        Only the right-hand sides that need it are solved with again. A real matrix sees a complex
        one as two.
        """
        columns, right = self._columns(x), self._columns(b.astype(x.dtype, copy=False))
        r, error = self._measure(columns, right, trans)
        poor = bool((error > _GOOD).any())
        if not poor and nnz < _CHEAP * self._values.size:
            self.asked -= {trans}
        if poor:
            with np.errstate(all="ignore"):  # what is not finite is returned as it is
                self._improve(columns, right, r, error, trans, solve)
        return x

    def _improve(
        self,
        x: Values,
        b: Values,
        r: Values,
        error: Values,
        trans: str,
        solve: Callable[[Values], Values],
    ) -> None:
        for _ in range(_MAX_STEPS):
            worse = np.flatnonzero(error > _GOOD)
            if not worse.size:
                break
            better = np.ascontiguousarray(x[:, worse] + solve(r[:, worse]))
            r_better, error_better = self._measure(better, b[:, worse], trans)
            gain = error_better < 0.5 * error[worse]
            x[:, worse[gain]], r[:, worse[gain]] = better[:, gain], r_better[:, gain]
            error[worse] = np.where(gain, error_better, 0)  # nothing more to be had: 0

    def _columns(self, x: Values) -> Values:
        """Return contiguous vectors as columns of the type of the matrix, in their own memory."""
        x = np.ascontiguousarray(x)
        return (x[:, np.newaxis] if x.ndim == 1 else x).view(self.dtype)

    def _measure(self, x: Values, b: Values, trans: str) -> tuple[Values, Values]:
        """Return the residuals and, for each right-hand side, the componentwise backward error."""
        measure = operations(LuOps, self._graph.backend).measure
        return measure(self._graph, self._values, x, np.ascontiguousarray(b), SIDES[trans])
