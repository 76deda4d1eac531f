"""Koenig's cover over GPUs, from the forest of a search that finds no path."""

from sparsematch._base.arrays import namespace
from sparsematch._engines.mpi.core.exchange import abort_on_error
from sparsematch._engines.mpi.core.steps import Account
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching.forest import Forest
from sparsematch._types.labels import VertexCover
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR


def vertex_cover(A: DistributedCSR, given: DistributedMatching) -> VertexCover | None:
    """Return the own part of the cover, or None on all ranks if there is a path. Collective.

    Rows not reached by alternating paths from free rows, and columns reached. Time: O(own vertices
    and entries), and two exchanges a level.
    """
    with abort_on_error(A.comm):
        xp = namespace(A.indptr)
        exchange = Exchange(A.comm, xp)
        forest = Forest(A, given.row_mate, given.col_mate, exchange, Account())
        if forest.plant() and forest.grow():
            return None
        rows, cols = given.row_mate >= 0, xp.empty(len(A.own_cols), bool)
        forest.cover(rows, cols)
        places = xp.flatnonzero(rows) + A.first_row, xp.flatnonzero(cols) + A.first_col
        return VertexCover(*(side.astype(A.dtype) for side in places))
