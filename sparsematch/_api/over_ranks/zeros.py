"""Matrices over ranks without their stored zeros."""

from sparsematch._base.compressed import as_one_type, check_values
from sparsematch._input.zeros import check_choice, no_values, split_zeros
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def entries_of(A: DistributedCSR, explicit_zeros: str) -> DistributedCSR:
    """Return the matrix itself, or its pattern without stored zeros, which is collective.

    No rank sends any of its entries. Raises ValueError on all ranks if there are no values.
    """
    if explicit_zeros == "keep":
        return A
    with agreed(A, "the drop of stored zeros", explicit_zeros=explicit_zeros):
        check_choice(explicit_zeros)
        if A.values is None:
            raise no_values("A")
        shape = A.indptr.size - 1, A.n_cols
        arrays = as_one_type(A.indptr, A.indices, shape, "A")
        backend = "cupy" if A.backend == "nccl" else "numpy"
        rows = BipartiteCSR(*shape, *arrays, backend, known_nnz=A.local_nnz)
        check_values(A.values, rows.nnz, "A")
        kept, _ = split_zeros(rows, A.values[: rows.nnz])
    indices = kept.indices[: kept.nnz]
    return DistributedCSR(A.comm, kept.indptr, indices, A.first_row, A.shape)
