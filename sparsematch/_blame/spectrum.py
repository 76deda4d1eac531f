"""The largest and the smallest singular values of a matrix that is factorised.

By blocks of vectors: Golub, Van Loan, Matrix Computations (2013), 8.2.4.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import Array, FloatArray
from sparsematch._base.tolerances import ROUNDING
from sparsematch._numerics.foreign_calls import svd
from sparsematch._numerics.inverse_iteration import NotFinite, SolveColumns, iterate_inverse
from sparsematch._types.diagnosis import Spectrum

#: Small singular values that are looked for, and those beside them that make them converge.
_SHOWN, _BESIDE = 5, 3
#: Steps at most: each is two solves for the columns.
_STEPS = 6
#: Relative change in a step at which singular values are good enough for the digits shown.
_CHANGE = 0.05


def dense_spectrum(A: Any) -> Spectrum | None:
    """Return all singular values of a sparse matrix; None if they do not converge."""
    if not A.shape[0]:
        return Spectrum(0.0, np.empty(0), True)
    try:
        values = svd(A.toarray(), compute_uv=False)
    except np.linalg.LinAlgError:
        return None
    return Spectrum(float(values[0]), values, True)


def estimated_spectrum(A: Any, solve: SolveColumns, rng: np.random.Generator) -> Spectrum | None:
    """Estimate the singular values at both ends; None if solutions are not finite."""
    # At least five of the small ones, and one above rounding errors unless more than 63 are not.
    n, adjoint = A.shape[0], sp.csr_array(A.conj().T)

    def multiply(x: Array, back: bool) -> Array:
        return (adjoint if back else A) @ x

    width = min(_SHOWN + _BESIDE, n)
    try:
        largest = float(_largest(multiply, A, width, rng)[0])
        while True:
            smallest = 1 / _largest(solve, A, width, rng)[::-1]
            if smallest[0] > ROUNDING * largest or width >= min(64, n):
                shown = max(_SHOWN, int((smallest <= ROUNDING * largest).sum()) + 1)
                return Spectrum(max(largest, float(smallest[0])), smallest[-shown:], False)
            width = min(2 * width, n)
    except NotFinite:
        return None


def _largest(apply: SolveColumns, A: Any, width: int, rng: np.random.Generator) -> FloatArray:
    """Estimate the largest singular values of an operator of the size and type of `A`."""
    start: Array = rng.standard_normal((A.shape[0], width)).astype(A.dtype)
    before = np.zeros(width)

    def is_settled(values: FloatArray) -> bool:
        settled = (np.abs(values - before) <= _CHANGE * values)[:_SHOWN].all()
        before[:] = values
        return bool(settled)

    return iterate_inverse(apply, start, _STEPS, is_settled).inverse
