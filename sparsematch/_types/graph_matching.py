"""The result of engines for general graphs: both sides are the same vertices."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsematch._types.arrays import IndexArray, namespace, on_gpu
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import RunInfo


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GraphMatching(Matching):
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
    def mate(self) -> IndexArray:
        """``mate[v]`` is the vertex matched with v, or -1."""
        return self.row_mate

    @property
    def weight(self) -> float:
        """The sum of the magnitudes of the matched edges; without weights, the number of pairs."""
        return float(self.weight_sum)

    @property
    def cardinality(self) -> int:
        """Number of matched pairs, counted each time: O(n)."""
        return int(namespace(self.mate).count_nonzero(self.mate >= 0)) // 2

    @property
    def is_perfect(self) -> bool:
        """Whether every vertex is matched."""
        return self.mate.size == 2 * self.cardinality

    def pairs(self) -> tuple[IndexArray, IndexArray]:
        """Return the smaller vertex of each pair in ascending order, and the larger ones.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> from sparsematch import maximal_matching
        >>> smaller, larger = maximal_matching(csr_array([[0, 0, 1], [0, 0, 0], [1, 0, 0]])).pairs()
        >>> smaller.tolist(), larger.tolist()
        ([0], [2])
        """
        xp = namespace(self.mate)
        smaller = xp.flatnonzero(self.mate > xp.arange(self.mate.size, dtype=self.mate.dtype))
        smaller = smaller.astype(self.mate.dtype, copy=False)
        return smaller, self.mate[smaller]

    def get(self) -> "GraphMatching":
        """Return the matching in host memory: itself, or a copy of one on a GPU."""
        mate: Any = self.mate
        if not on_gpu(mate):
            return self
        mate = mate.get()
        rest = np.float64(self.weight), self.guarantee, self.info
        return GraphMatching(mate, mate, *rest).freeze()

    def __repr__(self) -> str:
        return (
            f"GraphMatching({self.mate.size} vertices, cardinality {self.cardinality}, weight "
            f"{self.weight:g})"
        )
