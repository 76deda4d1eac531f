"""Places in an order of vertices over ranks, which becomes finer until every block has its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.sides import slice_size
from sparsematch._engines.rank_operations import RankOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import IndexArray
from sparsematch._types.over_ranks.matrix import balanced

_Array = NDArray[Any]


class Places:
    """The places ``0:n``, which ranks own in balanced blocks.

    A key is a place, too: that where the elements with this key begin, or any one between the
    elements before and behind them. So sorting by keys refines the order, and nothing moves that
    has its place already.

    Attributes
    ----------
    starts : ndarray of int64, shape (ranks + 1,)
        Where the places of each rank begin.
    taken : ndarray of bool
        Whether each own place is that of a vertex that will not move again.
    """

    def __init__(self, n: int, dtype: Any, exchange: Exchange, seed: int) -> None:
        self.exchange, self.dtype = exchange, dtype
        self.starts = balanced(n, exchange.size)
        self.first = int(self.starts[exchange.rank])
        self.n_own = int(self.starts[exchange.rank + 1]) - self.first
        self.taken = np.zeros(self.n_own, bool)
        self._rng = np.random.default_rng([seed, exchange.rank])

    def sort(self, keys: _Array) -> IndexArray:
        """Return a place for each element, by ascending key, at random among equal ones.

        Collective. Time: O(own elements + own places).
        """
        (counts,) = self.count(keys)
        ends = self.starts_of(counts)
        order = np.arange(keys.size, dtype=self.dtype)
        self._rng.shuffle(order)
        places = np.empty(keys.size, self.dtype)
        for part in self._slices(order):
            places[part] = self.exchange.ask(
                self.starts, keys[part], lambda arrived: self._append(arrived - self.first, ends)
            )
        return places

    def _append(self, own: _Array, ends: IndexArray) -> _Array:
        """Return the next place for each of these keys; elements come by rank, so shuffle them."""
        order, at = self._rng.permutation(own.size), np.empty(own.size, np.int64)
        shuffled = np.ascontiguousarray(own[order], np.int64)
        operations(RankOps, "numpy").places_in_lists(shuffled, ends, at)
        places = np.empty(own.size, self.dtype)
        places[order] = at
        return places

    def starts_of(self, counts: _Array) -> IndexArray:
        """Return where the elements of each key begin, given how many have each own one.

        Collective. What has its place counts as one element with this key.
        """
        ends = np.cumsum(counts + self.taken)
        totals = self.exchange.everywhere(ends[-1:] if ends.size else np.zeros(1, np.int64))
        ends += int(totals[: self.exchange.rank].sum())
        return ends - counts - self.taken

    def count(self, keys: _Array, *flags: NDArray[np.bool_]) -> list[_Array]:
        """Return for each own place how many have it as key, and are flagged. Collective."""
        counts = [np.zeros(self.n_own, self.dtype) for _ in range(1 + len(flags))]
        everything = np.arange(keys.size, dtype=self.dtype)
        for part in self._slices(everything):
            arrived, *what = self.exchange.deliver(
                self.starts, keys[part], *(flag[part] for flag in flags)
            )
            own = arrived - self.first
            for count, chosen in zip(counts, [own, *(own[flag] for flag in what)], strict=True):
                count += np.bincount(chosen, minlength=self.n_own).astype(self.dtype)
        return counts

    def ask(self, keys: _Array, table: _Array) -> _Array:
        """Return what the tables of the owners say of each key. Collective."""
        answers = np.empty(keys.size, table.dtype)
        for part in self._slices(np.arange(keys.size, dtype=self.dtype)):
            answers[part] = self.exchange.ask(
                self.starts, keys[part], lambda asked: table[asked - self.first]
            )
        return answers

    def take(self, places: _Array) -> None:
        """Note that places are taken for good. Collective."""
        for part in self._slices(places):
            (arrived,) = self.exchange.deliver(self.starts, part)
            self.taken[arrived - self.first] = True

    def _slices(self, elements: _Array) -> Iterator[_Array]:
        """Yield as many parts of some elements on every rank. Collective."""
        size = slice_size(elements.size)
        (n,) = self.exchange.largest(-(-elements.size // size))
        for k in range(n):
            yield elements[k * size : (k + 1) * size]
