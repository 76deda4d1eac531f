"""Features of a matrix: statistics of its degrees and of its order, each a part of a pass."""

from typing import TYPE_CHECKING

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._types.bipartite import BipartiteCSR

if TYPE_CHECKING:
    from sparsematch._engines.cpu._core import DegreeStatistics, OrderFeatures


def degree_statistics(graph: BipartiteCSR, workers: int = 1) -> "DegreeStatistics":
    """Return the statistics of the degrees of the stored rows. Time: O(n_major)."""
    return _core.degree_statistics(csr(graph), _most(workers, graph.n_major))


def minor_statistics(graph: BipartiteCSR, workers: int = 1) -> "DegreeStatistics":
    """Return those of the stored columns, by a sample of 1024 to 2048 if there are more."""
    return _core.column_statistics(csr(graph), _most(workers, graph.nnz))


def order_features(graph: BipartiteCSR) -> "OrderFeatures":
    """Return what a sample tells about the order of the rows. Time: O(1)."""
    return _core.order_features(csr(graph))


def shared_pair_density(graph: BipartiteCSR, workers: int = 1) -> float:
    """Return with how many other stored rows one shares two columns on average, by a sample."""
    return _core.shared_pair_density(csr(graph), _most(workers, graph.nnz // 4))


def has_locality(graph: BipartiteCSR, density: float, workers: int = 1) -> bool:
    """Tell whether a stored row shares two columns with `density` others, and not by chance."""
    by_chance = graph.n_major * (graph.nnz / graph.n_major) ** 4 / graph.n_minor**2
    return shared_pair_density(graph, workers) >= max(density, by_chance)


def _most(workers: int, work: int) -> int:
    """Return how many workers there is work for, in entries or rows: 2^18 repay waking a thread."""
    return max(1, min(work >> 18, workers))
