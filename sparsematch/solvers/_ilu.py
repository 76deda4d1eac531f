"""Incomplete factorisations with large entries brought to the diagonal first."""

from __future__ import annotations  # readable names in help()

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import spilu as _spilu

from sparsematch._api.arguments import check_tolerance
from sparsematch._api.transversal import maximum_transversal
from sparsematch._api.weighted import maximum_product_transversal
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._types.arrays import FloatArray, IndexArray
from sparsematch._types.choices import Side
from sparsematch._types.errors import wrong_type
from sparsematch._types.sparse_like import SparseLike
from sparsematch.solvers._checks import check_choice, check_right_hand_side, check_square
from sparsematch.solvers._errors import NamedSystem, numerically_singular, structurally_singular
from sparsematch.solvers._external import Singular, superlu_errors
from sparsematch.solvers._operator import InverseOperator

#: Least drop tolerance that SuperLU gets; relative to the column; the square of a rounding, which
#: changes no digit. With 0 it keeps zeros, some twice: a column of more than n then overflows its
#: workspace (seen on 66 rows, by valgrind, SciPy 1.17 and 1.18).
_LEAST_DROP_TOL = np.finfo(np.float64).eps ** 2


class TransversalILU(InverseOperator):
    """An incomplete factorisation of ``(R A C)[p]``, matched entries on its diagonal.

    R and C scale the rows and columns.

    Attributes
    ----------
    shape : tuple of int
        The shape of the matrix.
    dtype : dtype
        float64 or complex128.
    nnz : int
        Entries of both factors.
    row_perm : ndarray
        The permutation p.
    row_scale, col_scale : ndarray
        The diagonals of R and C.
    ilu : SuperLU
        SciPy's factorisation of the permuted and scaled matrix.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import spilu
    >>> ilu = spilu(csc_array([[0.0, 2.0], [4.0, 1.0]]))
    >>> ilu.solve([2.0, 5.0])
    array([1., 1.])
    """

    def __init__(
        self, A: Any, row_perm: Any, row_scale: Any, col_scale: Any, options: dict[str, Any]
    ) -> None:
        self.row_perm: IndexArray = row_perm
        self.row_scale: FloatArray = row_scale
        self.col_scale: FloatArray = col_scale
        self.shape: tuple[int, int] = A.shape
        self.dtype: np.dtype[Any] = A.dtype
        scaled = (sp.diags_array(row_scale) @ A @ sp.diags_array(col_scale)).tocsr()[row_perm]
        try:
            with superlu_errors():
                self.ilu = _spilu(scaled.tocsc(), **options)
        except Singular:
            everything = np.arange(A.shape[0])
            raise numerically_singular(NamedSystem(A), everything, everything) from None
        self.nnz: int = int(self.ilu.nnz)

    def __repr__(self) -> str:
        n = self.shape[0]
        return f"TransversalILU({n}x{n}, {self.nnz} entries)"

    def solve(self, b: ArrayLike, trans: Side = "N") -> NDArray[Any]:
        """Solve approximately with A ("N"), its transpose ("T") or its conjugate transpose ("H").

        Parameters
        ----------
        b : array_like, shape (n,) or (n, k)
            Right-hand sides.
        trans : {"N", "T", "H"}, optional
            Which system.

        Returns
        -------
        ndarray, shape of `b`
            The approximate solution.

        Raises
        ------
        TypeError, ValueError
            If `b` does not hold numbers or is of another length, or `trans` is none of the choices.
        """
        b = np.asarray(b)
        check_right_hand_side(b, self.shape[0], trans)
        if b.dtype.kind == "c" and self.dtype.kind != "c":
            return self.solve(b.real, trans) + 1j * self.solve(b.imag, trans)
        b = b.astype(self.dtype, copy=False)
        tall = (slice(None),) + (np.newaxis,) * (b.ndim - 1)
        rows, cols = self.row_scale[tall], self.col_scale[tall]
        if trans == "N":
            return cols * self.ilu.solve((rows * b)[self.row_perm])
        out = np.empty_like(b)
        out[self.row_perm] = self.ilu.solve(cols * b, trans)
        return rows * out


def spilu(
    A: SparseLike,
    drop_tol: float | None = None,
    *,
    pivoting: Literal["product", "structure"] = "product",
    **options: Any,
) -> TransversalILU:
    """Factorise a sparse square matrix incompletely, after bringing large entries to its diagonal.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        Of real or complex numbers, in any format.
    drop_tol : float, optional
        What is smaller, relative to its column, is dropped. SciPy's default is 1e-4; less than
        5e-32 counts as that.
    pivoting : {"product", "structure"}, optional
        Whether to bring the entries with the largest product to the diagonal and scale them to 1,
        or any entries, without scaling.
    **options
        Others of SciPy's ``spilu``: ``fill_factor``, ``drop_rule``, ``permc_spec``,
        ``diag_pivot_thresh``, and so on.

    Returns
    -------
    TransversalILU
        With ``solve``; it may be passed to SciPy's iterative solvers as ``M``.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, `drop_tol` not a number, or `pivoting` not a string.
    ValueError
        If `A` is not square, its arrays are inconsistent, `drop_tol` is negative or NaN, or
        `pivoting` is none of the choices.
    SingularMatrixError
        If `A` is structurally singular, or numerically where nothing is dropped.
    MemoryError
        If SuperLU has no memory left.

    See Also
    --------
    splu : The complete factorisation.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from scipy.sparse.linalg import gmres
    >>> from sparsematch.solvers import spilu
    >>> A = csc_array([[0.0, 2.0, 0.0], [4.0, 1.0, 1.0], [0.0, 1.0, 3.0]])
    >>> x, info = gmres(A, A @ [1.0, 1.0, 1.0], M=spilu(A))
    >>> info, x.round(6).tolist()
    (0, [1.0, 1.0, 1.0])
    """
    check_choice("pivoting", pivoting, ("structure", "product"))
    check_tolerance("drop_tol", drop_tol)
    given = from_other_library(A)
    if not sp.issparse(given):
        raise wrong_type("A", A, "a SciPy sparse array or matrix")
    check_square(given.shape)
    given = check_sparse(given, "A")
    dtype = np.complex128 if given.dtype.kind == "c" else np.float64
    matrix = sp.csc_array(given, dtype=dtype, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if pivoting == "product":
        best = maximum_product_transversal(matrix)
        matching, scales = best.matching, (best.row_scale, best.col_scale)
    else:
        ones = np.ones(matrix.shape[0])
        matching, scales = maximum_transversal(matrix), (ones, ones)
    if not matching.is_perfect:
        raise structurally_singular(NamedSystem(matrix), matching.cardinality)
    if drop_tol is not None:
        options["drop_tol"] = max(drop_tol, _LEAST_DROP_TOL)
    return TransversalILU(matrix, matching.as_permutation(), *scales, options)
