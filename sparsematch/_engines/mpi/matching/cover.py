"""Koenig's cover over ranks, from the forest of a search that finds no path."""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.matching.forest import Forest
from sparsematch._types.labels import VertexCover
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR


def vertex_cover(A: DistributedCSR, given: DistributedMatching) -> VertexCover | None:
    """Return the own part of the cover, or None on all ranks if there is a path. Collective.

    Rows not reached by alternating paths from free rows, and columns reached. Time: O(own vertices
    and entries), and two exchanges a level.
    """
    with abort_on_error(A.comm):
        side = Side.of_rows(A, Exchange(A.comm))
        forest = Forest(side, given.row_mate, given.col_mate, prune=False)
        forest.plant()
        if forest.grow():
            return None
        rows = np.flatnonzero(forest.major_tree < 0) + A.first_row
        cols = np.flatnonzero(forest.minor_tree >= 0) + A.first_col
        return VertexCover(rows.astype(A.dtype), cols.astype(A.dtype))
