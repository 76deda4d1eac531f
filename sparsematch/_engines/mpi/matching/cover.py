"""Koenig's cover over ranks, from one forest that no path interrupts."""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange, finishing
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.matching.forest import Forest
from sparsematch._types.labels import VertexCover
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR


def vertex_cover(A: DistributedCSR, given: DistributedMatching) -> VertexCover | None:
    """Return the own part of the cover, or None on all ranks if there is a path. Collective.

    Rows that no alternating path from a free row reaches, and columns that one does. Time: O(own
    vertices and entries), and two exchanges a level.
    """
    with finishing(A.comm):
        side = Side.of_rows(A, Exchange(A.comm))
        forest = Forest(side, given.row_mate, given.col_mate, prune=False)
        forest.plant()
        if forest.grow():
            return None
        rows = np.flatnonzero(forest.major_tree < 0) + A.first_row
        cols = np.flatnonzero(forest.minor_tree >= 0) + A.first_col
        return VertexCover(rows.astype(A.dtype), cols.astype(A.dtype))
