"""Incomplete factorisations with large entries brought to the diagonal first."""

from __future__ import annotations  # readable names in help()

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from sparsematch._api.arguments import check_tolerance
from sparsematch._api.transversal import maximum_matching
from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._base.errors import check_choice, warn
from sparsematch._base.tolerances import EPSILON
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.canonical import pattern_of, read_columns
from sparsematch._input.pattern import compress
from sparsematch._numerics.foreign_calls import spilu as _spilu
from sparsematch._systems import errors
from sparsematch._systems.checks import check_right_hand_side, check_square
from sparsematch._systems.errors import IllConditionedWarning, NamedSystem, SingularMatrixError
from sparsematch._systems.external import Singular, superlu_errors
from sparsematch._systems.operator import InverseOperator
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import Side
from sparsematch._types.sparse_like import SparseLike

#: Least drop tolerance that SuperLU gets; relative to the column; the square of a rounding, which
#: changes no digit. With 0 it keeps zeros, some twice: a column of more than n then overflows its
#: workspace (seen on 66 rows, by valgrind, SciPy 1.17 and 1.18).
_LEAST_DROP_TOL = EPSILON**2
#: SciPy's defaults, from which less is dropped.
_DROP_TOL, _FILL_FACTOR = 1e-4, 10.0
#: Factor of the drop tolerance if no pivot is left: of 16 real matrices 0.1 suits 13, 0.01 one.
_LOWER = 10.0, 100.0


