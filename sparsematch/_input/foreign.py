"""Which adapter reads a sparse matrix that is neither SciPy's nor CuPy's.

None of these libraries is imported: what an object offers says what it is. An adapter returns a
matrix of SciPy or CuPy, on the same arrays where it can, or the view of a pattern without values;
these are checked where that is read.
"""

import sys
from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from sparsematch._base.compressed import INT32_MAX
from sparsematch._base.dlpack import as_array
from sparsematch._base.errors import wrong_type
from sparsematch._input import torch
from sparsematch._input.assembled import compressed_matrix, coordinate_matrix
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.view import MatrixView


def from_other_library(A: Any) -> Any:
    """Read a view, convert a matrix of another library; return all else as it is."""
    if issparse(A) or isinstance(A, np.ndarray):
        return A
    if isinstance(A, MatrixView):
        return A.read()
    read = (convert(A) for convert in _ADAPTERS)
    return next((matrix for matrix in read if matrix is not None), A)


def _from_triple(A: Any) -> Any:
    """Return entries as SciPy's `coo_array` takes them, ``(data, (i, j))``, as a matrix."""
    if not isinstance(A, tuple) or len(A) != 2 or not isinstance(A[1], tuple | list):
        return None
    data, coords = A
    if len(coords) != 2 or any(np.ndim(array) != 1 for array in (data, *coords)):
        return None
    rows, cols = map(np.asarray, coords)
    for name, indices in (("i", rows), ("j", cols)):
        if indices.dtype.kind not in "iu" and indices.size:
            raise TypeError(
                f"{name} of (data, (i, j)) must hold integers, not {indices.dtype}; "
                f"numpy.unique({name}, return_inverse=True) numbers labels"
            )
    return coo_array((np.asarray(data), (rows, cols)))


def _from_pydata(A: Any) -> Any:
    """Return an array of pydata/sparse, which is looked up, as a matrix on the same arrays."""
    kind = getattr(sys.modules.get("sparse"), "SparseArray", None)
    return A.to_scipy_sparse() if kind is not None and isinstance(A, kind) else None


def _from_jax(A: Any) -> Any:
    """Return a BCOO or BCSR of ``jax.experimental.sparse`` as a matrix without padding outside."""
    if not (hasattr(A, "n_batch") and hasattr(A, "n_dense") and hasattr(A, "indices")):
        return None
    shape = tuple(A.shape)
    if len(shape) != 2 or A.n_batch or A.n_dense:
        raise ValueError(
            f"a sparse array of JAX must have two dimensions, both sparse, not shape {shape} with "
            f"{A.n_batch} batch and {A.n_dense} dense dimensions"
        )
    indices, data = as_array(A.indices, "indices"), as_array(A.data, "data")
    if hasattr(A, "indptr"):
        return compressed_matrix("csr", shape, as_array(A.indptr, "indptr"), indices, data)
    rows, cols = indices[:, 0], indices[:, 1]
    inside = (rows < shape[0]) & (cols < shape[1])
    if not inside.all():
        rows, cols, data = rows[inside], cols[inside], data[inside]
    return coordinate_matrix(shape, rows, cols, data)


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
    if not (hasattr(A, "colind") and hasattr(A, "row") and hasattr(A, "is_dense")):
        return None
    pattern = A.sparsity() if hasattr(A, "sparsity") else A
    indptr, indices = (np.array(x, np.int32) for x in (pattern.colind(), pattern.row()))
    if pattern is A:
        n_rows, n_cols = pattern.shape
        return BipartiteCSR(n_rows, n_cols, indptr, indices, "numpy", True)
    if type(A).__name__ != "DM":  # values of symbols are not known
        raise wrong_type("a matrix of CasADi", A, "a DM; A.sparsity() is the pattern of any")
    return compressed_matrix("csc", pattern.shape, indptr, indices, np.array(A.nonzeros()))


#: Each returns None of what is not its own.
_ADAPTERS = _from_triple, torch.convert, _from_pydata, _from_jax, _from_cvxopt, _from_casadi
