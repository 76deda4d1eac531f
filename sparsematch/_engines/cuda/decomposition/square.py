"""The coarse Dulmage-Mendelsohn parts, and the square one while its blocks are searched for.

The vertical part is what free rows reach by alternating paths, the horizontal part what free
columns reach: Dulmage, Mendelsohn, Coverings of bipartite graphs (Canadian J. Math. 10, 1958). The
two searches run at the same time.
"""

from dataclasses import dataclass
from typing import Any

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core.alternating_bfs import COUNTS, SECOND, from_free, reach
from sparsematch._engines.cuda.core.host_fallback import Allowance
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching


@dataclass(slots=True)
class Square:
    """The square part, and what is known of its order."""

    #: The matrix both ways.
    by_row: BipartiteCSR
    by_col: BipartiteCSR
    matching: Matching  #: A maximum one.
    #: Shape (n_rows,). Where in the order a row's segment begins, or its block when that is known;
    #: -1 horizontal part, -2 vertical.
    label: IndexArray
    #: uint32: a bit for each row and column whose block is still to be found.
    rows_in: Any
    cols_in: Any
    allowance: Allowance  #: Levels that all searches together may do.


def coarse_parts(
    by_row: BipartiteCSR, by_col: BipartiteCSR, matching: Matching, allowance: Allowance
) -> tuple[Any, Any]:
    """Return the columns of the vertical part, the rows of the horizontal one, as bits (uint32)."""
    # By searches from all free rows and all free columns; the matching must be maximum. Mates and
    # free vertices of these belong there, too. They are worth nothing if the allowance of levels is
    # used up; whoever waits for the device next finds out. Workspace: an index per row and column.
    # Time: O(n_rows + n_cols + nnz), a barrier per level.
    count = namespace(by_row.indptr).zeros(COUNTS, by_row.dtype)
    from_rows = from_free(by_row, matching.row_mate, matching.col_mate, count)
    from_cols = from_free(by_col, matching.col_mate, matching.row_mate, count[SECOND:])
    reach(from_rows, from_cols, count, allowance=allowance)
    return from_rows.seen, from_cols.seen
