"""What a sparse matrix maps to zero: a sparse basis, or an orthonormal one."""

from __future__ import annotations  # readable names in help()

from typing import Literal

import scipy.sparse as sp

from sparsematch._base.errors import check_choice, warn
from sparsematch._blame.circuits import find_circuits, orthonormal, two_residuals
from sparsematch._input.canonical import read_columns
from sparsematch._systems.checks import read_rcond
from sparsematch._systems.errors import IllConditionedWarning
from sparsematch._types.null_space import NullSpaceBasis
from sparsematch._types.sparse_like import SparseLike

#: Coefficients of scaled columns that are rounding errors.
_NOTHING = 1e-14


def null_space(
    A: SparseLike,
    *,
    side: Literal["right", "left"] = "right",
    basis: Literal["sparse", "orthonormal"] = "sparse",
    rcond: float | None = None,
) -> NullSpaceBasis:
    """Return a basis of the null space of a sparse matrix of any shape and rank.

    A sparse one consists of fundamental circuits: each vector is the combination of a dependent
    column with the independent ones, and no member of it can be left out. Of a matrix of reactions
    these are pathways, of the edges of a graph its cycles; on the left side, conserved totals.

    Parameters
    ----------
    A : sparse array or matrix, shape (m, n)
        In any format, of real or complex numbers. Entries whose value is zero are left out.
    side : {"right", "left"}, optional
        Whether ``A @ vectors`` is to vanish, or ``vectors.T @ A``.
    basis : {"sparse", "orthonormal"}, optional
        An orthonormal one is dense, as that of ``scipy.linalg.null_space``.
    rcond : float, optional
        A column counts as dependent on others if, in units of its norm, no more than this is left
        of it beside them, rows and columns scaled (on the left side, rows). By default the rounding
        error of the type of `A` times ``max(m, n, 50)``.

    Returns
    -------
    NullSpaceBasis
        With ``vectors``, ``free``, ``rank`` and ``residuals``.

    Warns
    -----
    IllConditionedWarning
        If the rank is not clear: a singular value is near `rcond`, or a vector leaves more.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or an argument is of the wrong type.
    ValueError
        If `side`, `basis` or `rcond` is none of the choices, or a value is not finite.
    MemoryError
        If there is no room for the factors, or for the basis.

    See Also
    --------
    lstsq : A solution of a system of any shape; the others differ by the null space.
    sparsematch.explain_singularity : The rows and columns that depend on each other, by name.

    Notes
    -----
    By a sparse QR factorisation that reveals the rank (Heath, SIAM J. Sci. Stat. Comput. 3, 1982;
    Foster, Linear Algebra Appl. 74, 1986), of the matrix in units that make all entries as near to
    1 as can be: so units change neither rank nor members. Dependent columns are chosen such that
    coefficients are, in these units, hardly above 100. Of all sparse bases it need not be the
    sparsest (Coleman, Pothen, SIAM J. Algebraic Discrete Methods 7, 1986).

    Examples
    --------
    The cycles of a graph of four vertices and five edges:

    >>> from scipy.sparse import csr_array
    >>> from sparsematch.solvers import null_space
    >>> edges = [[1, 0, 1, 0, 1], [-1, 1, 0, 0, 0], [0, -1, -1, 1, 0], [0, 0, 0, -1, -1]]
    >>> found = null_space(csr_array(edges))
    >>> found
    NullSpaceBasis(4x5, rank 3, 2 sparse, right)
    >>> bool(found.residuals.max() < 1e-15)
    True

    What is conserved:

    >>> null_space(csr_array(edges), side="left").vectors.toarray().ravel().round(12)
    array([1., 1., 1., 1.])
    """
    check_choice("side", side, ("right", "left"))
    check_choice("basis", basis, ("sparse", "orthonormal"))
    columns, _ = read_columns(A)
    least = read_rcond(rcond, A, columns.shape)
    mine = columns if side == "right" else sp.csc_array(columns.T)
    circuits = find_circuits(mine, least, _NOTHING)
    vectors, residuals = circuits.basis(), circuits.residuals
    if basis == "orthonormal":
        vectors = orthonormal(vectors)
        residuals = two_residuals(mine, circuits.scaling, sp.csc_array(vectors)).max(axis=0)
    if not circuits.is_settled:
        rank = mine.shape[1] - circuits.free.size
        warn(
            IllConditionedWarning,
            f"a rank of {rank} is not clear: singular values beside it are as small as "
            "rounding errors, or as rcond; with another rcond it may be",
        )
    more = columns.shape, side, circuits.smallest, circuits.is_settled
    return NullSpaceBasis(vectors, circuits.free, residuals, *more)
