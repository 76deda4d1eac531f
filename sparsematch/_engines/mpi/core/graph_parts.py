"""Properties of a graph from those of the parts that ranks have."""

from sparsematch._engines.mpi.core.exchange import Collectives
from sparsematch._types.graph import GraphProperties


def of_all_parts(exchange: Collectives, own: tuple[bool, bool, int]) -> GraphProperties:
    """Return the properties of a graph, given those of the own part. Collective.

    These are: ascending, finite, and a contribution to a sum that is 0 modulo 2**64 if the graph is
    symmetric.
    """
    ascending, finite, balance = zip(*exchange.allgather(own), strict=True)
    return GraphProperties(
        ascending=all(ascending), symmetric=sum(balance) % 2**64 == 0, finite=all(finite)
    )
