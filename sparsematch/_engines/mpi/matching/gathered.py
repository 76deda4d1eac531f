"""Which matrices one rank gathers."""

from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Rows, columns and entries together, up to which a matrix is gathered: some 30 MB of workspace. A
#: constant, so that the memory of that rank is bounded whatever the matrix.
GATHERED = 1_000_000


def is_small(A: DistributedCSR) -> bool:
    """Tell whether a matrix is gathered."""
    return A.n_rows + A.n_cols + A.nnz <= GATHERED
