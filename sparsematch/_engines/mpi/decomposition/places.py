"""Places in an order of vertices over ranks, refined step by step until blocks are consecutive."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, BoolArray, IndexArray
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.sides import slice_size
from sparsematch._engines.rank_operations import on_rank
from sparsematch._types.over_ranks.matrix import balanced


class Places:
    """The places ``0:n``, which ranks own in balanced blocks."""

    # A key is a place, too: the first one of the elements with this key, or any between the
    # elements before and behind them. So sorting by keys refines the order.
    def __init__(self, n: int, dtype: Any, exchange: Exchange, seed: int) -> None:
        self.exchange, self.dtype = exchange, dtype
        self.starts = balanced(n, exchange.size)  #: Where the places of each rank begin.
        self.first = int(self.starts[exchange.rank])
        self.n_own = int(self.starts[exchange.rank + 1]) - self.first
        #: Whether the vertex at each own place will not move again.
        self.settled = np.zeros(self.n_own, bool)
        self._rng = np.random.default_rng([seed, exchange.rank])

    def sort(self, keys: Array) -> IndexArray:
        """Return a place for each element, by ascending key, at random among equal ones."""
        # Collective. Time: O(own elements + own places).
        (counts,) = self.count(keys)
        ends = self.starts_of(counts)
        order = np.arange(keys.size, dtype=self.dtype)
        self._rng.shuffle(order)
        places = np.empty(keys.size, self.dtype)
        for part in self._slices(order):
            places[part] = self.exchange.query(
                self.starts, keys[part], lambda keys: self._append(keys - self.first, ends)
            )
        return places

    def _append(self, own: Array, ends: IndexArray) -> Array:
        """Return the next place for each of these keys, in random order: they arrive by rank."""
        order, shuffled_places = self._rng.permutation(own.size), np.empty(own.size, np.int64)
        shuffled = np.ascontiguousarray(own[order], np.int64)
        on_rank().places_in_lists(shuffled, own.size, ends, shuffled_places)
        places = np.empty(own.size, self.dtype)
        places[order] = shuffled_places
        return places

    def starts_of(self, counts: Array) -> IndexArray:
        """Return where the elements of each own key begin, given how many there are of each."""
        # Collective. A settled place counts as one element with this key.
        ends = np.cumsum(counts + self.settled)
        ends += self.exchange.starts_of(ends[-1] if ends.size else 0)[self.exchange.rank]
        return ends - counts - self.settled

    def count(self, keys: Array, *flags: BoolArray) -> list[Array]:
        """Return for each own place the number of equal keys, and with each flag. Collective."""
        counts = [np.zeros(self.n_own, self.dtype) for _ in range(1 + len(flags))]
        for part in self._slices(np.arange(keys.size, dtype=self.dtype)):
            sent = keys[part], *(flag[part] for flag in flags)
            arrived, *set_ = self.exchange.alltoallv(self.starts, *sent)
            own = arrived - self.first
            for count, chosen in zip(counts, [own, *(own[flag] for flag in set_)], strict=True):
                count += np.bincount(chosen, minlength=self.n_own).astype(self.dtype)
        return counts

    def query(self, keys: Array, table: Array) -> Array:
        """Return the element of the owner's table for each key. Collective."""
        answers = np.empty(keys.size, table.dtype)
        for part in self._slices(np.arange(keys.size, dtype=self.dtype)):
            answers[part] = self.exchange.lookup(self.starts, keys[part], table)
        return answers

    def settle(self, places: Array) -> None:
        """Record that the vertices at these places will not move again. Collective."""
        for part in self._slices(places):
            (arrived,) = self.exchange.alltoallv(self.starts, part)
            self.settled[arrived - self.first] = True

    def _slices(self, elements: Array) -> Iterator[Array]:
        """Yield some elements in parts, as many on every rank. Collective."""
        size = slice_size(elements.size)
        (n,) = self.exchange.allreduce(-(-elements.size // size), op="MAX")
        for k in range(n):
            yield elements[k * size : (k + 1) * size]
