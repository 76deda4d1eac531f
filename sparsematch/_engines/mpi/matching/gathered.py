"""Which matrices rank 0 gathers."""

from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Size up to which a matrix is gathered; rows + columns + entries; about 30 MB of workspace on rank
#: 0, whatever the matrix.
GATHERED = 1_000_000


def is_small(A: DistributedCSR) -> bool:
    """Tell whether a matrix is gathered."""
    return A.n_rows + A.n_cols + A.nnz <= GATHERED
