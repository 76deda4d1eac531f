"""The coarse Dulmage-Mendelsohn parts over ranks, by two forests of a maximum matching.

Dulmage, Mendelsohn, Coverings of bipartite graphs (Canadian J. Math. 10, 1958). The vertical part
is reached by alternating paths from the free rows, the horizontal part by those from the free
columns, searched on the transpose; the rest is square.
"""

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.matching.forest import Forest
from sparsematch._types.labels import HORIZONTAL, SQUARE, VERTICAL, CoarseParts
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR


def coarse_parts(A: DistributedCSR, given: DistributedMatching) -> CoarseParts:
    """Return the part of every own vertex; the matching must be maximum. Collective."""
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        row_part = np.full(given.row_mate.size, SQUARE, np.int8)
        col_part = np.full(given.col_mate.size, SQUARE, np.int8)
        rows = Side.of_rows(A, exchange)
        if given.cardinality < A.n_rows:
            forest = Forest(rows, given.row_mate, given.col_mate, prune=False)
            forest.grow()
            row_part[forest.major_tree >= 0] = VERTICAL
            col_part[forest.minor_tree >= 0] = VERTICAL
        if given.cardinality < A.n_cols:
            forest = Forest(rows.flipped(), given.col_mate, given.row_mate, prune=False)
            forest.grow()
            col_part[forest.major_tree >= 0] = HORIZONTAL
            row_part[forest.minor_tree >= 0] = HORIZONTAL
        own = (int(np.count_nonzero(part == x)) for x in range(3) for part in (row_part, col_part))
        counts = exchange.allreduce(*own)
        return CoarseParts(row_part, col_part, tuple(zip(counts[::2], counts[1::2], strict=True)))
