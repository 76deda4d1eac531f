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

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import Array, BoolArray, IndexArray
from sparsematch._base.tolerances import POOR_ERROR, ROUNDING_OF_RESIDUALS, SINGULAR
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.assembled import compressed_matrix
from sparsematch._numerics import scaling
from sparsematch._numerics.backward_error import tiny_by_norms
from sparsematch._numerics.refinement import Change, refine_norms
from sparsematch._numerics.scaling import column_norms, residual, scaled_columns, times_power
from sparsematch._systems.condition import inverse_norm
from sparsematch._systems.errors import SingularMatrixError
from sparsematch._systems.factors import PIVOTS, BlockFactors
from sparsematch._systems.orthogonal import Complement, OrthogonalFactors, norms_of_columns
from sparsematch._systems.plan import begin
from sparsematch._types.labels import HORIZONTAL, SQUARE, VERTICAL
from sparsematch._types.least_squares import LeastSquares

_Groups = Sequence[IndexArray]  #: Of rows, and of columns.
_Solvers = dict[int, Callable[[Any, Array, float], "_Solved | None"]]


class _Solved(NamedTuple):
    x: Array
    rank: int
    left: Array  #: For each right-hand side, the norm of what A's range has of the residual.
    is_settled: bool  #: Whether the rank is proved.
    seconds: tuple[float, float] = (0.0, 0.0)  #: Predicted: QR factorisations', lsmr's.
    error: Array | None = None  #: The backward errors, where they are known.


def least_squares(A: Any, b: Array, rcond: float, minimum_norm: bool) -> tuple[LeastSquares, bool]:
    """Solve for the columns of `b`, `A` being by columns, of the same type, without zeros."""
    # Also return whether the rank is proved.
    with np.errstate(all="ignore"):
        own = scaling.in_own_units(A, b)
        solved = _solve(own, rcond, minimum_norm)
        x, norm, kept = own.back(solved.x)
        left, error, lost = solved.left, solved.error, solved.x - kept
        if lost.any():
            left, error = left + column_norms(abs(own.A) @ np.abs(lost)), None
        error = _measure(own.A, kept, own.b, left) if error is None else error
        error[~np.isfinite(norm)] = np.inf
    ours, by_lsmr = solved.seconds
    gain = ours / by_lsmr if by_lsmr > 0 else 0.0
    return LeastSquares(x, norm, solved.rank, A.shape, error, minimum_norm, gain), solved.is_settled


def _solve(own: scaling.OwnUnits, rcond: float, minimum_norm: bool) -> _Solved:
    """Solve by parts what has all of them, or is square mostly; other components as they are."""
    if not minimum_norm:
        return _by_columns(own.A, own.b, rcond, minimum_norm)
    parts = operations(DecompositionOps, "numpy").coarse_parts(own.graph)

    def count(side: int, which: BoolArray | None = None) -> Array:
        return np.bincount(own.labels[side], which, sum(own.A.shape))

    n_rows, n_cols = count(0), count(1)
    shape = np.where(n_rows < n_cols, HORIZONTAL, VERTICAL)
    # what is wide has columns in its part, what is tall has rows there
    is_wide, is_tall = count(1, parts[1] == HORIZONTAL) > 0, count(0, parts[0] == VERTICAL) > 0
    is_mixed = (is_wide == is_tall) | (2 * count(1, parts[1] == SQUARE) >= n_cols)
    by_shape: _Solvers = {VERTICAL: _by_columns, HORIZONTAL: _by_rows}

    def solve_mixed(A: Any, b: Array, rcond: float) -> _Solved | None:
        mine = [is_mixed[label] for label in own.labels]
        coarse = [part[of] for part, of in zip(parts, mine, strict=True)]
        whole = [shape[label[of]] for label, of in zip(own.labels, mine, strict=True)]
        return _by_parts(A, b, rcond, coarse) or _in_turn(A, b, rcond, whole, by_shape)

    groups = [np.where(is_mixed, SQUARE, shape)[label] for label in own.labels]
    solved = _in_turn(own.A, own.b, rcond, groups, by_shape | {SQUARE: solve_mixed})
    assert solved is not None  # it need not be full
    return solved


