"""The result of engines for general graphs: both sides are the same vertices."""

from dataclasses import dataclass
from typing import Any

from sparsematch._base.arrays import namespace
from sparsematch._types.matching import Matching
from sparsematch._types.mates import GraphMates
from sparsematch._types.run_info import RunInfo


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GraphMatching(GraphMates, Matching):
    """A set of edges of a graph, no two at the same vertex.

    It is a `Matching` of the symmetric matrix: ``row_mate`` and ``col_mate`` are one array, called
    `mate` as well.

    Attributes
    ----------
    weight_sum : float, or array of shape () on a GPU
        What `weight` returns.
    guarantee : float
        The weight is at least this share of the greatest that a matching can have (without weights:
        the number of pairs). 0.5, or 0.0 from an engine that promises nothing about the weight.
    info : RunInfo
        The engine that ran, and its account: ``info.steps[0].phases`` are the rounds.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import approximate_matching
    >>> G = csr_array([[0, 5, 1, 0], [5, 0, 3, 0], [1, 3, 0, 2], [0, 0, 2, 0]])
    >>> matching = approximate_matching(G)
    >>> matching
    GraphMatching(4 vertices, cardinality 2, weight 7)
    >>> matching.mate.tolist(), matching.guarantee
    ([1, 0, 3, 2], 0.5)
    """

    weight_sum: Any
    guarantee: float
    info: RunInfo

    @property
    def weight(self) -> float:
        """The sum of the magnitudes of the matched edges; without weights, the number of pairs."""
        return float(self.weight_sum)

    @property
    def cardinality(self) -> int:
        """Number of matched pairs, counted each time: O(n)."""
        return int(namespace(self.mate).count_nonzero(self.mate >= 0)) // 2
