"""Mates of rows, sent to the owners of the columns of the same numbers."""

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.mpi.core.exchange import Connect, Exchange, abort_on_error
from sparsematch._types.over_ranks.matrix import DistributedCSR


def mates_by_column(A: DistributedCSR, mate: IndexArray, connect: Connect = Exchange) -> IndexArray:
    """Return the mates of the own columns, which other ranks may own as rows. Collective.

    Where ranks own the same rows and columns, the array given. Time: O(own rows + columns).
    """
    if np.array_equal(A.row_starts, A.col_starts):
        return mate
    with abort_on_error(A.comm):
        xp = namespace(mate)
        rows = xp.arange(A.own_rows.start, A.own_rows.stop, dtype=mate.dtype)
        cols, mates = connect(A.comm, xp).alltoallv(A.col_starts, rows, mate)
        by_column: IndexArray = xp.empty_like(mates)
        by_column[cols - A.first_col] = mates
        return by_column
