"""Strong components over ranks, in topological order.

Slota, Rajamanickam, Madduri, BFS and coloring-based parallel algorithms for strongly connected
components and related problems (IPDPS 2014): trimming, then one forward and one backward search
from a vertex of large degree, which finds a giant component if there is one, then colouring, and a
sequential algorithm once the remaining graph is small. Fleischer, Hendrickson, Pinar, On
identifying strongly connected components in parallel (IRREGULAR 2000), for the two searches.

Every vertex has a place in an order. Vertices that may still be in the same component are a class:
their places are consecutive, and no edge leads from a class to an earlier one. Each step splits
classes, in topological order:

- trimming: vertices without a predecessor in their class, by levels; the others; vertices without a
  successor
- two searches from a pivot: vertices that reach it; its component; vertices connected to it neither
  way; vertices that it reaches
- colouring: every place is a label, and each vertex gets the largest label of the vertices that
  reach it. Labels ascend along edges; the vertices of a label that reach the vertex at this place
  are a component, and come first among the vertices of the label.

Places are drawn at random within a class, so that a chain of components is halved by each
colouring, expected. Invariant: edges are kept within classes only, in both directions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import BoolArray, IndexArray
from sparsematch._engines.mpi.core import host
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.decomposition.pair_graph import keep_within
from sparsematch._engines.mpi.decomposition.places import Places
from sparsematch._engines.mpi.decomposition.small_rest import order_on_rank_0
from sparsematch._engines.rank_operations import on_rank


class Order(NamedTuple):
    """A topological order of the strong components."""

    place: IndexArray  #: The place of each own vertex, -1 for rows that are none.
    start: IndexArray  #: The first place of its component.
    places: Places  #: The places, by owner.


def strong_components(successors: Side, is_vertex: BoolArray, seed: int) -> Order:
    """Return a topological order of the components. Collective."""
    # The lists are overwritten. Time: O(own edges) for each trimming and splitting, of which there
    # are O(log n) expected, except on adversarial graphs. Workspace: as large as the lists.
    search = _Search(successors, is_vertex, seed)
    del successors  # frees its indptr after the first filter
    splits = [search.by_searches]
    while not search.finish_on_rank_0():
        search.trim()
        if search.finish_on_rank_0():
            break
        split = splits.pop() if splits else search.by_labels
        split()
    return Order(search.place, search.low, search.places)


class _Search:
    """Places and classes so far."""

    def __init__(self, successors: Side, is_vertex: BoolArray, seed: int) -> None:
        self.out, self.exchange = successors, successors.exchange
        self.into: Side | None = None
        #: The own rows whose place may still change.
        self.active = np.flatnonzero(is_vertex).astype(self.out.dtype)
        (n,) = self.exchange.allreduce(self.active.size)
        self.places = Places(n, self.out.dtype, self.exchange, seed)
        #: The place of each own row, and where its class begins; -1 for rows that are no vertices.
        self.place = np.full(self.out.n_majors, -1, self.out.dtype)
        self.low = self.place.copy()
        self.low[self.active] = 0

    def finish_on_rank_0(self) -> bool:
        """Order a small remaining graph on rank 0; return whether all is ordered. Collective."""
        left, edges = self.exchange.allreduce(self.active.size, self.out.indices.size)
        if self.exchange.size > 1 and left + edges > host.GATHERED:
            return False
        if left:
            place, start = order_on_rank_0(self.out, self.active, self.low)
            self.place[self.active], self.low[self.active] = place, start
        return True

    def trim(self) -> None:
        """Settle the vertices without predecessors, or successors, in their class. Collective."""
        if self.into is None:
            self.into = self.out.flipped()
        self._split(*self._trim_keys(), alone=True)

    def _trim_keys(self) -> tuple[IndexArray, BoolArray]:
        """Return the keys of the vertices after trimming, and which are trimmed."""
        out, into = self._both
        trimmed, level = self._trimmed(out, self._degrees(into, self.active))
        first, keys = trimmed[self.active], self.low[self.active]
        sizes, n_first = self.places.count(keys, first)
        rest = np.flatnonzero(~first).astype(out.dtype)
        begins, ends = (self.places.query(keys[rest], table) for table in (n_first, sizes))
        keys[first] += level[self.active[first]]
        left = self.active[rest]
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
        """Split by two searches from a pivot; all vertices must be of one class. Collective."""
        pivot = self._pivot()
        forward, backward = (self._reached(side, pivot) for side in self._both)
        # vertices that reach the pivot only, both, neither, that it reaches only
        part = np.where(backward, np.where(forward, 1, 0), np.where(forward, 3, 2))
        sizes = self.exchange.allreduce(*(int(np.count_nonzero(part == k)) for k in range(4)))
        begins = np.cumsum([0, *sizes[:3]]).astype(self.out.dtype)
        self._split(self.low[self.active] + begins[part], part == 1)

    def by_labels(self) -> None:
        """Split by the largest place from which each vertex is reached. Collective."""
        # Time: O(own vertices and edges), expected, if labels propagate in order; a vertex is
        # visited again whenever a larger label arrives from another rank.
        self._split(*self._label_keys())

    def _label_keys(self) -> tuple[IndexArray, BoolArray]:
        """Return the keys of the vertices after colouring, and which are in a known component."""
        label = np.full(self.out.n_majors, -1, self.out.dtype)
        label[self.active] = self.place[self.active]
        self._run(on_rank().propagation_over_ranks, self.out, label)
        self._keep(label)
        colour = label[self.active]
        inside = self._reached(self._both[1], self.active[self.place[self.active] == colour])
        sizes, in_block = self.places.count(colour, inside)
        keys = self.places.query(colour, self.places.starts_of(sizes).astype(self.out.dtype))
        rest = np.flatnonzero(~inside)
        keys[rest] += self.places.query(colour[rest], in_block)
        return keys, inside

    @property
    def _both(self) -> tuple[Side, Side]:
        """The lists of successors and of predecessors."""
        assert self.into is not None  # trimming comes first
        return self.out, self.into

    def _pivot(self) -> IndexArray:
        """Return the row with the largest product of degrees on all ranks, if this rank owns it."""
        out, into = (np.diff(side.indptr)[self.active] for side in self._both)
        product = (out + 1.0) * (into + 1.0)
        products = self.exchange.allgather(float(product.max(initial=0)))
        if products.index(max(products)) != self.exchange.rank or not product.size:
            return self.active[:0]
        return self.active[[int(product.argmax())]]

    def _trimmed(self, side: Side, count: IndexArray) -> tuple[BoolArray, IndexArray]:
        """Return which own rows are trimmed along these lists, and the level of each."""
        level = np.zeros(side.n_majors, side.dtype)
        self._run(on_rank().trimming_over_ranks, side, count, level)
        return count == 0, level

    def _reached(self, side: Side, sources: IndexArray) -> BoolArray:
        """Return for each active vertex whether some source reaches it along these lists."""
        label = np.full(side.n_majors, -1, side.dtype)
        label[sources] = 1
        self._run(on_rank().propagation_over_ranks, side, label)
        return label[self.active] > 0

    def _run(self, make: Callable[..., Any], side: Side, *arrays: IndexArray) -> None:
        """Run a kernel along these lists. Collective."""
        given = side.indptr, side.indices, *arrays, side.owners[0], side.slice_size
        self.exchange.run_until_quiescent(make(*given))

    def _split(self, keys: IndexArray, done: BoolArray, alone: bool = False) -> None:
        """Sort by keys, the new classes; keep the edges in them; drop the vertices done."""
        # These are components: of one vertex each if `alone`, else of one key each. Collective.
        place = self.places.sort(keys)
        self.place[self.active] = place
        self.low[self.active] = np.where(done, place, keys) if alone else keys
        self.places.settle(place[done])
        self.active = self.active[~done]
        label = np.full(self.out.n_majors, -1, self.out.dtype)
        label[self.active] = self.low[self.active]
        self._keep(label)

    def _keep(self, label: IndexArray) -> None:
        assert self.into is not None  # as above
        self.out = keep_within(self.out, label)
        self.into = keep_within(self.into, label)
