"""Mates of rows, sent to the owners of the columns of the same numbers."""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._types.arrays import IndexArray
from sparsematch._types.over_ranks.matrix import DistributedCSR


def mates_by_column(A: DistributedCSR, mate: IndexArray) -> IndexArray:
    """Return the mates of the own columns, which other ranks may own as rows. Collective.

    Where ranks own the same rows and columns, the array given. Time: O(own rows + columns).
    """
    if np.array_equal(A.row_starts, A.col_starts):
        return mate
    with abort_on_error(A.comm):
        rows = np.array(A.own_rows, mate.dtype)
        cols, mates = Exchange(A.comm).alltoallv(A.col_starts, rows, mate)
        by_column = np.empty_like(mates)
        by_column[cols - A.first_col] = mates
        return by_column
