"""Features by which an engine is chosen: samples of a graph, and a pass over its degrees."""

from typing import NamedTuple

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.lazy import lazy_attribute

#: From this spread on few majors have most of the entries.
SKEWED_SPREAD = 4.0

#: Degrees of less variance than this times their mean are even, as in a mesh: in random graphs the
#: variance is the mean.
EVEN_VARIANCE = 0.5

#: Other majors with which a major shares two minors: a mesh has several, a random graph hardly any.
MESH_PAIR_DENSITY = 0.25

#: A mesh has hardly any majors of degree one: fewer than this share.
DEGREE_ONE_SHARE = 0.1

#: Where there are so many more minors, some are left free near every free major.
SURPLUS = 1.04

#: Minors of degree one that are this share of all begin chains that lead through much of the graph.
#: Where so many majors are such, their neighbours are matched in one pass.
PEELING_SHARE, LEAVES_SHARE = 0.02, 0.4

#: Of longer lists, it is not worth counting the minors of degree one.
PEELING_DEGREE = 20.0

#: From this ratio of the sides on nearly all vertices of the smaller one find a free neighbour.
LOPSIDED = 2.0

#: Of fewer majors, or pairs of a sample, nothing is said about their order.
FEW_MAJORS, FEW_PAIRS = 1024, 16

#: Neighbouring majors have neighbouring minors if these are so much nearer to each other than those
#: of any two majors.
NEAR = 0.05

#: Up to so many entries for each vertex, what is left of a graph without its leaves is chains.
THIN = 1.2

#: From this mean degree on, locality is looked for where degrees are not even.
LOCAL_DEGREE = 8.0

#: Majors are clustered if one shares two minors with so many others for each of its entries. What
#: is free is near then.
CLUSTERED = 0.5

#: From this mean degree on, a depth-first search has so much choice that most are brief. From the
#: second one on, a pass over all entries is much work beside what finds a free minor.
LONG_LISTS, VERY_LONG_LISTS = 24.0, 64.0

#: Random points in space have degrees of less spread. From it on, unless they are skewed,
#: Karp-Sipser leaves a small core.
UNEVEN_SPREAD = 1.35

#: So it does at any spread up to this mean degree.
CORE_DEGREE = 6.0


class DegreeStatistics(NamedTuple):
    """Of the majors' degrees.

    Attributes
    ----------
    mean : float
    spread : float
        The mean square over the squared mean: in random graphs 1 + 1 / mean.
    ones : float
        The fraction of degree one.
    empty : int
        How many have none.
    """

    mean: float
    spread: float
    ones: float
    empty: int

    @property
    def are_skewed(self) -> bool:
        """Whether few majors have most of the entries."""
        return self.spread > SKEWED_SPREAD

    @property
    def are_even(self) -> bool:
        """Whether they vary less than those of a random graph."""
        return (self.spread - 1) * self.mean < EVEN_VARIANCE


def _statistics(n: int, entries: int, squares: int, ones: int, empty: int) -> DegreeStatistics:
    mean = entries / n if n else 0.0
    return DegreeStatistics(mean, squares / n / mean**2 if mean else 1.0, ones / max(n, 1), empty)


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


def order_signs(graph: BipartiteCSR) -> OrderSigns:
    """Return what a sample tells about the order of the majors. Time: O(1)."""
    return OrderSigns(*_core.order_signs(csr(graph)))


def is_ordered(graph: BipartiteCSR, signs: OrderSigns | None = None) -> bool:
    """Tell whether neighbouring rows have neighbouring columns, or no sample can tell."""
    if graph.n_major < FEW_MAJORS:
        return True
    signs = signs or order_signs(graph)
    return signs.pairs < FEW_PAIRS or signs.near < NEAR * signs.far


def shared_pair_density(graph: BipartiteCSR, workers: int = 1) -> float:
    """Return with how many others a major shares two minors on average, by a sample.

    Time: O(n_minor + nnz / 16).
    """
    return _core.shared_pair_density(csr(graph), workers)


