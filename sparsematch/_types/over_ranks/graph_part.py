"""The rows of one rank of a general graph, and what the back-end of its memory does with them."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

from sparsematch._base.arrays import IndexArray
from sparsematch._types.graph import Graph
from sparsematch._types.over_ranks.matrix import DistributedCSR


@dataclass(frozen=True, slots=True)
class GraphPart(Graph):
    """Consecutive rows of a graph over ranks.

    `n` counts the vertices of the whole; the arrays are those of the own rows, with neighbours
    numbered within the whole.
    """

    layout: DistributedCSR  #: The matrix, with the rows and columns that each rank owns.

    @property
    def first_row(self) -> int:
        """The vertex of the first own row."""
        return self.layout.first_row

    def get(self) -> Self:
        """Return the part in host memory, as that of a matrix there."""
        return replace(Graph.get(self), backend="mpi", layout=self.layout.get())


#: Of equal length: vertices of other ranks, and what they are told, a vertex v of this rank: v if
#: it points at the former, ~v if it is matched. At last, how many entries were scanned.
Messages = tuple[IndexArray, IndexArray, int]


class LocalMaxPart(Protocol):
    """Local max on the vertices of one rank. What is done with its arrays is up to the caller."""

    def start(self, workers: int, /) -> Messages:
        """Match what needs no message."""

    def receive(self, to: IndexArray, what: IndexArray, /) -> Messages:
        """Go on with the messages of other ranks."""

    def mates(self, mate: IndexArray, /) -> None:
        """Write the mates of the own vertices."""
