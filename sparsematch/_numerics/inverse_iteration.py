"""The smallest singular values of a factorised matrix and their vectors, by blocks of vectors.

Golub, Van Loan, Matrix Computations (2013), 8.2.4: subspace iteration with the inverse. A step
squares the ratios of singular values.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sparsematch._base.arrays import Array, FloatArray
from sparsematch._numerics.foreign_calls import qr

#: ``solve(b, adjoint)``: solves for the columns with the matrix, or its conjugate transpose.
SolveColumns = Callable[[Array, bool], Array]


class NotFinite(FloatingPointError):
    """A solution is beyond the range of doubles; `row` is the first element that is."""

    def __init__(self, x: Array) -> None:
        super().__init__("a solution is beyond the range of doubles")
        self.row = int(np.argmax(~np.isfinite(x).all(axis=1)))


class SmallValues(NamedTuple):
    """Singular vectors, and, descending, the singular values of the inverse."""

    left: Array
    inverse: FloatArray
    right: Array


def iterate_inverse(
    solve: SolveColumns,
    start: Array,
    steps: int,
    is_settled: Callable[[FloatArray], bool] | None = None,
    known: tuple[Array, Array] | None = None,
) -> SmallValues:
    """Return what `steps` at most make of a block of vectors, or raise NotFinite."""
    # ``is_settled(inverse)`` ends it. `known`: left, right vectors all others stay orthogonal to.
    # Time: two solves a step. A product in place of ``solve`` finds the largest singular values.
    sides = known or (start[:, :0], start[:, :0])

    def half(x: Array, adjoint: bool) -> tuple[Array, Array]:
        solved = _without(sides[not adjoint], solve(_without(sides[adjoint], x), adjoint))
        if not np.isfinite(solved).all():
            raise NotFinite(solved)
        return qr(solved)

    x = start
    with np.errstate(all="ignore"):
        for _ in range(steps):
            y, _ = half(x, False)
            x, r = half(y, True)
            if is_settled is not None and is_settled(np.linalg.svd(r, compute_uv=False)):
                break
        u, inverse, vh = np.linalg.svd(r)
    return SmallValues(x @ u, inverse, y @ vh.conj().T)


def _without(basis: Array, x: Array) -> Array:
    """Return what is orthogonal to a basis; twice, as most of it may cancel."""
    for _ in range(2 if basis.shape[1] else 0):
        x = x - basis @ (basis.conj().T @ x)
    return x
