"""Which adapter reads a sparse matrix that is neither SciPy's nor CuPy's.

None of these libraries is imported: what an object offers says what it is. An adapter returns a
matrix of SciPy or CuPy, on the same arrays where it can, or the view of a pattern without values;
these are checked where that is read.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from sparsematch._input import casadi, cvxopt, jax, pydata, torch, triple
from sparsematch._types.view import MatrixView

#: Each has `convert`, which returns None of what is not its own.
_ADAPTERS = (triple, torch, pydata, jax, cvxopt, casadi)


def from_other_library(A: Any) -> Any:
    """Read a view, convert a matrix of another library; return all else as it is."""
    if issparse(A) or isinstance(A, np.ndarray):
        return A
    if isinstance(A, MatrixView):
        return A.read()
    for adapter in _ADAPTERS:
        if (matrix := adapter.convert(A)) is not None:
            return matrix
    return A
