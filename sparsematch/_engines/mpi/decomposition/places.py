"""Places in an order of vertices over ranks, which becomes finer until every block has its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.operations import RankOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import IndexArray
from sparsematch._types.row_blocks import balanced

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

        def answer(arrived: _Array) -> _Array:
            own = arrived - self.first
            # the order of arrival is by rank: no chance there
            order = self._rng.permutation(own.size)
            ends = self.starts_of(np.bincount(own, minlength=self.n_own))
            at = np.empty(own.size, np.int64)
            shuffled = np.ascontiguousarray(own[order], np.int64)
            operations(RankOps, "numpy").places_in_lists(shuffled, ends, at)
            places = np.empty(own.size, self.dtype)
            places[order] = at
            return places

        return self.exchange.ask(self.starts, keys, answer)

    def starts_of(self, counts: _Array) -> IndexArray:
        """Return where the elements of each key begin, given how many have each own one.

        Collective. What has its place counts as one element with this key.
        """
        counts = counts + self.taken
        totals = self.exchange.everywhere(np.array([int(counts.sum())]))
        before = np.cumsum(counts) - counts
        before += int(totals[: self.exchange.rank].sum())
        return before

    def count(self, keys: _Array, *flags: NDArray[np.bool_]) -> list[_Array]:
        """Return for each own place how many have it as key, and are flagged. Collective."""
        arrived, *what = self.exchange.deliver(self.starts, keys, *flags)
        own = arrived - self.first
        chosen = [own, *(own[flag] for flag in what)]
        return [np.bincount(part, minlength=self.n_own) for part in chosen]

    def ask(self, keys: _Array, table: _Array) -> _Array:
        """Return what the tables of the owners say of each key. Collective."""
        return self.exchange.ask(self.starts, keys, lambda asked: table[asked - self.first])

    def take(self, places: _Array) -> None:
        """Note that places are taken for good. Collective."""
        (arrived,) = self.exchange.deliver(self.starts, places)
        self.taken[arrived - self.first] = True
