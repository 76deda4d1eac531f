"""The square part of the coarse decomposition, while its blocks are searched for."""

from dataclasses import dataclass
from typing import Any

from sparsematch._base.arrays import IndexArray
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
