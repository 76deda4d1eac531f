"""A symmetric matrix as a general graph: a vertex for each row, an edge for two entries.

The weight of an edge is the absolute value of its entries; the diagonal is no edge. Only the
structure is checked where a graph is read; whether both triangles agree, and the values are finite,
the back-end finds in one pass (`validate_graph`).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray, on_gpu

#: Least share of the greatest weight in a matching by local max; of most pairs in a maximal one.
GUARANTEE = 0.5


@dataclass(frozen=True, slots=True)
class Graph:
    """Lists of neighbours in compressed rows, each edge in those of both its ends."""

    n: int  #: Number of vertices.
    #: C-contiguous: the neighbours of vertex v are ``indices[indptr[v]:indptr[v + 1]]``, in
    #: ascending order, without duplicates. Loops are skipped when they are read.
    indptr: IndexArray
    indices: IndexArray
    #: Float64 (on a GPU also float32), shape (nnz,); absolute values count. None: all alike.
    weight: FloatArray | None
    backend: str  #: Where the arrays live.
    nnz: int  #: Number of entries; of all vertices twice that of the edges plus that of the loops.

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the indices, hence of the mates."""
        return self.indptr.dtype

    @property
    def first_row(self) -> int:
        """The vertex of the first list."""
        return 0

    def get(self) -> Self:
        """Return the graph in host memory: itself, or a copy of one on a GPU."""
        if not on_gpu(self.indptr):
            return self
        arrays: Any = {name: getattr(self, name) for name in ("indptr", "indices", "weight")}
        here: Any = {name: None if array is None else array.get() for name, array in arrays.items()}
        return replace(self, **here, backend="numpy")


class GraphProperties(NamedTuple):
    """What one pass over the entries finds about a graph, or about the part of a rank."""

    #: Whether the neighbours of each vertex ascend strictly: there are no duplicates.
    ascending: bool
    finite: bool  #: Whether all weights off the diagonal are.
    #: Fingerprint of entries above the diagonal less below, modulo 2**64; parts sum to the whole's.
    balance: int

    @property
    def symmetric(self) -> bool:
        """Whether each entry has a partner of the same absolute value across the diagonal."""
        # Where both triangles differ it says so, but for one case in 2**64.
        return not self.balance
