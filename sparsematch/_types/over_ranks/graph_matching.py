"""The result of engines for general graphs over ranks: each has the mates of its own vertices."""

from dataclasses import dataclass

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._types.graph_matching import GraphMatching
from sparsematch._types.mates import GraphMates
from sparsematch._types.over_ranks.agreement import collect
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import call_on
from sparsematch._types.run_info import RunInfo


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DistributedGraphMatching(GraphMates, DistributedMatching):
    """A set of edges of a graph over ranks, no two at the same vertex.

    On each rank the mates of its own vertices, which are its rows. `is_matching`, `is_maximal` and
    `permute_and_redistribute` take it like a `DistributedMatching` of the symmetric matrix.

    Attributes
    ----------
    row_mate : ndarray of int32 or int64, shape (own rows,)
        ``row_mate[k]`` is the vertex matched with ``first_row + k``, or -1. It is called `mate` as
        well.
    col_mate : ndarray of int32 or int64, shape (own columns,)
        The same for ``first_col + k``: where ranks own other columns than rows, other mates.
    layout : DistributedCSR
        The matrix, with the rows and columns that each rank owns.
    weight : float
        The sum of the magnitudes of the matched edges of all ranks; without weights, the number of
        pairs. On another number of ranks its last digits may differ, as it is added up in another
        order.
    guarantee : float
        The weight is at least this share of the greatest that a matching can have.
    info : RunInfo
        The engine that ran, and its account: ``info.steps[0].phases`` are the rounds.

    Examples
    --------
    On a single process, which owns all:

    >>> from scipy.sparse import csr_array
    >>> from sparsematch import DistributedCSR, approximate_matching
    >>> G = csr_array([[0, 5, 1, 0], [5, 0, 3, 0], [1, 3, 0, 2], [0, 0, 2, 0]])
    >>> matching = approximate_matching(DistributedCSR.from_local(None, G))
    >>> matching
    DistributedGraphMatching(4 vertices, cardinality 2, weight 7)
    >>> matching.mate.tolist(), matching.guarantee
    ([1, 0, 3, 2], 0.5)
    """

    weight: float
    guarantee: float
    info: RunInfo

    def gather(self) -> GraphMatching:
        """Return the matching of the whole graph, on every rank. Collective.

        It is of size n.
        """
        here = self.get().mate
        what = f"gather of {self.cardinality} pairs of weight {self.weight!r}"
        parts = collect(self.layout.comm, call_on(self.layout, what), lambda: here)
        mate = namespace(self.mate).asarray(np.concatenate(parts))
        return GraphMatching(mate, mate, self.weight, self.guarantee, self.info).freeze()
