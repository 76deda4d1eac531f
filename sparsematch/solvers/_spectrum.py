"""The largest and the smallest singular values of a matrix that is factorised.

By blocks of vectors: Golub, Van Loan, Matrix Computations (2013), 8.2.4.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._base.arrays import FloatArray
from sparsematch._numerics.foreign_calls import qr, svd
from sparsematch._numerics.inverse_iteration import SolveColumns, iterate_inverse
from sparsematch._types.diagnosis import ROUNDING, Spectrum

#: Rows up to which a dense decomposition takes a tenth of a second.
FEW_ROWS = 500
#: Small singular values that are looked for, and those beside them that make them converge.
_SHOWN, _BESIDE = 5, 3
#: Steps at most: each is two solves for the columns.
_STEPS = 6
#: Relative change in a step at which singular values are good enough: half of it is the last digit
#: of those that are shown.
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
    """Estimate the singular values at both ends; None if solutions are not finite.

    At least five of the small ones, and one above rounding errors unless more than 63 are not.
    """
    width = min(_SHOWN + _BESIDE, A.shape[0])
    largest = _largest(A, rng)
    while True:
        smallest = _smallest(A, solve, width, rng)
        if smallest is None:
            return None
        if smallest[0] > ROUNDING * largest or width >= min(64, A.shape[0]):
            shown = max(_SHOWN, int((smallest <= ROUNDING * largest).sum()) + 1)
            return Spectrum(max(largest, float(smallest[0])), smallest[-shown:], False)
        width = min(2 * width, A.shape[0])


def _largest(A: Any, rng: np.random.Generator) -> float:
    """Estimate the largest singular value from below, by ten steps with four vectors."""
    adjoint = sp.csr_array(A.conj().T)
    v: NDArray[Any] = rng.standard_normal((A.shape[0], min(4, A.shape[0])))
    norm = 0.0
    for _ in range(10):
        u = A @ qr(v)[0]
        norm = float(np.linalg.norm(u, 2))
        v = adjoint @ u
    return norm


def _smallest(
    A: Any, solve: SolveColumns, width: int, rng: np.random.Generator
) -> FloatArray | None:
    start: NDArray[Any] = rng.standard_normal((A.shape[0], width)).astype(A.dtype)
    before = np.zeros(width)

    def is_settled(inverse: FloatArray) -> bool:
        settled = (np.abs(inverse - before) <= _CHANGE * inverse)[:_SHOWN].all()
        before[:] = inverse
        return bool(settled)

    found = iterate_inverse(solve, start, is_settled, _STEPS)
    return None if found is None else 1 / found.inverse[::-1]
