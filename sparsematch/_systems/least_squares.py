"""Least squares: rectangular, rank-deficient and singular systems.

What is exact about it. Connected components of a matrix know nothing of each other, nor do their
solutions. The coarse Dulmage-Mendelsohn parts

    [H X Y]        H: more columns than rows
    [  S Z]        S: square
    [    V]        V: more rows than columns

decouple the problem if the rows of H and the columns of V are independent and S is regular: the
residual of V's rows does not depend on the other columns, and whatever these rows leave for x_V,
those of S and H can be satisfied. So x_V is the least-squares solution with V, unique; x_S follows
from it, unique, too; and x_H is the solution of least norm with H. The rank is the sum of the
ranks. If one of the three is deficient, all this is wrong (x_V is then not unique, and which one is
shortest depends on S and H), and components are solved as they are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._api.decomposition import coarse_parts
from sparsematch._base.arrays import BoolArray, FloatArray, IndexArray
from sparsematch._base.tolerances import POOR_ERROR, ROUNDING_OF_RESIDUALS, SINGULAR
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.canonical import pattern_of
from sparsematch._numerics.refinement import refine
from sparsematch._numerics.scaling import (
    OwnUnits,
    exponents_of,
    in_own_units,
    logarithmic_scaling,
    scaled,
    scaled_columns,
    times_power,
)
from sparsematch._systems.condition import inverse_norm
from sparsematch._systems.errors import SingularMatrixError
from sparsematch._systems.factors import BlockFactors
from sparsematch._systems.orthogonal import Complement, OrthogonalFactors
from sparsematch._types.labels import HORIZONTAL, SQUARE, VERTICAL

Values = NDArray[Any]
_Map = Callable[[Values], Values]


class Solution(NamedTuple):
    """Least-squares solutions, with the 2-norms of their residuals and their backward errors."""

    x: Values
    residual_norm: Values
    error: Values
    rank: int
    is_settled: bool  #: Whether the rank is proved.


class _Solved(NamedTuple):
    x: Values
    rank: int
    left: Values  #: For each right-hand side, the norm of what A's range has of the residual.
    is_settled: bool  #: Whether the rank is proved.


def least_squares(A: Any, b: Values, rcond: float, minimum_norm: bool) -> Solution:
    """Solve for the columns of `b`, `A` being by columns, of the same type, without zeros."""
    with np.errstate(all="ignore"):
        own = in_own_units(A, b)
        solved = _solve(own, rcond, minimum_norm)
        x, kept, residual = own.back(solved.x)
        left, lost = solved.left, np.abs(solved.x - kept)
        if lost.any():
            left = left + _norm(abs(own.A) @ lost)
        error = _measure(own.A, kept, own.b, left)
        norm = _norm(residual)
        error[~np.isfinite(norm)] = np.inf
    return Solution(x, norm, error, solved.rank, solved.is_settled)


def _solve(own: OwnUnits, rcond: float, minimum_norm: bool) -> _Solved:
    """Solve by parts what has all of them, or is square mostly; other components as they are."""
    A, b, labels = own.A, own.b, own.labels
    if not minimum_norm:
        return _by_columns(A, b, rcond, minimum_norm)
    parts = coarse_parts(own.graph)
    has = np.zeros((3, A.shape[0] + A.shape[1]), bool)
    for part, label in zip((parts.row_part, parts.col_part), labels, strict=True):
        has[part, label] = True
    n_cols = np.bincount(labels[1], minlength=has.shape[1])
    n_square = np.bincount(labels[1][parts.col_part == SQUARE], minlength=has.shape[1])
    is_simple = (has[HORIZONTAL] != has[VERTICAL]) & (2 * n_square < n_cols)
    wide, tall = is_simple & has[HORIZONTAL], is_simple & has[VERTICAL]
    mixed = ~is_simple

    def by_parts(A: Any, b: Values, rcond: float) -> _Solved:
        row_part, col_part = parts.row_part[mixed[labels[0]]], parts.col_part[mixed[labels[1]]]
        return _by_parts(A, b, rcond, row_part, col_part) or _by_components(A, b, rcond)

    groups = (wide, _by_rows), (tall, _by_columns), (mixed, by_parts)
    return _by_groups(A, b, rcond, labels, groups)


def _by_groups(
    A: Any,
    b: Values,
    rcond: float,
    labels: tuple[IndexArray, IndexArray],
    groups: tuple[tuple[BoolArray, Callable[[Any, Values, float], _Solved]], ...],
) -> _Solved:
    """Solve components, each in the way of its group."""
    x = np.zeros((A.shape[1], b.shape[1]), b.dtype)
    rank, left, is_settled = 0, np.zeros(b.shape[1]), True
    for mine, solve in groups:
        rows, cols = (np.flatnonzero(mine[label]) for label in labels)
        if rows.size and cols.size:
            solved = solve(A[:, cols][rows], b[rows], rcond)
            x[cols] = solved.x
            rank, left = rank + solved.rank, np.hypot(left, solved.left)
            is_settled &= solved.is_settled
    return _Solved(x, rank, left, is_settled)


def _by_components(A: Any, b: Values, rcond: float) -> _Solved:
    """Solve components with more columns than rows by those, the others by columns."""
    row_label, col_label = operations(DecompositionOps, "numpy").connected_components(
        pattern_of(A)
    )[1:]
    n = A.shape[0] + A.shape[1]
    wide = np.bincount(row_label, minlength=n) < np.bincount(col_label, minlength=n)
    groups = (wide, _by_rows), (~wide, _by_columns)
    return _by_groups(A, b, rcond, (row_label, col_label), groups)


def _by_parts(
    A: Any, b: Values, rcond: float, row_part: IndexArray, col_part: IndexArray
) -> _Solved | None:
    """Solve by the coarse parts; None if one of them is deficient."""
    x = np.zeros((A.shape[1], b.shape[1]), b.dtype)
    rank, left, done = 0, np.zeros(b.shape[1]), np.empty(0, np.intp)
    for part, solve in ((VERTICAL, _by_columns), (SQUARE, _with_square), (HORIZONTAL, _by_rows)):
        rows, cols = np.flatnonzero(row_part == part), np.flatnonzero(col_part == part)
        if cols.size == 0:
            continue
        mine = sp.csr_array(A)[rows]
        solved = solve(sp.csc_array(mine)[:, cols], b[rows] - mine[:, done] @ x[done], rcond)
        if solved is None or not solved.is_settled or solved.rank < min(rows.size, cols.size):
            return None
        x[cols] = solved.x
        rank, left = rank + solved.rank, np.hypot(left, solved.left)
        done = np.concatenate([done, cols])
    return _Solved(x, rank, left, True)


def _with_square(S: Any, b: Values, rcond: float) -> _Solved | None:
    """Solve with the square part; None if it is singular to working precision."""
    row, col = logarithmic_scaling(S)
    in_units = scaled(S, row, col)
    try:
        factors = BlockFactors.of(in_units)
    except SingularMatrixError:
        return None
    size = np.asarray(abs(in_units).sum(axis=1)).ravel()

    def solve(x: Values, adjoint: bool) -> Values:
        if adjoint:
            return factors.solve(size * x, "N", False)[0]
        return size * factors.solve(x, "H", False)[0]

    # |S^-1| |S|, which no scaling of rows changes (Skeel, J. ACM 26, 1979)
    if any(factors.singular_blocks()):
        return None
    if inverse_norm(solve, S.shape[0], S.dtype) * max(rcond, SINGULAR) > 1:
        return None
    right = row[:, np.newaxis] * b
    x, error = factors.solve(right, "N")
    strict: BlockFactors | None = factors
    while strict and not error <= POOR_ERROR:
        if strict := strict.with_stricter_pivoting():
            x, error = strict.solve(right, "N")
    if not error <= POOR_ERROR:
        return None
    x = col[:, np.newaxis] * x
    return _Solved(x, S.shape[0], _norm(b - S @ x), True)


def _by_columns(A: Any, b: Values, rcond: float, minimum_norm: bool = True) -> _Solved:
    """Solve by a QR factorisation of A, and project x onto the complement of the null space."""
    own, unit = scaled_columns(A)
    factors = OrthogonalFactors(own, b, rcond, not minimum_norm)
    adjoint = sp.csr_array(own.conj().T)
    project: _Map = lambda x: x
    if minimum_norm and not factors.is_full:
        project = Complement(factors.null_vectors(), unit)

    def left(x: Values) -> Values:  # Q^H r
        return factors.to_rows(adjoint @ (b - A @ x))

    def step(c: Values) -> Values:
        return project(times_power(factors.to_columns(c), -unit[:, np.newaxis]))

    x, size = _refine(step(factors.top), left, step)
    if _is_poor(A, x, b, size):
        x, size = _refine(x, lambda x: factors.apply_adjoint(b - A @ x), step)
    return _Solved(x, factors.rank, size, factors.is_settled)


def _by_rows(A: Any, b: Values, rcond: float) -> _Solved:
    """Solve by a QR factorisation of A^H, after projecting b onto what A maps to."""
    nothing = np.empty((A.shape[1], 0), A.dtype)
    adjoint, unit = scaled_columns(A.conj().T)
    factors = OrthogonalFactors(adjoint, nothing, rcond)
    if not factors.is_full:
        b = Complement(factors.null_vectors(), unit)(b)

    rows, right = sp.csr_array(adjoint.conj().T), times_power(b, -unit[:, np.newaxis])

    def residual(x: Values) -> Values:
        return right - rows @ x

    def left(x: Values) -> Values:  # Q^H of the error, since x = Q R^-H b
        return factors.to_rows(residual(x))

    def step(c: Values) -> Values:  # Q c
        return adjoint @ factors.to_columns(c)

    x, _ = _refine(np.zeros((A.shape[1], b.shape[1]), b.dtype), left, step)
    # where rounding errors of the residual are all that R^-H shows, the residual may still shrink
    x, _ = _refine(x, residual, lambda r: step(factors.to_rows(r)))
    size = _norm(b - A @ x)
    if _is_poor(A, x, b, size):
        c = factors.to_rows(right)
        x, _ = _refine(x, lambda x: c - factors.apply_adjoint(x), step)
        size = _norm(b - A @ x)
    return _Solved(x, factors.rank, size, factors.is_settled)


def _refine(x: Values, left: _Map, step: _Map) -> tuple[Values, Values]:
    """Refine by what is left; return with x the norms of that."""

    def measure(x: Values) -> tuple[Values, Values]:
        rest = left(x)
        return _norm(rest), rest

    return refine(x, measure, step, good=0.0)[:2]


def _norm(r: Values) -> FloatArray:
    """Return the 2-norm of each column, whose square need not be a double."""
    exponent = exponents_of(np.abs(r).max(axis=0, initial=0))
    norm: FloatArray = np.linalg.norm(times_power(r, -exponent), axis=0)
    return times_power(norm, exponent)


def _is_poor(A: Any, x: Values, b: Values, left: Values) -> bool:
    """Whether refinement stagnates, as it does above the square of condition times rounding."""
    return not (_measure(A, x, b, left) <= ROUNDING_OF_RESIDUALS).all()


def _measure(A: Any, x: Values, b: Values, left: Values) -> Values:
    """Return the backward errors: of what is left, or, if that is less, by the residual's angle."""
    size = _norm(abs(A) @ np.abs(x) + np.abs(b))
    error = np.where(np.isfinite(size), left / np.where(size > 0, size, 1), np.inf)
    if (error <= ROUNDING_OF_RESIDUALS).all():
        return error
    r = b - A @ x
    norm = _norm(r)
    own, _ = scaled_columns(A)
    scale = np.sqrt(np.asarray((abs(own) ** 2).sum(axis=0)).ravel())[:, np.newaxis]
    cosine = np.abs(own.conj().T @ r) / np.where(scale > 0, scale, 1)
    cosine = cosine.max(axis=0, initial=0) / np.where(norm > 0, norm, 1)
    return np.where(np.isfinite(size + norm), np.minimum(error, cosine), np.inf)
