"""Strong components over ranks, in topological order.

Slota, Rajamanickam, Madduri, BFS and coloring-based parallel algorithms for strongly connected
components and related problems (IPDPS 2014): trimming, then one forward and one backward search
from a vertex of large degree, which finds a giant component if there is one, then colouring, and a
sequential algorithm for what is small in the end. Fleischer, Hendrickson, Pinar, On identifying
strongly connected components in parallel (IRREGULAR 2000), for the two searches.

Every vertex has a place in an order. Those that may still be in one component with each other are a
class: their places are consecutive, and no edge leads from a class to an earlier one. Each step
splits classes, in topological order:

- trimming: what has no predecessor in its class, by levels; the rest; what has no successor
- two searches from a pivot: what leads to it; its component; what has to do with neither; what is
  reached from it
- colouring: every place is a label, and each vertex gets the largest of those that lead to it.
  Labels ascend along edges; the vertices of a label that lead to the one at this place are a
  component, and nothing of their label is before it.

Places are drawn at random within a class, so that a chain of components is halved by each
colouring, expected. Invariant: edges are kept within classes only, in both directions.
"""

from typing import NamedTuple

import numpy as np

from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.decomposition import small_rest
from sparsematch._engines.mpi.decomposition.pair_graph import keep_within
from sparsematch._engines.mpi.decomposition.places import Places
from sparsematch._engines.rank_operations import RankOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import BoolArray, IndexArray


class Order(NamedTuple):
    """A topological order of the strong components.

    Attributes
    ----------
    place : ndarray of int32 or int64
        The place of each own vertex, -1 for rows that are none.
    start : ndarray of int32 or int64
        The first place of its component.
    places : Places
        Who owns a place.
    """

    place: IndexArray
    start: IndexArray
    places: Places


def strong_components(successors: Side, is_vertex: BoolArray, seed: int) -> Order:
    """Return a topological order of the components. Collective.

    The lists are overwritten. Time: O(own edges) for each trimming and splitting, of which there
    are O(log n) expected but for graphs made against it. Workspace: as much again as the lists.
    """
    search = _Search(successors, is_vertex, seed)
    del successors  # its boundaries are not needed any more
    splits = [search.by_searches]
    while not search.hand_over():
        search.trim()
        if search.hand_over():
            break
        split = splits.pop() if splits else search.by_labels
        split()
    return Order(search.place, search.low, search.places)


