"""SciPy's calls, block by block: splu, spsolve, factorized."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from sparsematch._types.arrays import on_gpu
from sparsematch.solvers._device import DeviceLU
from sparsematch.solvers._lu import BlockTriangularLU


def splu(A: Any, *, matching: Any = None, pivoting: str = "auto", solver: Any = "auto") -> Any:
    """Factorise a sparse square matrix.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        In any format; CSC spares a conversion. A matrix of ``cupyx.scipy.sparse`` is worked on by
        its GPU.
    matching, pivoting, solver
        As those of `analyse`, or of `DeviceLU` if `A` is on a GPU.

    Returns
    -------
    BlockTriangularLU or DeviceLU
        With ``solve``, ``shape``, ``nnz``, ``perm_r`` and ``perm_c``, like SciPy's ``SuperLU``; of
        a matrix on a GPU, with ``solve`` for right-hand sides there.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or an argument is of the wrong type.
    ValueError
        If `A` is not square, a value is not finite, or an argument is none of the choices.
    SingularMatrixError
        If `A` is singular; a RuntimeError, as in SciPy, that says which rows and columns are to
        blame.

    See Also
    --------
    analyse : For several matrices with one pattern.
    spsolve : For one system.
    DeviceLU : What is done on a GPU.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import splu
    >>> lu = splu(csc_array([[1.0, 2.0, 0.0], [0.0, 4.0, 0.0], [5.0, 0.0, 8.0]]))
    >>> lu.solve(np.array([3.0, 4.0, 13.0]))
    array([1., 1., 1.])
    >>> lu.solve(np.array([6.0, 6.0, 8.0]), trans="T")
    array([1., 1., 1.])
    """
    if not issparse(A) and on_gpu(A):
        return DeviceLU(A, matching=matching, pivoting=pivoting, solver=solver)
    return BlockTriangularLU(A, matching=matching, pivoting=pivoting, solver=solver)


def spsolve(
    A: Any, b: Any, *, matching: Any = None, pivoting: str = "auto", solver: Any = "auto"
) -> Any:
    """Solve a sparse linear system, or several with the same matrix.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        In any format; CSC spares a conversion. If it is on a GPU, `b` must be a CuPy array.
    b : array_like, sparse array or matrix, shape (n,) or (n, k)
        The right-hand sides.
    matching, pivoting, solver
        As those of `analyse`.

    Returns
    -------
    ndarray or csc_array
        The solution: of shape (n,) if there is one right-hand side, as in SciPy; sparse if `b` is
        sparse and has more than one column.

    Raises
    ------
    TypeError, ValueError
        As `splu` does, or if `b` does not fit.
    SingularMatrixError
        If `A` is singular. SciPy's function warns and returns NaN.

    See Also
    --------
    splu, factorized

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import spsolve
    >>> spsolve(csc_array([[0.0, 2.0], [4.0, 1.0]]), [2.0, 5.0])
    array([1., 1.])
    """
    if not issparse(A) and on_gpu(A):
        lu = splu(A, matching=matching, pivoting=pivoting, solver=solver)
        return lu.solve(b.ravel() if getattr(b, "ndim", 0) == 2 and b.shape[1] == 1 else b)
    sparse = issparse(b)
    right = b.toarray() if sparse else np.asarray(b)
    one = right.ndim == 1 or (right.ndim == 2 and right.shape[1] == 1)
    x = splu(A, matching=matching, pivoting=pivoting, solver=solver).solve(
        right.ravel() if one else right
    )
    return csc_array(x) if sparse and not one else x


def factorized(A: Any, **options: Any) -> Callable[[Any], NDArray[Any]]:
    """Return a function that solves systems with one matrix.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        The matrix, factorised here.
    **options
        ``matching``, ``pivoting``, ``solver``, as those of `analyse`.

    Returns
    -------
    callable
        It takes a right-hand side, or several as columns, and returns the solution.

    Raises
    ------
    TypeError, ValueError, SingularMatrixError
        As `splu` does.

    See Also
    --------
    splu

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import factorized
    >>> solve = factorized(csc_array([[0.0, 2.0], [4.0, 1.0]]))
    >>> solve([2.0, 5.0])
    array([1., 1.])
    """
    return splu(A, **options).solve
