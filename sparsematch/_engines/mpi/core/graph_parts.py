"""Properties of a graph, and the weight of a matching, from those of the parts that ranks have."""

import math

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.mpi.core.exchange import Connect, Exchange, abort_on_error
from sparsematch._engines.registry import Run, operations
from sparsematch._types.graph import GraphProperties
from sparsematch._types.over_ranks.graph_part import GraphPart


def validate_graph(part: GraphPart, run: Run, connect: Connect = Exchange) -> GraphProperties:
    """Return the properties, found in one pass over the own entries. Collective.

    Time: O(own rows + entries).
    """
    with abort_on_error(part.layout.comm):
        exchange = connect(part.layout.comm, namespace(part.indptr))
        own = exchange.allgather(_operations(part).part_properties(part, run))
        ascending, finite, balance = zip(*own, strict=True)
        return GraphProperties(
            ascending=all(ascending), symmetric=sum(balance) % 2**64 == 0, finite=all(finite)
        )


def matched_weight(part: GraphPart, mate: IndexArray, connect: Connect = Exchange) -> float:
    """Return the sum of the magnitudes of the matched edges. Collective.

    Time: O(own rows log(degree)).
    """
    with abort_on_error(part.layout.comm):
        own = _operations(part).part_weight(part, mate)
        return math.fsum(connect(part.layout.comm, namespace(mate)).allgather(own))


def _operations(part: GraphPart) -> GraphPartOps:
    """Return those of the memory of the part."""
    return operations(GraphPartOps, "numpy" if namespace(part.indptr) is np else "cupy")
