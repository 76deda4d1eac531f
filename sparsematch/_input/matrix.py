"""Matrices that are read with their values by code of SciPy or CuPy."""

from typing import Any

from scipy.sparse import issparse

from sparsematch._base.arrays import on_gpu
from sparsematch._base.errors import not_sparse, wrong_type
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._types.bipartite import BipartiteCSR


def checked(A: Any, name: str) -> Any:
    """Return a sparse matrix that code of SciPy or CuPy may read, values and all."""
    # It is `A`, or shares its arrays where these hold more. Errors are those of `as_bipartite`.
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


def checked_like(A: Any, shape: tuple[int, int], like: Any, whose: str) -> Any:
    """Return what `checked` does of a matrix of this shape that is where `whose` array is."""
    A, here = from_other_library(A), on_gpu(like)
    if not (on_gpu(A) if here else issparse(A)):
        library, place = ("CuPy", "on a GPU") if here else ("SciPy", "not on a GPU")
        raise wrong_type("A", A, f"a sparse array or matrix of {library}, {whose} being {place}")
    if A.shape != shape:
        raise ValueError(f"A has shape {A.shape}, but {whose} is of one of shape {shape}")
    return checked(A, "A")
