"""Which adapter reads a sparse matrix that is neither SciPy's nor CuPy's.

None of these libraries is imported: what an object offers says what it is. An adapter returns a
matrix of SciPy or CuPy, on the same arrays where it can, or the view of a pattern without values;
these are checked where that is read.
"""

import sys
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sparsematch._base.compressed import INT32_MAX
from sparsematch._base.errors import wrong_type
from sparsematch._input import jax, torch, triple
from sparsematch._input.assembled import compressed_matrix
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.view import MatrixView


def from_other_library(A: Any) -> Any:
    """Read a view, convert a matrix of another library; return all else as it is."""
    if issparse(A) or isinstance(A, np.ndarray):
        return A
    if isinstance(A, MatrixView):
        return A.read()
    for convert in _ADAPTERS:
        if (matrix := convert(A)) is not None:
            return matrix
    return A


def _from_pydata(A: Any) -> Any:
    """Return an array of pydata/sparse, which is looked up, as a matrix on the same arrays."""
    kind = getattr(sys.modules.get("sparse"), "SparseArray", None)
    return A.to_scipy_sparse() if kind is not None and isinstance(A, kind) else None


def _from_cvxopt(A: Any) -> Any:
    """Return a ``spmatrix`` of cvxopt or kvxopt, columns as three dense matrices, as a matrix."""
    if not (hasattr(A, "CCS") and hasattr(A, "typecode")):
        return None
    indptr, indices, data = (np.asarray(part).ravel() for part in A.CCS)  # copies already
    if max(*A.size, indices.size) <= INT32_MAX:
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    return compressed_matrix("csc", tuple(A.size), indptr, indices, data)


def _from_casadi(A: Any) -> Any:
    """Return a DM of CasADi as a matrix, a Sparsity as the view of a pattern; columns ascend."""
    # Raises TypeError if it is symbolic: its values are not known.
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


#: Each returns None of what is not its own.
_ADAPTERS = (triple.convert, torch.convert, _from_pydata, jax.convert, _from_cvxopt, _from_casadi)
