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
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import coo_array, csc_array

from sparsematch._base.arrays import IndexArray
from sparsematch._blame.singular_blocks import Border, connected_parts, factorise_with_noise
from sparsematch._numerics.foreign_calls import qr, svd
from sparsematch._systems.errors import SingularMatrixError
from sparsematch._systems.factors import BlockFactors

Values = NDArray[Any]

#: Right-hand sides that are solved for at once.
_AT_ONCE = 8
#: Steps of that iteration: from random vectors two leave little else, a third tells them apart.
_STEPS = 3
#: Relative noise that is no more than rounding: null vectors are hardly mixed with others.
_SMALL_NOISE = 1e-15


class NullSpace(NamedTuple):
    """A basis of what a matrix maps to nearly nothing, on the indices where it is."""

    indices: IndexArray
    basis: Values  #: Shape (indices.size, deficiency).
    values: NDArray[np.float64]  #: The small singular values, ascending.
    #: Returns the change, on the indices, that cancels what a vector leaves in the whole matrix.
    cancel: Callable[[Values], Values] | None = None

    def first(self, count: int) -> "NullSpace":
        """Return the part of the smallest singular values."""
        return self._replace(basis=self.basis[:, :count], values=self.values[:count])


class BorderedMatrix:
    """The matrix with the added entries, factorised.

    Connected parts of the matrix know nothing of each other, so each has one of its right-hand
    sides in every vector.
    """

    def __init__(self, B: Any, border: Border) -> None:
        self.border = border
        rows, cols = border.rows, border.cols
        at = np.asarray(B[rows, cols]).ravel()
        size = np.abs(at)
        self._added = np.where(size > 0, at / np.where(size > 0, size, 1), 1).astype(B.dtype)
        places = coo_array((self._added, (rows, cols)), shape=B.shape)
        bordered = csc_array(B + csc_array(places))
        self._factors = _factorise(bordered)
        self._row_part, self._part, self._turn = _parts(bordered, cols)
        self._solutions: dict[str, tuple[IndexArray, Values]] = {}

    def parts(self) -> Iterator[IndexArray]:
        """Yield which of the added entries are in one connected part."""
        order = np.argsort(self._part[self.border.cols], kind="stable")
        labels = self._part[self.border.cols][order]
        yield from np.split(order, np.flatnonzero(np.diff(labels)) + 1)

    def null_space(
        self, which: IndexArray, side: str, tolerance: float, inside: IndexArray | None = None
    ) -> NullSpace:
        """Return the null space of a connected part, ``inside``: of a diagonal block alone.

        That is x with B x = 0 for the columns, y with y^T B = 0 for the rows.
        """
        border = self.border
        places = border.rows if side == "rows" else border.cols
        used, x = self._solve(side)
        labels = self._row_part if side == "rows" else self._part
        own = np.flatnonzero(labels[used] == labels[places[which[0]]])
        if inside is not None:
            own = own[np.isin(used[own], inside, assume_unique=True)]
        indices, vectors = used[own], x[own][:, self._turn[which]]
        added = self._added[which, np.newaxis]
        m = np.eye(which.size) - added * vectors[np.searchsorted(indices, places[which])]
        space, pseudo_inverse = _small(indices, vectors, m, tolerance)
        if inside is not None:
            return space

        def cancel(left: Values) -> Values:
            change = self.solve(left, side)
            return change[indices] + pseudo_inverse(added * change[places[which]])

        return space._replace(cancel=cancel)

    def solve(self, b: Values, side: str) -> Values:
        """Solve with the matrix with added entries, for the rows with its transpose."""
        return _finite(self._factors.solve(b, "T" if side == "rows" else "N")[0])

    def _solve(self, side: str) -> tuple[IndexArray, Values]:
        """Return the solutions for all parts, and the rows where these are not zero."""
        if (known := self._solutions.get(side)) is not None:
            return known
        rows, places = self.border.rows, self.border.cols
        if side == "rows":
            rows, places = places, rows
        n, width = self._part.size, int(self._turn.max()) + 1
        x = np.empty((n, width), self._factors.dtype)
        for first in range(0, width, _AT_ONCE):
            some = (self._turn >= first) & (self._turn < first + _AT_ONCE)
            b = np.zeros((n, min(_AT_ONCE, width - first)), x.dtype)
            b[rows[some], self._turn[some] - first] = 1
            x[:, first : first + _AT_ONCE] = self.solve(b, side)
        used = np.union1d(np.flatnonzero(x.any(axis=1)), places)
        self._solutions[side] = used, x[used]
        return self._solutions[side]


def some_null_vectors(A: Any, B: Any, side: str, tolerance: float) -> NullSpace:
    """Return a few vectors of the null space of a CSC matrix; `B` is it, scaled.

    By iteration with the matrix changed a little, which needs no more than that it has a
    factorisation then: what solves for the part that does not vanish, subtracted, leaves the rest.
    """
    factors = factorise_with_noise(A, B, _SMALL_NOISE)
    matrix, trans = (B.T, "T") if side == "rows" else (B, "N")
    q = np.random.default_rng(2).standard_normal((B.shape[0], _AT_ONCE)).astype(factors.dtype)
    for _ in range(_STEPS):  # each takes away more of what does not vanish
        x = _finite(q - factors.solve(matrix @ q, trans, check=False)[0])
        q = qr(x / np.abs(x).max(axis=0))[0]
    _, values, vh = svd(qr(_finite(matrix @ q), mode="r"))
    d = int((values <= tolerance).sum())
    least = slice(values.size - d, None)
    basis = (q @ vh[least].conj().T)[:, ::-1]
    return NullSpace(np.arange(B.shape[0]), basis, values[least][::-1])


def _finite(x: Values) -> Values:
    if not np.isfinite(x).all():
        raise FloatingPointError("a solution is beyond the range of doubles")
    return x


def _small(
    indices: IndexArray, x: Values, m: Values, tolerance: float
) -> tuple[NullSpace, Callable[[Values], Values]]:
    """Return the combinations of the columns of `x` with residuals ``m`` that nearly vanish.

    Also what maps residuals to the least other combination that has them.
    """
    size = np.abs(x).max(axis=0)
    r = qr(x / size, mode="r")
    u, values, vh = svd(solve_triangular(r.T, (m / size).T, lower=True).T)
    weights = solve_triangular(r, vh.conj().T) / size[:, np.newaxis]
    d = int((values <= tolerance).sum())
    large = slice(None, values.size - d)

    def pseudo_inverse(left: Values) -> Values:
        parts = u[:, large].conj().T @ left / values[large, np.newaxis]
        combined: Values = x @ (weights[:, large] @ parts)
        return combined

    least = slice(None, -d - 1, -1)
    return NullSpace(indices, x @ weights[:, least], values[least]), pseudo_inverse


def _factorise(bordered: Any) -> BlockFactors:
    for noise in (0, 1e-15):
        bordered.data *= 1 + noise * np.random.default_rng(1).standard_normal(bordered.nnz)
        try:
            factors = BlockFactors.of(bordered)
        except SingularMatrixError:
            if noise:
                raise
            continue
        break
    return factors


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