def _in_turn(
    A: Any, b: Array, rcond: float, groups: _Groups, solvers: _Solvers, must_be_full: bool = False
) -> _Solved | None:
    """Solve groups of rows and columns, each with what those before have left of `b`."""
    # None if each must have full rank, and one has not.
    x = np.zeros((A.shape[1], b.shape[1]), b.dtype)
    rank, left, is_settled, seconds = 0, np.zeros(b.shape[1]), True, (0.0, 0.0)
    for group, solve in solvers.items():
        rows, cols = (of == group for of in groups)
        if rows.all() and cols.all() and all(A.shape):
            part, solved = A, solve(A, b, rcond)
            if not must_be_full:
                return solved
        elif rows.any() and cols.any():
            part = _part(A, rows, cols)
            solved = solve(part, residual(A, x, b)[rows], rcond)
        else:
            continue
        is_full = solved and solved.is_settled and solved.rank == min(part.shape)
        if solved is None or (must_be_full and not is_full):
            return None
        x[cols] = solved.x
        rank, left = rank + solved.rank, np.hypot(left, solved.left)
        is_settled &= solved.is_settled
        seconds = seconds[0] + solved.seconds[0], seconds[1] + solved.seconds[1]
    return _Solved(x, rank, left, is_settled, seconds)


def _part(A: Any, rows: BoolArray, cols: BoolArray) -> Any:
    """Return ``A[rows][:, cols]`` of a CSC matrix."""
    # SciPy takes 0.1 ms
    inside = rows[A.indices] & np.repeat(cols, np.diff(A.indptr))
    before = np.append(0, np.cumsum(inside)).astype(A.indptr.dtype)
    indptr = before[A.indptr[np.append(cols, True)]]
    indices = (np.cumsum(rows, dtype=A.indices.dtype) - 1)[A.indices[inside]]
    shape = int(rows.sum()), int(cols.sum())
    return compressed_matrix("csc", shape, indptr, indices, A.data[inside])


def _by_parts(A: Any, b: Array, rcond: float, parts: _Groups) -> _Solved | None:
    """Solve by the coarse parts; None if one of them is deficient."""
    solvers: _Solvers = {VERTICAL: _by_columns, SQUARE: _with_square, HORIZONTAL: _by_rows}
    return _in_turn(A, b, rcond, parts, solvers, must_be_full=True)


def _with_square(S: Any, b: Array, rcond: float) -> _Solved | None:
    """Solve with the square part; None if it is singular to working precision."""
    row, col = scaling.logarithmic_scaling(S)
    in_units = scaling.scaled(S, row, col)
    try:
        factors = BlockFactors.of(begin(in_units, pivots=PIVOTS))
    except SingularMatrixError:
        return None
    n = S.shape[0]
    size = residual(in_units, np.ones(n), np.zeros(n), values=-np.abs(in_units.data))

    def solve(x: Array, adjoint: bool) -> Array:
        if adjoint:
            return factors.solve(size * x, "N", False)[0]
        return size * factors.solve(x, "H", False)[0]

    # |S^-1| |S|, which no scaling of rows changes (Skeel, J. ACM 26, 1979)
    if any(factors.singular_blocks()) or inverse_norm(solve, n, S.dtype) * max(rcond, SINGULAR) > 1:
        return None
    right = row[:, np.newaxis] * b
    strict: BlockFactors | None = factors
    while strict:
        x, error = strict.solve(right, "N")
        if error <= POOR_ERROR:
            x = col[:, np.newaxis] * x
            return _Solved(x, n, column_norms(residual(S, x, b)), True)
        strict = strict.with_stricter_pivoting()
    return None


