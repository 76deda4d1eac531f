"""Sparse tensors of PyTorch, or of a library with the same methods."""

from typing import Any

from scipy.sparse import bsr_array

from sparsematch._base.arrays import on_gpu
from sparsematch._base.dlpack import as_array
from sparsematch._input.assembled import compressed_matrix

#: By the layout of a tensor, the methods that return its pointers and its indices.
_COMPRESSED = {
    "sparse_csr": ("csr", "crow_indices", "col_indices"),
    "sparse_csc": ("csc", "ccol_indices", "row_indices"),
    "sparse_bsr": ("bsr", "crow_indices", "col_indices"),
    "sparse_bsc": ("bsc", "ccol_indices", "row_indices"),
}


def convert(A: Any) -> Any:
    """Return a matrix on the same arrays, COO coalesced, or None if this is no sparse tensor."""
    layout = str(getattr(A, "layout", "")).rpartition(".")[2]
    if layout == "sparse_coo":
        _check_coordinates(A)
        A, layout = A.coalesce().to_sparse_csr(), "sparse_csr"
    if layout not in _COMPRESSED:
        return None
    form, pointers, indices = _COMPRESSED[layout]
    if len(A.shape) != 2:
        raise ValueError(f"a sparse tensor must have two dimensions, not {len(A.shape)}")
    A, shape = A.detach(), tuple(A.shape)
    fields = getattr(A, pointers)(), getattr(A, indices)(), A.values()
    arrays = tuple(map(as_array, fields, (f"{pointers}()", f"{indices}()", "values()")))
    return (_of_blocks if form.startswith("b") else compressed_matrix)(form, shape, *arrays)


def _of_blocks(form: str, shape: tuple[int, ...], indptr: Any, indices: Any, blocks: Any) -> Any:
    """Return a matrix of blocks by rows, or by columns."""
    if on_gpu(indptr):
        text = f"a sparse tensor on a GPU must be in the layout CSR, CSC or COO, not {form}"
        raise TypeError(text)
    if form == "bsr":
        return bsr_array((blocks, indices, indptr), shape=shape)
    return bsr_array((blocks.transpose(0, 2, 1), indices, indptr), shape=shape[::-1]).T


def _check_coordinates(A: Any) -> None:
    """Raise ValueError if an index of a COO tensor lies outside: PyTorch need not have checked."""
    indices = as_array(A.detach()._indices(), "_indices()")
    for side, (found, size) in enumerate(zip(indices, A.shape, strict=False)):
        if found.size and not 0 <= int(found.min()) <= int(found.max()) < size:
            raise ValueError(
                f"a sparse tensor of shape {tuple(A.shape)} has indices from {int(found.min())} to "
                f"{int(found.max())} in dimension {side}"
            )