def has_locality(graph: BipartiteCSR) -> bool:
    """Tell whether majors share minors with each other as in a mesh, and not by chance.

    Time: that of `shared_pair_density`.
    """
    by_chance = graph.n_major * (graph.nnz / graph.n_major) ** 4 / graph.n_minor**2
    return shared_pair_density(graph) >= max(MESH_PAIR_DENSITY, by_chance)


class Features:
    """What `auto` asks about a graph, each found when it is first needed."""

    def __init__(self, graph: BipartiteCSR) -> None:
        self.graph = graph

    @lazy_attribute
    def order(self) -> OrderSigns:
        """What the order of the majors is like."""
        return order_signs(self.graph)

    @property
    def ordered(self) -> bool:
        """Whether neighbouring rows have neighbouring columns, or no sample can tell."""
        return is_ordered(self.graph, self.order)

    @property
    def lopsided(self) -> bool:
        """Whether one side has so many more vertices that nearly all of the other find one."""
        few, many = sorted(self.graph.shape)
        return many >= LOPSIDED * few

    @property
    def ascending(self) -> bool:
        """Whether the majors are sorted by degree, so that the first ones have least choice."""
        return self.order.ascending

    @lazy_attribute
    def degrees(self) -> DegreeStatistics:
        """What the degrees of the majors are like."""
        return degree_statistics(self.graph)

    @lazy_attribute
    def minors(self) -> DegreeStatistics:
        """What those of the minors are like, by a sample."""
        return minor_statistics(self.graph)

    @lazy_attribute
    def even(self) -> bool:
        """Whether the degrees of both sides vary less than those of a random graph."""
        return self.degrees.are_even and self.minors.are_even

    @property
    def has_loose_ends(self) -> bool:
        """Whether many majors have degree one, as in trees and road networks."""
        return self.degrees.ones >= DEGREE_ONE_SHARE

    @property
    def has_core(self) -> bool:
        """Whether Karp-Sipser is likely to leave a small core."""
        degrees = self.degrees
        return degrees.mean <= CORE_DEGREE or not (
            degrees.are_skewed or degrees.spread < UNEVEN_SPREAD
        )

    @lazy_attribute
    def may_peel(self) -> bool:
        """Whether minors that come down to degree one lead through much of the graph.

        Majors of degree one come first in `min_degree`, too; minors do not.
        """
        degrees, graph = self.degrees, self.graph
        if not self.has_core or degrees.mean > PEELING_DEGREE or degrees.are_skewed:
            return False
        if degrees.ones >= LEAVES_SHARE or graph.n_minor >= SURPLUS * graph.n_major:
            return False
        if self.thin and degrees.ones < PEELING_SHARE:
            return True
        return self.minors.ones >= PEELING_SHARE and not self.clustered

    @property
    def clustered(self) -> bool:
        """Whether most of the majors near a major share several minors with each other."""
        return shared_pair_density(self.graph) >= CLUSTERED * self.degrees.mean

    @property
    def has_long_lists(self) -> bool:
        """Whether most lists are so long that depth-first searches are brief."""
        return self.graph.nnz >= LONG_LISTS * self.graph.n_major and not self.degrees.are_skewed

    @property
    def has_very_long_lists(self) -> bool:
        """Whether most lists are so long that a pass over all entries is much work."""
        return self.has_long_lists and self.degrees.mean >= VERY_LONG_LISTS

    @property
    def forest(self) -> bool:
        """Whether there are no more entries than vertices: few cycles, few paths to choose from."""
        return self.graph.nnz <= self.graph.n_rows + self.graph.n_cols

    @property
    def thin(self) -> bool:
        """Whether there are hardly more entries than vertices: chains with few branches."""
        return self.graph.nnz <= THIN * (self.graph.n_rows + self.graph.n_cols)

    @lazy_attribute
    def like_a_mesh(self) -> bool:
        """Whether it is worth finding out how far vertices are from each other."""
        if self.graph.n_rows != self.graph.n_cols or self.has_loose_ends or self.thin:
            return False
        if self.even:
            return True
        local = self.degrees.mean >= LOCAL_DEGREE and self.degrees.spread < UNEVEN_SPREAD
        return local and has_locality(self.graph)
