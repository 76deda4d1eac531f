"""Sparse tensors of PyTorch, or of a library with the same methods."""

from typing import Any

from sparsematch._input.dlpack import as_array

#: By the layout of a tensor, the methods that return its pointers and its indices.
_COMPRESSED = {
    "sparse_csr": ("csr", "crow_indices", "col_indices"),
    "sparse_csc": ("csc", "ccol_indices", "row_indices"),
}


def compressed_parts(A: Any) -> tuple[str, tuple[int, ...], Any, Any, Any] | None:
    """Return format, shape and arrays of a tensor, or None if it is no sparse one.

    A COO tensor is coalesced first.
    """
    layout = str(getattr(A, "layout", "")).rpartition(".")[2]
    if layout == "sparse_coo":
        _check_coordinates(A)
        A, layout = A.coalesce().to_sparse_csr(), "sparse_csr"
    if layout not in _COMPRESSED:
        if layout.startswith("sparse_"):
            raise TypeError(
                f"a sparse tensor must be in the layout CSR, CSC or COO, not {A.layout}; "
                "to_sparse_csr() converts it"
            )
        return None
    form, pointers, indices = _COMPRESSED[layout]
    if len(A.shape) != 2:
        raise ValueError(f"a sparse tensor must have two dimensions, not {len(A.shape)}")
    A = A.detach()
    fields = getattr(A, pointers)(), getattr(A, indices)(), A.values()
    arrays = map(as_array, fields, (f"{pointers}()", f"{indices}()", "values()"))
    return form, tuple(A.shape), *arrays


def _check_coordinates(A: Any) -> None:
    """Raise ValueError if an index of a COO tensor lies outside: PyTorch need not have checked."""
    indices = as_array(A.detach()._indices(), "_indices()")
    for side, (found, size) in enumerate(zip(indices, A.shape, strict=False)):
        if found.size and not 0 <= int(found.min()) <= int(found.max()) < size:
            raise ValueError(
                f"a sparse tensor of shape {tuple(A.shape)} has indices from {int(found.min())} to "
                f"{int(found.max())} in dimension {side}"
            )
