"""Least squares: rectangular, rank-deficient and singular systems."""

from __future__ import annotations  # readable names in help()

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sparsematch._base.errors import warn
from sparsematch._base.tolerances import POOR_ERROR
from sparsematch._input.canonical import read_columns
from sparsematch._input.scipy import check_sparse
from sparsematch._systems.checks import check_finite, check_right_hand_side, read_rcond
from sparsematch._systems.errors import IllConditionedWarning
from sparsematch._systems.least_squares import least_squares
from sparsematch._types.least_squares import LeastSquares
from sparsematch._types.sparse_like import SparseLike


def lstsq(
    A: SparseLike,
    b: ArrayLike | SparseLike,
    *,
    rcond: float | None = None,
    minimum_norm: bool = True,
) -> LeastSquares:
    """Solve a sparse linear system of any shape and rank in the least-squares sense.

    Of all vectors for which the 2-norm of ``b - A @ x`` is least, the one of least 2-norm, as
    ``numpy.linalg.lstsq`` and ``scipy.linalg.lstsq`` return it for dense matrices.

    Parameters
    ----------
    A : sparse array or matrix, shape (m, n)
        In any format, of real or complex numbers. Entries whose value is zero are left out.
    b : array_like, sparse array or matrix, shape (m,) or (m, k)
        The right-hand sides.
    rcond : float, optional
        A column counts as dependent on others if, in units of its norm, no more than this is left
        of it beside them; for components with more columns than rows the same is said of rows. By
        default the rounding error of the type of `A` times ``max(m, n, 50)``.
    minimum_norm : bool, optional
        Whether of several solutions the one of least norm is wanted. ``False``: a *basic* solution,
        with at most as many entries that are not zero as the rank is, as MATLAB's backslash returns
        it for sparse matrices.

    Returns
    -------
    LeastSquares
        With ``x``, ``residual_norm``, ``rank`` and ``backward_error``.

    Warns
    -----
    IllConditionedWarning
        If a backward error remains above 1e-9, and above ten times `rcond`, or the rank is not
        settled: singular values beside it are about as small as what counts as nothing.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or an argument is of the wrong type.
    ValueError
        If `b` or `rcond` does not fit, or a value is not finite.
    MemoryError
        If there is no room for the factors.

    See Also
    --------
    spsolve, splu : For regular square matrices.
    diagnose : Why a square matrix is singular, or nearly so.

    Notes
    -----
    By the coarse Dulmage-Mendelsohn parts where each has full rank: LU factorisation of the square
    part, sparse QR factorisations of the others (George, Heath, Linear Algebra Appl. 34, 1980;
    Davis, ACM TOMS 38, 2011), which are not blocked by rows that are dense. Else by QR
    factorisations of the connected components, or of their conjugate transposes if these have fewer
    columns: dead columns reveal the rank (Heath, SIAM J. Sci. Stat. Comput. 3, 1982), tiny singular
    values that they miss are found by inverse iteration, and x is projected onto the orthogonal
    complement of the null space. Solutions are refined by corrected seminormal equations (Björck,
    Linear Algebra Appl. 88/89, 1987). The rank is that of the matrix with columns of norm 1: that
    of dense solvers, which see the matrix as it is, can be smaller if units differ by many orders.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from sparsematch.solvers import lstsq
    >>> A = csr_array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> found = lstsq(A, [1.0, 2.0, 6.0])
    >>> found
    LeastSquares(3x2, rank 2, the only solution)
    >>> found.x.round(12).tolist(), round(found.residual_norm**2, 12)
    ([0.5, 2.5], 1.5)

    A singular system with many solutions:

    >>> A = csr_array([[1.0, 1.0], [2.0, 2.0]])
    >>> lstsq(A, [1.0, 2.0]).x.round(12).tolist()
    [0.5, 0.5]
    """
    columns, _ = read_columns(A)
    sparse = sp.issparse(b)
    right = check_sparse(b, "b").toarray() if sparse else np.asarray(b)
    check_right_hand_side(right, columns.shape[0], "N")
    right = right.astype(np.complex128 if right.dtype.kind == "c" else np.float64)
    check_finite(right)
    right = right.ravel() if sparse and right.ndim == 2 and right.shape[1] == 1 else right
    least = read_rcond(rcond, A, columns.shape)
    if right.dtype.kind == "c":
        columns = columns.astype(np.complex128)
    dense = (right[:, np.newaxis] if right.ndim == 1 else right).astype(columns.dtype)
    found, is_settled = least_squares(columns, dense, least, bool(minimum_norm))
    _warn_of(found, is_settled, least)
    if right.ndim == 1:
        norm, error = np.ravel(found.residual_norm).item(), np.ravel(found.backward_error).item()
        return replace(found, x=found.x[:, 0], residual_norm=norm, backward_error=error)
    return replace(found, x=sp.csc_array(found.x)) if sparse else found


def _warn_of(found: LeastSquares, is_settled: bool, rcond: float) -> None:
    error = np.asarray(found.backward_error)
    poor = ~(error <= max(POOR_ERROR, 10 * rcond))
    if is_settled and not poor.any():
        return
    text = (
        f"a least-squares solution has a backward error of {np.max(error[poor]):.0e}: the matrix "
        "is too ill-conditioned for its rank to be clear (see rcond), or a value is beyond the "
        "range of doubles"
        if is_settled
        else f"a rank of {found.rank} is not settled: singular values beside it are as small as "
        "rounding errors, or as rcond; with another rcond it may be"
    )
    warn(IllConditionedWarning, text)
