"""Matrices that are read with their values by code of SciPy or CuPy."""

from typing import Any

from scipy.sparse import issparse

from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.errors import not_sparse


def checked(A: Any, name: str) -> Any:
    """Return a sparse matrix that code of SciPy or CuPy may read, values and all.

    It is `A`, or shares its arrays where these hold more than its entries. Errors are those of
    `as_bipartite`.
    """
    A = from_other_library(A)
    if issparse(A):
        return check_sparse(A, name)
    nnz = as_bipartite(A, name=name).nnz  # on a GPU, or refused
    if isinstance(A, BipartiteCSR):
        raise not_sparse(name, A, "a sparse array or matrix of SciPy or CuPy")
    if A.format not in ("csr", "csc", "coo"):
        return A
    if A.data.ndim != 1 or A.data.size < nnz:
        raise ValueError(f"{name}.data has shape {A.data.shape}, but there are {nnz} entries")
    if A.format == "coo" or A.data.size == A.indices.size == nnz:
        return A
    return compressed_matrix(A.format, A.shape, A.indptr, A.indices[:nnz], A.data[:nnz])
