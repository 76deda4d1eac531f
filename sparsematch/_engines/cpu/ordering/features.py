"""Features of a matrix: statistics of its degrees and of its order, each a part of a pass."""

from typing import NamedTuple

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._types.bipartite import BipartiteCSR


class DegreeStatistics(NamedTuple):
    """Of the degrees of one side.

    Attributes
    ----------
    mean : float
    variation : float
        The variance over the mean: 0 where all are equal, 1 in random graphs.
    ones : float
        The fraction of degree one.
    empty : int
        How many have none.
    """

    mean: float
    variation: float
    ones: float
    empty: int


def _statistics(n: int, entries: int, squares: int, ones: int, empty: int) -> DegreeStatistics:
    mean = entries / n if n else 0.0
    variation = squares / entries - mean if entries else 0.0
    return DegreeStatistics(mean, variation, ones / max(n, 1), empty)


def degree_statistics(graph: BipartiteCSR, workers: int = 1) -> DegreeStatistics:
    """Return the statistics of the majors' degrees. Time: O(n_major)."""
    return _statistics(*_core.degree_statistics(graph.indptr, workers))


def minor_statistics(graph: BipartiteCSR, workers: int = 1) -> DegreeStatistics:
    """Return those of the minors' degrees, by a sample of 1024 to 2048 if there are more.

    Time: O(nnz), at the speed of a stream.
    """
    return _statistics(*_core.column_statistics(csr(graph), workers))


class OrderSigns(NamedTuple):
    """What a sample of 512 pairs of neighbouring majors tells about their order.

    Attributes
    ----------
    pairs : int
        Those of which both have entries.
    near, far : float
        The median distance of their middle entries, in minors; that of the middle entries of two
        majors that are far apart.
    ascending : bool
        Whether the majors' degrees ascend, and are not all equal.
    """

    pairs: int
    near: float
    far: float
    ascending: bool

    def are_near(self, share: float) -> bool:
        """Tell whether the median distance is below this share of that of any two majors.

        True where there are too few pairs to tell.
        """
        few = 16
        return self.pairs < few or self.near < share * self.far


def order_signs(graph: BipartiteCSR) -> OrderSigns:
    """Return what a sample tells about the order of the majors. Time: O(1)."""
    return OrderSigns(*_core.order_signs(csr(graph)))


def shared_pair_density(graph: BipartiteCSR, workers: int = 1) -> float:
    """Return with how many others a major shares two minors on average, by a sample.

    Time: O(n_minor + nnz / 16).
    """
    return _core.shared_pair_density(csr(graph), workers)


def has_locality(graph: BipartiteCSR, density: float, workers: int = 1) -> bool:
    """Tell whether a major shares two minors with so many others, and not by chance.

    Time: that of `shared_pair_density`.
    """
    by_chance = graph.n_major * (graph.nnz / graph.n_major) ** 4 / graph.n_minor**2
    return shared_pair_density(graph, workers) >= max(density, by_chance)
