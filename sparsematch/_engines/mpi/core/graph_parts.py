"""What is known of a graph, and of a matching of it, from the parts that ranks have."""

import math

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.mpi.core.exchange import abort_on_error, exchange_of
from sparsematch._engines.registry import Run, operations
from sparsematch._types.graph import GraphProperties
from sparsematch._types.over_ranks.graph_part import GraphPart
from sparsematch._types.over_ranks.matrix import DistributedCSR


def validate_graph(part: GraphPart, run: Run) -> GraphProperties:
    """Return the properties, found in one pass over the own entries. Collective.

    Time: O(own rows + entries).
    """
    with abort_on_error(part.layout.comm):
        exchange = exchange_of(part.layout.comm, part.indptr)
        own = exchange.allgather(_operations(part).part_properties(part, run))
        ascending, finite, balance = zip(*own, strict=True)
        return GraphProperties(
            ascending=all(ascending), symmetric=sum(balance) % 2**64 == 0, finite=all(finite)
        )


def matched_weight(part: GraphPart, mate: IndexArray) -> float:
    """Return the sum of the magnitudes of the matched edges. Collective.

    Time: O(own rows log(degree)).
    """
    with abort_on_error(part.layout.comm):
        own = _operations(part).part_weight(part, mate)
        return math.fsum(exchange_of(part.layout.comm, mate).allgather(own))


def mates_by_column(A: DistributedCSR, mate: IndexArray) -> IndexArray:
    """Return the mates of the own columns, which other ranks may own as rows. Collective.

    Where ranks own the same rows and columns, the array given. Time: O(own rows + columns).
    """
    if np.array_equal(A.row_starts, A.col_starts):
        return mate
    with abort_on_error(A.comm):
        xp = namespace(mate)
        rows = xp.arange(A.own_rows.start, A.own_rows.stop, dtype=mate.dtype)
        cols, mates = exchange_of(A.comm, mate).alltoallv(A.col_starts, rows, mate)
        by_column: IndexArray = xp.empty_like(mates)
        by_column[cols - A.first_col] = mates
        return by_column


def _operations(part: GraphPart) -> GraphPartOps:
    """Return those of the memory of the part."""
    return operations(GraphPartOps, "numpy" if namespace(part.indptr) is np else "cupy")
