"""What is known by row, brought to the owners of the columns of the same numbers."""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange, finishing
from sparsematch._types.arrays import IndexArray
from sparsematch._types.over_ranks.matrix import DistributedCSR


def mates_by_column(A: DistributedCSR, mate: IndexArray) -> IndexArray:
    """Return the mates of the own columns, which other ranks may have as rows. Collective.

    Where ranks own the same rows and columns, they are the ones given. Time: O(own rows + columns).
    """
    if np.array_equal(A.row_starts, A.col_starts):
        return mate
    with finishing(A.comm):
        rows = np.array(A.own_rows, mate.dtype)
        cols, mates = Exchange(A.comm).deliver(A.col_starts, rows, mate)
        by_column = np.empty_like(mates)
        by_column[cols - A.first_col] = mates
        return by_column
