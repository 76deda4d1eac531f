"""What one rank may match alone, in host memory."""

import numpy as np

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Size up to which a matrix, or what is left of one, is gathered on rank 0; vertices and entries;
#: about 30 MB of workspace there.
GATHERED = 1_000_000


def is_small(A: DistributedCSR) -> bool:
    """Tell whether a matrix is gathered."""
    return A.n_rows + A.n_cols + A.nnz <= GATHERED


def local_pattern(indptr: IndexArray, indices: Array, shape: tuple[int, int]) -> BipartiteCSR:
    """View index arrays as a matrix of this process; both get the type of `indices`."""
    indptr = np.ascontiguousarray(indptr, indices.dtype)
    return BipartiteCSR(*shape, indptr, np.ascontiguousarray(indices))