def _by_columns(A: Any, b: Array, rcond: float, minimum_norm: bool = True) -> _Solved:
    """Solve by a QR factorisation of A, and project x onto the complement of the null space."""
    own, unit = scaled_columns(A)
    factors = OrthogonalFactors(own, b, rcond, not minimum_norm)
    project: Change = lambda x: x
    if minimum_norm and factors.dead.size:
        project = Complement(factors.null_vectors(), unit)

    step: Change = lambda c: project(times_power(factors.to_columns(c), -unit[:, np.newaxis]))
    x = step(factors.top)
    zeros = np.zeros_like(x)
    # -Q^H r
    left: Change = lambda x: factors.to_rows(residual(own, residual(A, x, b), zeros, "H"))
    x, size = refine_norms(x, left, lambda c: -step(c))
    # refinement stagnates above the square of condition times rounding
    if not ((error := _measure(A, x, b, size)) <= ROUNDING_OF_RESIDUALS).all():
        x, size = refine_norms(x, lambda x: factors.apply_adjoint(residual(A, x, b)), step)
        error = _measure(A, x, b, size)
    return _Solved(x, factors.rank, size, factors.is_settled, factors.seconds(), error)


def _by_rows(A: Any, b: Array, rcond: float) -> _Solved:
    """Solve by a QR factorisation of A^H, after projecting b onto what A maps to."""
    arrays = A.indptr, A.indices, A.data.conj()
    adjoint, unit = scaled_columns(compressed_matrix("csr", A.shape[::-1], *arrays))
    factors = OrthogonalFactors(adjoint, np.empty((A.shape[1], 0), A.dtype), rcond)
    # what is beside that may be all of b: errors are those beside b
    inside = Complement(factors.null_vectors(), unit)(b) if factors.dead.size else b
    right = times_power(inside, -unit[:, np.newaxis])
    zeros = np.zeros((A.shape[1], b.shape[1]), b.dtype)
    rest: Change = lambda x: residual(adjoint, x, right, "H")
    step: Change = lambda c: -residual(adjoint, factors.to_columns(c), zeros)  # Q c
    # R^-H makes of it Q^H of the error, since x = Q R^-H b
    x, _ = refine_norms(zeros, lambda x: factors.to_rows(rest(x)), step)
    # where rounding errors of the residual are all that R^-H shows, the residual may still shrink
    x, _ = refine_norms(x, rest, lambda r: step(factors.to_rows(r)))
    size = column_norms(residual(A, x, inside))
    if not ((error := _measure(A, x, b, size)) <= ROUNDING_OF_RESIDUALS).all():
        c = factors.to_rows(right)
        x, _ = refine_norms(x, lambda x: c - factors.apply_adjoint(x), step)
        size = column_norms(residual(A, x, inside))
        error = _measure(A, x, b, size)
    return _Solved(x, factors.rank, size, factors.is_settled, factors.seconds(), error)


def _measure(A: Any, x: Array, b: Array, left: Array) -> Array:
    """Return the backward errors: of what is left, or, if that is less, by the residual's angle."""
    terms = -residual(A, np.abs(x), -np.abs(b), values=np.abs(A.data))
    for by_norm in (False, True):  # rows whose terms are tiny
        size = column_norms(tiny_by_norms(terms, A, x, b)[0] if by_norm else terms)
        error = np.where(np.isfinite(size), left / np.where(size > 0, size, 1), np.inf)
        if (error <= ROUNDING_OF_RESIDUALS).all():
            return error
    r = residual(A, x, b)
    norm, own = column_norms(r), scaled_columns(A)[0]
    scale = norms_of_columns(own)[:, np.newaxis]
    cosine = np.abs(residual(own, r, np.zeros_like(x), "H")) / np.where(scale > 0, scale, 1)
    cosine = cosine.max(axis=0, initial=0) / np.where(norm > 0, norm, 1)
    return np.where(np.isfinite(size + norm), np.minimum(error, cosine), np.inf)
