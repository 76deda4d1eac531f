"""The null spaces of a whole matrix, whose diagonal blocks may be singular one behind the other.

Let E and F be the unit vectors of rows and columns at which added entries D make every diagonal
block regular, B' = B + E D F^T. Then B x = 0 if and only if x = B'^-1 E w with M w = 0, where
M = I - D F^T B'^-1 E, and the residual of any such x is B x = -E M w. So the deficiency is that of
a matrix with a row and a column for each added entry, and nothing is ever divided by a pivot near
zero, however many singular blocks are coupled. Of the transpose M is the same but for order.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from sparsematch._base.arrays import Array, FloatArray, IndexArray
from sparsematch._base.tolerances import EPSILON, GOOD_ERROR, TINY
from sparsematch._blame.singular_blocks import Border, connected_parts
from sparsematch._numerics.foreign_calls import qr, svd
from sparsematch._numerics.refinement import refine

#: Right-hand sides that are solved for at once.
_AT_ONCE = 8
#: Of singular values: a gap after which the larger ones may not be those of combinations that
#: vanish, and what counts as zero.
_GAP, _GAP_FLOOR = 100, 1e-16


def before_gap(values: FloatArray) -> int:
    """Return how many values are before the widest gap; 0 if none is wide."""
    ratios = values[1:] / np.maximum(values[:-1], _GAP_FLOOR)
    return 0 if not ratios.size or ratios.max() < _GAP else int(ratios.argmax()) + 1


class NullSpace(NamedTuple):
    """A basis of what a matrix maps to nearly nothing, on the indices where it is."""

    indices: IndexArray
    basis: Array  #: Shape (indices.size, deficiency).
    values: FloatArray  #: The small singular values, ascending.
    #: Returns the change, on the indices, that cancels what a vector leaves in the whole matrix.
    cancel: Callable[[Array], Array] | None = None

    def first(self, count: int) -> "NullSpace":
        """Return the part of the smallest singular values."""
        return self._replace(basis=self.basis[:, :count], values=self.values[:count])


class BorderedMatrix:
    """The matrix with the added entries, factorised."""

    # Connected parts know nothing of each other: each has a right-hand side of its own in a vector.
    def __init__(self, border: Border) -> None:
        self._entries, self._matrix, self._factors = border.entries, border.matrix, border.factors
        self._row_part, self._part, self._turn = _parts(border.matrix, border.entries.cols)
        self._solutions: dict[str, tuple[IndexArray, Array]] = {}

    def parts(self) -> Iterator[IndexArray]:
        """Yield which of the added entries are in one connected part."""
        labels = self._part[self._entries.cols]
        order = np.argsort(labels, kind="stable")
        if order.size:
            yield from np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)

    def null_space(
        self, which: IndexArray, side: str, tolerance: float, inside: IndexArray | None = None
    ) -> NullSpace:
        """Return the null space of a connected part, ``inside``: of a diagonal block alone."""
        # That is x with B x = 0 for the columns, y with y^T B = 0 for the rows.
        entries = self._entries
        places = entries.rows if side == "rows" else entries.cols
        used, x = self._solve(side)
        labels = self._row_part if side == "rows" else self._part
        own = np.flatnonzero(labels[used] == labels[places[which[0]]])
        if inside is not None:
            own = own[np.isin(used[own], inside, assume_unique=True)]
        indices, vectors = used[own], x[own][:, self._turn[which]]
        added = entries.values[which, np.newaxis]
        m = np.eye(which.size) - added * vectors[np.searchsorted(indices, places[which])]
        space, pseudo_inverse = _small(indices, vectors, m, tolerance)
        if inside is not None:
            return space

        def cancel(left: Array) -> Array:
            change = self.solve(left, side)
            return change[indices] + pseudo_inverse(added * change[places[which]])

        return space._replace(cancel=cancel)

    def solve(self, b: Array, side: str) -> Array:
        """Solve with the matrix with added entries, for the rows with its transpose."""
        trans, matrix = ("T", self._matrix.T) if side == "rows" else ("N", self._matrix)
        largest = np.maximum(np.abs(b).max(axis=0), TINY)

        def correct(left: Array) -> Array:
            return self._factors.solve(left, trans, check=False)[0]

        def measure(x: Array) -> tuple[Array, Array]:
            left = b - matrix @ x
            return np.abs(left).max(axis=0) / largest, left

        # of rounding, and of what the factors leave out
        x = refine(correct(b), measure, correct, good=GOOD_ERROR)[0]
        if not np.isfinite(x).all():
            raise FloatingPointError("a solution is beyond the range of doubles")
        return x

    def _solve(self, side: str) -> tuple[IndexArray, Array]:
        """Return the solutions for all parts, and the rows where these are not zero."""
        if (known := self._solutions.get(side)) is not None:
            return known
        rows, places, _ = self._entries
        if side == "rows":
            rows, places = places, rows
        n, width = self._part.size, int(self._turn.max()) + 1
        x = np.empty((n, width), self._matrix.dtype)
        for first in range(0, width, _AT_ONCE):
            some = (self._turn >= first) & (self._turn < first + _AT_ONCE)
            b = np.zeros((n, min(_AT_ONCE, width - first)), x.dtype)
            b[rows[some], self._turn[some] - first] = 1
            x[:, first : first + _AT_ONCE] = self.solve(b, side)
        is_used = np.asarray(x.any(axis=1))
        is_used[places] = True
        used = np.flatnonzero(is_used)
        self._solutions[side] = used, x[used]
        return self._solutions[side]


def _small(
    indices: IndexArray, x: Array, m: Array, tolerance: float
) -> tuple[NullSpace, Callable[[Array], Array]]:
    """Return the combinations of the columns of `x` with residuals ``m`` that nearly vanish."""
    # Also what maps residuals to the least other combination that has them.
    size = np.abs(x).max(axis=0)
    # by both together: vectors may be parallel, and what they leave is not small then
    r = qr(np.vstack([m, x]) / size, mode="r")
    inverse = solve_triangular(r, np.eye(size.size, dtype=r.dtype))
    u, left_over, vh = svd((m / size) @ inverse)
    weights = inverse @ vh.conj().T / size[:, np.newaxis]
    values = left_over / np.sqrt(np.maximum(1 - left_over**2, EPSILON))
    d = int((values <= tolerance).sum())
    if 0 < d < values.size and values[-d - 1] < _GAP * values[-d]:  # the limit is in no gap
        d = before_gap(values[: -d - 1 : -1]) or d
    large = slice(None, values.size - d)

    def pseudo_inverse(left: Array) -> Array:
        parts = u[:, large].conj().T @ left / left_over[large, np.newaxis]
        return x @ (weights[:, large] @ parts)

    least = slice(None, -d - 1, -1)
    return NullSpace(indices, x @ weights[:, least], values[least]), pseudo_inverse


def _parts(B: Any, cols: IndexArray) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return the connected part of each row and column, and a number of each entry in its part."""
    n = B.shape[1]
    if cols.size <= _AT_ONCE:
        return np.zeros(n, np.intp), np.zeros(n, np.intp), np.arange(cols.size)
    row_part, part = connected_parts(B)
    order = np.argsort(part[cols], kind="stable")
    sorted_parts = part[cols][order]
    turn = np.empty(cols.size, np.intp)
    turn[order] = np.arange(cols.size) - np.searchsorted(sorted_parts, sorted_parts)
    return row_part, part, turn