class _Search:
    """Places and classes so far.

    Attributes
    ----------
    place, low : ndarray
        The place of each own row, and where its class begins; -1 for rows that are no vertices.
    here : ndarray
        The own rows that may still move.
    """

    def __init__(self, successors: Side, is_vertex: BoolArray, seed: int) -> None:
        self.out, self.exchange = successors, successors.exchange
        self.into: Side | None = None
        self.here = np.flatnonzero(is_vertex).astype(self.out.dtype)
        (n,) = self.exchange.sum(self.here.size)
        self.places = Places(n, self.out.dtype, self.exchange, seed)
        self.place = np.full(self.out.n_majors, -1, self.out.dtype)
        self.low = self.place.copy()
        self.low[self.here] = 0
        self.is_over = False

    def hand_over(self) -> bool:
        """Have the rest done by one rank, if that is small or there is one rank. Collective."""
        if self.is_over:
            return True
        left, edges = self.exchange.sum(self.here.size, self.out.indices.size)
        if self.exchange.size > 1 and left + edges > small_rest.SMALL:
            return False
        if left:
            place, start = small_rest.order_on_one(self.out, self.here, self.low, self.places)
            self.place[self.here], self.low[self.here] = place, start
        self.is_over = True
        return True

    def trim(self) -> None:
        """Give their places to vertices without predecessors, or successors, in their class.

        Collective. Time: O(own vertices), and the edges of what is trimmed.
        """
        if self.into is None:
            self.into = self.out.flipped()
        self._split(*self._trim_keys(), alone=True)
        self._filter()

    def _trim_keys(self) -> tuple[IndexArray, BoolArray]:
        """Return the keys of the vertices after trimming, and which are trimmed."""
        out, into = self._both
        trimmed, level = self._trimmed(out, self._degrees(into, self.here))
        first, keys = trimmed[self.here], self.low[self.here]
        sizes, n_first = self.places.count(keys, first)
        rest = np.flatnonzero(~first).astype(out.dtype)
        begins, ends = (self.places.ask(keys[rest], table) for table in (n_first, sizes))
        keys[first] += level[self.here[first]]
        left = self.here[rest]
        trimmed, level = self._trimmed(into, self._degrees(out, left))
        keys[rest] += np.where(trimmed[left], ends - 1 - level[left], begins)
        first[rest] = trimmed[left]
        return keys, first

    def _degrees(self, side: Side, vertices: IndexArray) -> IndexArray:
        """Return how many entries the lists of some vertices have, and -1 for the others."""
        degree = np.full(side.n_majors, -1, side.dtype)
        degree[vertices] = side.indptr[vertices + 1] - side.indptr[vertices]
        return degree

    def by_searches(self) -> None:
        """Split by what leads to a pivot and by what it leads to. Collective.

        All vertices must be of one class. Time: O(own vertices and edges).
        """
        pivot = self._pivot()
        forward, backward = (self._reached(side, pivot) for side in self._both)
        # what leads to the pivot only, both, neither, what is reached only
        part = np.where(backward, np.where(forward, 1, 0), np.where(forward, 3, 2))
        sizes = self.exchange.sum(*(int(np.count_nonzero(part == k)) for k in range(4)))
        begins = np.cumsum([0, *sizes[:3]]).astype(self.out.dtype)
        self._split(self.low[self.here] + begins[part], part == 1)
        self._filter()

    def by_labels(self) -> None:
        """Split by the largest place that leads to each vertex. Collective.

        Time: O(own vertices and edges), expected, if labels are carried on in order; a vertex is
        met again whenever a larger one comes from another rank.
        """
        self._split(*self._label_keys())
        self._filter()

    def _label_keys(self) -> tuple[IndexArray, BoolArray]:
        """Return the keys of the vertices after colouring, and which are in a component found."""
        label = np.full(self.out.n_majors, -1, self.out.dtype)
        label[self.here] = self.place[self.here]
        self._propagate(self.out, label)
        self._keep(label)
        colour = label[self.here]
        inside = self._reached(self._both[1], self.here[self.place[self.here] == colour])
        sizes, in_block = self.places.count(colour, inside)
        keys = self.places.ask(colour, self.places.starts_of(sizes).astype(self.out.dtype))
        rest = np.flatnonzero(~inside)
        keys[rest] += self.places.ask(colour[rest], in_block)
        return keys, inside

    @property
    def _both(self) -> tuple[Side, Side]:
        """The lists of successors and of predecessors."""
        assert self.into is not None  # trimming comes first
        return self.out, self.into

    def _pivot(self) -> IndexArray:
        """Return the own row with the largest product of degrees of all ranks, if it is here."""
        out, into = (np.diff(side.indptr)[self.here] for side in self._both)
        product = (out + 1.0) * (into + 1.0)
        own = float(product.max()) if product.size else 0.0
        everywhere = self.exchange.small(own)
        if everywhere.index(max(everywhere)) != self.exchange.rank or not product.size:
            return self.here[:0]
        return self.here[[int(product.argmax())]]

    def _trimmed(self, side: Side, count: IndexArray) -> tuple[BoolArray, IndexArray]:
        """Return which own rows are trimmed along these lists, and the level of each."""
        level = np.zeros(side.n_majors, side.dtype)
        self.exchange.converse(
            operations(RankOps, "numpy").trimming(
                side.indptr,
                side.indices,
                count,
                level,
                side.major_starts,
                self.exchange.rank,
                side.slice_size,
            )
        )
        return count == 0, level

    def _reached(self, side: Side, sources: IndexArray) -> BoolArray:
        """Return for each vertex in `here` whether some source leads to it along these lists."""
        label = np.full(side.n_majors, -1, side.dtype)
        label[sources] = 1
        self._propagate(side, label)
        return label[self.here] > 0

    def _propagate(self, side: Side, label: IndexArray) -> None:
        self.exchange.converse(
            operations(RankOps, "numpy").propagation(
                side.indptr,
                side.indices,
                label,
                side.major_starts,
                self.exchange.rank,
                side.slice_size,
            )
        )

    def _split(self, keys: IndexArray, done: BoolArray, alone: bool = False) -> None:
        """Sort by keys, where new classes begin; leave out the vertices that are done. Collective.

        Those that are done are components: of one vertex each if `alone`, else of one key each.
        """
        place = self.places.sort(keys)
        self.place[self.here] = place
        self.low[self.here] = np.where(done, place, keys) if alone else keys
        self.places.take(place[done])
        self.here = self.here[~done]

    def _filter(self) -> None:
        """Leave the edges within classes. Collective."""
        label = np.full(self.out.n_majors, -1, self.out.dtype)
        label[self.here] = self.low[self.here]
        self._keep(label)

    def _keep(self, label: IndexArray) -> None:
        assert self.into is not None  # as above
        self.out = keep_within(self.out, label)
        self.into = keep_within(self.into, label)