class Diagonal(NamedTuple):
    """Which row comes to each place, and the factors of rows and columns."""

    row_perm: IndexArray
    row_scale: FloatArray
    col_scale: FloatArray


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
    attempts : tuple of str
        How it was made, last; before that what was tried, and left no pivot or was unstable. One
        element if it was made as asked.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import spilu
    >>> ilu = spilu(csc_array([[0.0, 2.0], [4.0, 1.0]]))
    >>> ilu.solve([2.0, 5.0])
    array([1., 1.])
    >>> ilu.attempts
    ('product',)
    """

    def __init__(
        self, ilu: Any, dtype: np.dtype[Any], diagonal: Diagonal, attempts: tuple[str, ...]
    ) -> None:
        self.row_perm, self.row_scale, self.col_scale = diagonal
        self.shape: tuple[int, int] = (self.row_perm.size,) * 2
        self.dtype, self.attempts, self.ilu = dtype, attempts, ilu
        self.nnz: int = int(ilu.nnz)

    def __repr__(self) -> str:
        n, failed = self.shape[0], len(self.attempts) - 1
        how = f", {self.attempts[-1]} after {failed} failed" if failed else ""
        return f"TransversalILU({n}x{n}, {self.nnz} entries{how})"

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

    Where dropping leaves no pivot, or solutions that are unstable, it is tried again: ordered by
    A + A' (unless `permc_spec` is given), with a tenth and a hundredth of `drop_tol` and twice the
    `fill_factor`, and with the other `pivoting`. The result's ``attempts`` list what was tried.

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
        If `A` is not square, its arrays are inconsistent, a value is not finite, `drop_tol` is
        negative or NaN, or `pivoting` is none of the choices.
    SingularMatrixError
        If `A` is structurally singular, or all attempts left no pivot.
    MemoryError
        If SuperLU has no memory left.

    Warns
    -----
    IllConditionedWarning
        If all attempts are unstable: the most stable one is returned.

    See Also
    --------
    splu : The complete factorisation.

    Notes
    -----
    Li, Shao, A supernodal approach to incomplete LU factorization with partial pivoting (ACM TOMS
    37, 2011); for the diagonal, see `maximum_product_transversal`.

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
    columns = read_columns(compress(A) if issparse(A) else A)[0]
    check_square(columns.shape)
    if drop_tol is not None:
        options["drop_tol"] = max(drop_tol, _LEAST_DROP_TOL)
    return _first_stable(columns, pivoting, options)


def _first_stable(columns: Any, pivoting: str, options: dict[str, Any]) -> TransversalILU:
    """Return the first attempt that is stable; if there is none, the most stable one."""
    attempts: list[str] = []
    best, least = None, np.inf
    graph, values = pattern_of(columns), columns.data
    for name, chosen, how in _ways(pivoting, options):
        attempts.append(name)
        diagonal = _diagonal(columns, graph, chosen)
        place = operations(WeightedOps, graph.backend).scale_columns
        indices, data, sums = place(graph, values, diagonal[0], diagonal[1:])
        matrix = compressed_matrix("csc", graph.shape, graph.indptr, indices, data)
        matrix.has_canonical_format = True  # no duplicates: SuperLU wants no more
        try:
            with superlu_errors():
                ilu = _spilu(matrix, **how)
        except Singular:
            continue
        x = ilu.solve(sums)
        size = math.sqrt(np.vdot(x, x).real)
        # whose exact solution is ones: GMRES diverges on teko_szdMat, where this is 8e24; it
        # converges up to 8e12 on 21 real matrices
        if size * EPSILON <= 1:
            return TransversalILU(ilu, values.dtype, diagonal, tuple(attempts))
        if best is None or size < least:
            best, least = TransversalILU(ilu, values.dtype, diagonal, (name,)), size
    if best is None:
        raise _without_pivot(NamedSystem(columns), attempts, options)
    kept = best.attempts[0]
    best.attempts = (*(name for name in attempts if name != kept), kept)
    warn(
        IllConditionedWarning,
        f"the incomplete factorisation is unstable: its solution for the row sums has entries of "
        f"{least:.0e} instead of 1; a smaller drop_tol, or splu, may do",
    )
    return best


def _without_pivot(
    system: NamedSystem, attempts: list[str], options: dict[str, Any]
) -> SingularMatrixError:
    """Describe a matrix of which every attempt left no pivot."""
    everything = np.arange(system.matrix.shape[0])
    if options.get("drop_tol") == _LEAST_DROP_TOL:  # dropping is not to blame
        return errors.numerically_singular(system, (everything, everything))
    text = (
        f"no incomplete factorisation of {everything.size} rows has all its pivots (tried: "
        f"{'; '.join(attempts)}): the matrix is numerically singular, or a smaller drop_tol is "
        "needed, or splu"
    )
    return SingularMatrixError(text, everything, everything, system)


def _ways(pivoting: str, options: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield names, which diagonal, and options of SciPy's function, as asked first."""
    yield pivoting, pivoting, options
    if "permc_spec" not in options:
        inside = {"SymmetricMode": True} | (options.get("options") or {})
        symmetric = {"permc_spec": "MMD_AT_PLUS_A", "options": inside}
        yield f"{pivoting}, ordered by A + A'", pivoting, options | symmetric
    drop_tol, fill = options.get("drop_tol", _DROP_TOL), options.get("fill_factor")
    fill = 2 * (_FILL_FACTOR if fill is None else fill)
    if drop_tol > _LEAST_DROP_TOL:  # else nothing is dropped
        for lower in (drop_tol / times for times in _LOWER):
            less = options | {"drop_tol": lower, "fill_factor": fill}
            yield f"{pivoting}, drop_tol={lower:.0e}", pivoting, less
    other = "product" if pivoting == "structure" else "structure"
    yield other, other, options


def _diagonal(columns: Any, graph: BipartiteCSR, pivoting: str) -> Diagonal:
    """Choose the diagonal; SingularMatrixError if the pattern has none without zeros."""
    if pivoting == "product":
        product = operations(WeightedOps, graph.backend).product_diagonal
        diagonal = Diagonal(*product(graph, np.abs(columns.data)))
    else:
        ones = np.ones(graph.n_rows)
        diagonal = Diagonal(maximum_matching(graph)[0].col_mate, ones, ones)
    if (rank := int(np.count_nonzero(diagonal.row_perm >= 0))) < graph.n_rows:
        raise errors.structurally_singular(NamedSystem(columns), rank)
    return diagonal
