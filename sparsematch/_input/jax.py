"""Arrays BCOO and BCSR of ``jax.experimental.sparse``, or of a library with the same fields."""

from typing import Any

from sparsematch._base.dlpack import as_array
from sparsematch._input.assembled import compressed_matrix, coordinate_matrix


def convert(A: Any) -> Any:
    """Return a matrix, without JAX's padding outside, or None if this is none of these arrays."""
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
