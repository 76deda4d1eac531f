"""The two conventions for a permutation: what comes to a place, and where a thing goes."""

from __future__ import annotations  # readable names in help()

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._types.errors import wrong_type


def to_superlu(row_perm: Any, col_perm: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Convert permutations as csgraph and `block_triangular_form` write them to those of SuperLU.

    Parameters
    ----------
    row_perm, col_perm : array_like of int, shape (n,)
        ``A[row_perm][:, col_perm]`` is the permuted matrix: element k is what comes to place k.

    Returns
    -------
    perm_r, perm_c : ndarray, shape (n,)
        ``perm_r[i]`` is the place that row i goes to: with ``Pr[perm_r, arange(n)] = 1`` and
        ``Pc[arange(n), perm_c] = 1`` the same permuted matrix is ``Pr @ A @ Pc``.

    Raises
    ------
    TypeError
        If an argument does not hold integers.
    ValueError
        If an argument is not a permutation.

    See Also
    --------
    from_superlu : The way back.

    Notes
    -----
    Both conventions are inverses of each other, so the two functions do the same; the names say
    which is meant.

    Examples
    --------
    >>> from sparsematch.solvers import to_superlu
    >>> perm_r, perm_c = to_superlu([2, 0, 1], [0, 1, 2])
    >>> perm_r.tolist(), perm_c.tolist()
    ([1, 2, 0], [0, 1, 2])
    """
    return inverse(row_perm, "row_perm"), inverse(col_perm, "col_perm")


def from_superlu(perm_r: Any, perm_c: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Convert SuperLU's permutations to those that index a matrix.

    Parameters
    ----------
    perm_r, perm_c : array_like of int, shape (n,)
        As SciPy's and CuPy's ``splu`` give them: ``perm_r[i]`` is the place that row i goes to.

    Returns
    -------
    row_perm, col_perm : ndarray, shape (n,)
        ``A[row_perm][:, col_perm]`` is the permuted matrix, which is ``L @ U``.

    Raises
    ------
    TypeError, ValueError
        As `to_superlu` does.

    See Also
    --------
    to_superlu : The way back.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from scipy.sparse.linalg import splu
    >>> from sparsematch.solvers import from_superlu
    >>> A = csc_array([[0.0, 2.0], [4.0, 1.0]])
    >>> lu = splu(A)
    >>> row_perm, col_perm = from_superlu(lu.perm_r, lu.perm_c)
    >>> bool(np.allclose((lu.L @ lu.U).toarray(), A.toarray()[row_perm][:, col_perm]))
    True
    """
    return inverse(perm_r, "perm_r"), inverse(perm_c, "perm_c")


def inverse(permutation: Any, name: str) -> NDArray[Any]:
    """Return the inverse of a permutation, of the same type."""
    p = np.asarray(permutation)
    if p.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {p.ndim}")
    if p.size == 0:
        return p.astype(np.intp)
    if p.dtype.kind not in "iu":
        raise wrong_type(name, permutation, "an array of integers")
    if p.min() < 0 or p.max() >= p.size:
        raise ValueError(
            f"{name} is not a permutation of 0...{p.size - 1}: it runs from {p.min()} to {p.max()}"
        )
    occurs = np.zeros(p.size, bool)
    occurs[p] = True
    if not occurs.all():
        raise ValueError(
            f"{name} is not a permutation: {int(np.flatnonzero(~occurs)[0])} does not occur"
        )
    out = np.empty_like(p)
    out[p] = np.arange(p.size, dtype=p.dtype)
    return out
