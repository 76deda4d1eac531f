"""Drop-in for the direct solvers of ``scipy.sparse.linalg``: splu, spilu, spsolve, factorized.

Names, signatures and what happens to singular matrices are the same, and dense matrices are
converted with its warning: change the import, and nothing else. Where SciPy returns a ``SuperLU``,
a `sparsematch.solvers.BlockTriangularLU` is returned, whose ``L`` and ``U`` need
``permc_spec="NATURAL"`` unless the matrix is one block. The functions of the same names of
`sparsematch.solvers` raise errors that explain what is wrong where these return NaN.
"""

from __future__ import annotations  # readable names in help()

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import SparseEfficiencyWarning, csc_array, issparse

from sparsematch import solvers
from sparsematch._base.arrays import on_gpu
from sparsematch._base.errors import warn
from sparsematch._input.foreign import from_other_library
from sparsematch._systems.like_scipy import ignore_options
from sparsematch._systems.pattern import LAYOUTS

__all__ = ["factorized", "spilu", "splu", "spsolve"]
__dir__ = __all__.copy  # lists these alone


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    """Solve a sparse linear system, or several with the same matrix.

    Parameters
    ----------
    A, b, permc_spec, use_umfpack
        As in SciPy; the last two are checked, and ignored.

    Returns
    -------
    ndarray, sparse array or matrix
        The solution, as in SciPy: of shape (n,) if there is one right-hand side; sparse and of the
        class of `A` if `b` is sparse and has more than one column. In single precision if `A` and
        `b` are, but computed in double precision. NaN if `A` is singular or holds NaN.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `sparsematch.solvers.spsolve` does; the last, if `A` is singular and `b` sparse with more
        than one column.

    Warns
    -----
    scipy.sparse.linalg.MatrixRankWarning
        If `A` is singular, exactly or (`sparsematch.solvers.IllConditionedWarning`) to working
        precision.
    sparsematch.solvers.IgnoredOptionWarning
        If `permc_spec` or `use_umfpack` is given, once in a process for each.

    See Also
    --------
    sparsematch.solvers.spsolve : What this calls, with an error for singular matrices.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.linalg import spsolve
    >>> spsolve(csc_array([[0.0, 2.0], [4.0, 1.0]]), [2.0, 5.0])
    array([1., 1.])
    """
    A = _as_sparse(A, "spsolve requires A be CSC or CSR matrix format")
    b = b if type(b) is np.ndarray or issparse(b) or on_gpu(b) else np.asarray(b)
    if permc_spec is not None or use_umfpack is not True:
        umfpack = None if use_umfpack is True else use_umfpack
        ignore_options("spsolve", permc_spec=permc_spec, use_umfpack=umfpack)
    x = solvers.spsolve(A, b, singular="nan")
    if b.dtype.char not in "dD":
        dtype = np.promote_types(np.promote_types(A.dtype, np.float32), b.dtype)
        x = x.astype(dtype) if dtype.char in "fF" else x
    is_sparse = type(x) is not np.ndarray and issparse(x)
    return type(A)(x) if is_sparse and A.format in ("csr", "csc") else x


def splu(
    A: Any,
    permc_spec: Any = None,
    diag_pivot_thresh: Any = None,
    relax: Any = None,
    panel_size: Any = None,
    options: Any = None,
) -> solvers.BlockTriangularLU:
    """Factorise a sparse square matrix.

    Parameters
    ----------
    A, permc_spec, diag_pivot_thresh, relax, panel_size, options
        As in SciPy. ``permc_spec="NATURAL"`` eliminates the columns as they come, in one block; all
        else but `A` is checked, and ignored.

    Returns
    -------
    BlockTriangularLU
        With ``solve``, ``shape``, ``nnz``, ``perm_r`` and ``perm_c``, if there is one block ``L``
        and ``U``; ``solve`` returns float64 or complex128.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `sparsematch.solvers.splu` does; the last, if `A` is singular, or holds NaN.

    See Also
    --------
    sparsematch.solvers.splu : What this calls, with arguments of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.linalg import splu
    >>> splu(csc_array([[0.0, 2.0], [4.0, 1.0]])).solve(np.array([2.0, 5.0]))
    array([1., 1.])
    """
    A = _as_sparse(A, "splu converted its input to CSC format")
    if permc_spec is diag_pivot_thresh is relax is panel_size is options is None:
        return solvers.splu(A)
    natural = type(permc_spec) is str and permc_spec.upper() == "NATURAL"
    given: Any = {"diag_pivot_thresh": diag_pivot_thresh, "relax": relax, "options": options}
    permc_spec = None if natural else permc_spec
    ignore_options("splu", permc_spec=permc_spec, panel_size=panel_size, **given)
    return solvers.splu(A, order=np.arange(A.shape[0])) if natural else solvers.splu(A)


def spilu(
    A: Any,
    drop_tol: float | None = None,
    fill_factor: float | None = None,
    drop_rule: Any = None,
    permc_spec: Any = None,
    diag_pivot_thresh: Any = None,
    relax: Any = None,
    panel_size: Any = None,
    options: Any = None,
) -> solvers.TransversalILU:
    """Factorise a sparse square matrix incompletely.

    Parameters
    ----------
    A, drop_tol, fill_factor, drop_rule, permc_spec, diag_pivot_thresh, relax, panel_size, options
        As in SciPy, whose function factorises the matrix scaled, and with large entries on its
        diagonal.

    Returns
    -------
    TransversalILU
        With ``solve``, ``shape`` and ``nnz``.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `sparsematch.solvers.spilu` does; the last, if `A` is singular.

    See Also
    --------
    sparsematch.solvers.spilu : What this calls.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.linalg import spilu
    >>> spilu(csc_array([[0.0, 2.0], [4.0, 1.0]]), 1e-5).solve([2.0, 5.0])
    array([1., 1.])
    """
    A = _as_sparse(A, "spilu converted its input to CSC format")
    given = {"permc_spec": permc_spec, "diag_pivot_thresh": diag_pivot_thresh, "relax": relax}
    given |= {"fill_factor": fill_factor, "drop_rule": drop_rule}
    return solvers.spilu(A, drop_tol, **given, panel_size=panel_size, options=options)


def factorized(A: Any) -> Callable[[ArrayLike], NDArray[Any]]:
    """Return a function that solves systems with one matrix.

    Parameters
    ----------
    A : sparse array or matrix, or array_like, shape (n, n)
        The matrix, factorised here, with the errors of `splu`.

    Returns
    -------
    callable
        It maps a right-hand side, or several as columns, to the solution.

    See Also
    --------
    splu

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.linalg import factorized
    >>> factorized(csc_array([[0.0, 2.0], [4.0, 1.0]]))([2.0, 5.0])
    array([1., 1.])
    """
    return splu(A).solve


def _as_sparse(A: Any, warning: str) -> Any:
    """Return a sparse matrix of SciPy or CuPy; convert what is dense, with SciPy's warning."""
    if type(A) in LAYOUTS:
        return A
    A = from_other_library(A)
    if issparse(A) or on_gpu(A):
        return A
    warn(SparseEfficiencyWarning, warning)
    return csc_array(A)
