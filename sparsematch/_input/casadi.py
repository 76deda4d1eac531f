"""Matrices of CasADi: a DM with its values, a Sparsity as a pattern; by columns, ascending."""

from typing import Any

import numpy as np

from sparsematch._base.errors import wrong_type
from sparsematch._input.assembled import compressed_matrix
from sparsematch._types.bipartite import BipartiteCSR


def convert(A: Any) -> Any:
    """Return a matrix of SciPy, the view of a pattern, or None if this is neither of both.

    Raises TypeError if it is symbolic: its values are not known.
    """
    if not (hasattr(A, "colind") and hasattr(A, "row") and hasattr(A, "is_dense")):
        return None
    pattern = A.sparsity() if hasattr(A, "sparsity") else A
    indptr, indices = (np.array(x, np.int32) for x in (pattern.colind(), pattern.row()))
    if pattern is A:
        n_rows, n_cols = pattern.shape
        return BipartiteCSR(n_rows, n_cols, indptr, indices, "numpy", True)
    if type(A).__name__ != "DM":
        raise wrong_type("a matrix of CasADi", A, "a DM; A.sparsity() is the pattern of any")
    return compressed_matrix("csc", pattern.shape, indptr, indices, np.array(A.nonzeros()))
