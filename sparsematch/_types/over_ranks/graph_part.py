"""The rows of one rank of a general graph, and what the back-end of its memory does with them."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.graph import Graph, as_graph, read_weights
from sparsematch._types.over_ranks.matrix import DistributedCSR

_INT32_MAX = 2**31 - 8


@dataclass(frozen=True, slots=True)
class GraphPart(Graph):
    """Consecutive rows of a graph over ranks.

    `n` counts the vertices of the whole; the arrays are those of the own rows, with neighbours
    numbered within the whole.

    Attributes
    ----------
    layout : DistributedCSR
        The matrix, which says who owns what.
    """

    layout: DistributedCSR


class PartProperties(NamedTuple):
    """What one pass over the own entries finds about a graph; see `GraphProperties`.

    Attributes
    ----------
    ascending, finite : bool
        As there, of the own rows.
    balance : int
        The fingerprint of the own entries above the diagonal less that of those below, modulo
        2**64. If the balances of all ranks add up to 0, the graph is symmetric.
    """

    ascending: bool
    finite: bool
    balance: int


#: Of equal length: vertices of other ranks, and what they are told, a vertex v of this rank: v if
#: it points at the former, ~v if it is matched. At last, how many entries were scanned.
Messages = tuple[IndexArray, IndexArray, int]


class LocalMaxPart(Protocol):
    """Local max on the vertices of one rank. What is done with its arrays is up to the caller."""

    def start(self, workers: int, /) -> Messages:
        """Match what needs no message, with so many threads."""

    def receive(self, to: IndexArray, what: IndexArray, /) -> Messages:
        """Go on with the messages of other ranks."""

    def mates(self, mate: IndexArray, /) -> None:
        """Write the mates of the own vertices."""


def as_graph_or_part(G: Any, *, weights: bool = True, device: str | None = None) -> Graph:
    """View a matrix as a graph, one over ranks too; see `as_graph`. No rank waits for another."""
    if not isinstance(G, DistributedCSR):
        return as_graph(G, weights=weights, device=device)
    as_bipartite(G, name="G", device=device, distributed=True)
    if G.n_rows != G.n_cols:
        raise ValueError(f"G has shape {G.shape}, but the matrix of a graph must be square")
    if weights and G.values is None:
        raise ValueError(
            "G has no values, which are the weights: give it some, or weights=False, by which all "
            "edges weigh the same"
        )
    weight = read_weights(G.values, G.local_nnz, "G") if weights else None
    # the same type on all ranks, which send each other numbers
    dtype = G.dtype if G.largest_nnz <= _INT32_MAX else np.dtype(np.int64)
    xp = namespace(G.indptr)
    indptr, indices = (
        xp.ascontiguousarray(a.astype(dtype, copy=False)) for a in (G.indptr, G.indices)
    )
    return GraphPart(G.n_rows, indptr, indices, weight, G.backend, G.local_nnz, G)
