"""Matrices over ranks without their stored zeros."""

from typing import get_args

from sparsematch._base.compressed import as_one_type, check_values
from sparsematch._base.errors import check_choice
from sparsematch._input.duplicates import no_values, split_zeros
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import Zeros
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def view(A: DistributedCSR, zeros: str, device: str | None) -> DistributedCSR:
    """Return the matrix, or one without stored zeros; ValueError without values. Collective."""
    with agreed(A, "view", zeros=zeros, device=device):
        check_choice("zeros", zeros, get_args(Zeros))
        if device is not None:
            raise TypeError("A is distributed over ranks, so device must be None")
        if zeros == "keep":
            return A
        if A.values is None:
            raise no_values("A")
        shape, backend = (A.indptr.size - 1, A.n_cols), "cupy" if A.backend == "nccl" else "numpy"
        arrays = as_one_type(A.indptr, A.indices, shape, "A")
        rows = BipartiteCSR(*shape, *arrays, backend, known_nnz=A.local_nnz)
        check_values(A.values, rows.nnz, "A")
        kept, _, values = split_zeros(rows, A.values[: rows.nnz])
    indices = kept.indices[: kept.nnz]
    return DistributedCSR(A.comm, kept.indptr, indices, A.first_row, A.shape, values)
