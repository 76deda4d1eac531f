"""A matrix seen from its rows or from its columns: the lists of the own vertices of one side.

What a rank has lists of is major, what these lists name is minor; in a `Side` of the rows, rows are
major, in one of the columns, columns. The minors that a rank's lists name, wherever they are owned,
are its touched minors; they are numbered in ascending order from 0 on, so that what a rank knows of
them takes memory in proportion to its own entries. Their owners know which ranks touch them.
"""

from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.operations import RankOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.arrays import IndexArray
from sparsematch._types.distributed import DistributedCSR

_Array = NDArray[Any]

#: The touched minors are found in windows of all minors: as few as memory allows, and no more.
_MOST_WINDOWS = 64

#: At least so many entries are sent in one exchange, if there are as many.
_LEAST_SLICE = 1 << 16


class Touched(NamedTuple):
    """The minors that the own lists name.

    Attributes
    ----------
    minors : ndarray
        Their numbers, ascending.
    local : ndarray, shape (own entries,)
        For each entry, the place of its minor among them.
    """

    minors: IndexArray
    local: IndexArray


class Interest(NamedTuple):
    """Which ranks touch an own minor.

    Attributes
    ----------
    starts : ndarray of int64, shape (own minors + 1,)
        Where the ranks of each begin.
    ranks : ndarray of uint16
        The ranks, ascending for each minor.
    places : ndarray
        The place of the minor among those that the rank touches.
    """

    starts: IndexArray
    ranks: IndexArray
    places: IndexArray


class Side:
    """The own lists of one side.

    Attributes
    ----------
    indptr, indices : ndarray
        The minors of each own major, numbered within the whole matrix.
    major_starts, minor_starts : ndarray of int64, shape (ranks + 1,)
        Where the majors and minors of each rank begin.
    first_major, first_minor, n_majors, n_minors : int
        Which ones this rank owns, and how many.
    exchange : Exchange
        The exchanges of this run.
    """

    def __init__(
        self,
        indptr: IndexArray,
        indices: IndexArray,
        starts: tuple[IndexArray, IndexArray],
        exchange: Exchange,
    ) -> None:
        self.indptr, self.indices, self.exchange = indptr, indices, exchange
        self.major_starts, self.minor_starts = starts
        self.first_major, self.first_minor = (int(s[exchange.rank]) for s in starts)
        self.n_majors, self.n_minors = (
            int(s[exchange.rank + 1] - s[exchange.rank]) for s in starts
        )

    @classmethod
    def of_rows(cls, A: DistributedCSR, exchange: Exchange, run: Run | None = None) -> "Side":
        """Return the side of the rows: the arrays of the matrix.

        In a run, what was found out about it in an earlier step is kept.
        """
        if run and isinstance(run.kept, Side):
            run.kept.exchange = exchange
            return run.kept
        side = cls(A.indptr, A.indices, (A.row_starts, A.col_starts), exchange)
        if run:
            run.kept = side
        return side

    @property
    def dtype(self) -> Any:
        """The type of numbers of vertices."""
        return self.indices.dtype

    @property
    def slice_size(self) -> int:
        """How many entries are read between two exchanges: a share of the own ones.

        What is sent is wider than an index, and is there twice.
        """
        return max(_LEAST_SLICE, self.indices.size // 32)

    def flipped(self) -> "Side":
        """Return the other side: its lists are sent to their owners, some at a time. Collective.

        Time: O(own entries). Workspace: as large as the result, and slices.
        """
        starts = self.major_starts, self.minor_starts
        indptr = np.zeros(self.n_minors + 1, np.int64)
        self._transpose(indptr[1:])
        np.cumsum(indptr, out=indptr)
        indices = np.empty(int(indptr[-1]), self.dtype)
        self._transpose(indptr[:-1].copy(), indices)
        return Side(indptr, indices, starts[::-1], self.exchange)

    def _transpose(self, filled: IndexArray, lists: IndexArray | None = None) -> None:
        """Fill the lists of the other side, or count their lengths. Collective."""
        starts, rank = (self.major_starts, self.minor_starts), self.exchange.rank
        make = operations(RankOps, "numpy").transposition
        out = (np.empty(0, self.dtype), False) if lists is None else (lists, True)
        args = self.indptr, self.indices, starts, rank, filled, *out, self.slice_size
        self.exchange.converse(make(*args))

    def transposed(self, run: Run) -> "Side":
        """Return the other side, counted in the run. Collective."""
        begin = perf_counter()
        other = self.flipped()
        run.transposes_built += 1
        run.transpose_seconds += perf_counter() - begin
        return other

    def slices(self, size: int | None = None) -> list[tuple[int, int]]:
        """Return ranges of the own entries, or of so many, as many on every rank. Collective."""
        step, size = self.slice_size, self.indices.size if size is None else size
        (n,) = self.exchange.largest(-(-size // step))
        return [(min(k * step, size), min((k + 1) * step, size)) for k in range(n)]

    def majors_of_entries(self, begin: int, end: int) -> _Array:
        """Return the majors, numbered within the whole, of a range of the own entries."""
        low = int(np.searchsorted(self.indptr, begin, side="right")) - 1
        high = int(np.searchsorted(self.indptr, end, side="left"))
        bounds = np.clip(self.indptr[low : high + 1], begin, end)
        majors = np.arange(low, max(low, bounds.size - 1 + low)) + self.first_major
        return np.repeat(majors.astype(self.dtype), np.diff(bounds))

    def entries_of(self, majors: _Array) -> tuple[_Array, _Array]:
        """Return the places of the entries of own majors, and how many each has."""
        starts = self.indptr[majors]
        counts = self.indptr[majors + 1] - starts
        before = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum()), dtype=np.int64)
        places += np.repeat(starts - before, counts)
        return places, counts

    def slices_of(self, majors: _Array) -> list[_Array]:
        """Cut own majors into groups of at most `slice_size` entries, or of one major."""
        if not majors.size:
            return []
        degrees = self.indptr[majors + 1] - self.indptr[majors]
        group = (np.cumsum(degrees) - degrees) // self.slice_size
        return np.split(majors, np.flatnonzero(np.diff(group)) + 1)

    def count(self, flags: NDArray[np.bool_]) -> _Array:
        """Return how many entries of each own major are flagged."""
        counts = np.zeros(self.n_majors, np.int64)
        for majors in self.slices_of(np.arange(self.n_majors)):
            first, last = int(majors[0]), int(majors[-1]) + 1
            bounds = self.indptr[first : last + 1]
            before = np.concatenate([[0], np.cumsum(flags[bounds[0] : bounds[-1]])])
            counts[first:last] = np.diff(before[bounds - bounds[0]])
        return counts

    @cached_property
    def touched(self) -> Touched:
        """The touched minors. Time: O(own entries) for each window of minors; there are few."""
        size = self.indices.size
        local: Any = np.empty(size, np.int32 if size < 2**31 else np.int64)
        parts = [slice(k, k + self.slice_size) for k in range(0, size, self.slice_size)]
        n = int(self.minor_starts[-1])
        width = max(self.n_minors, size // 8, -(-n // _MOST_WINDOWS), 1)
        found, before = [np.empty(0, self.dtype)], 0
        for first in range(0, n, width):
            # which minors of the window there are, then their places, in one table
            table = np.zeros(min(width, n - first), local.dtype)
            for part in parts:
                inside = self.indices[part]
                table[inside[_is_within(inside, first, width)] - first] = 1
            present = np.flatnonzero(table)
            table[present] = np.arange(before, before + present.size)
            for part in parts:
                within = np.flatnonzero(_is_within(self.indices[part], first, width))
                local[part][within] = table[self.indices[part][within] - first]
            found.append((present + first).astype(self.dtype))
            before += present.size
        return Touched(np.concatenate(found), local)

    @cached_property
    def interest(self) -> Interest:
        """Who touches the own minors. Collective, the first time. Time: O(what they touch)."""
        minors, local = self.touched
        degree = np.zeros(self.n_minors, np.int64)
        parts = self.slices(minors.size)
        for begin, end in parts:
            (keys,) = self.exchange.deliver(self.minor_starts, minors[begin:end])
            degree += np.bincount(keys - self.first_minor, minlength=self.n_minors)
        lists = Lists(degree, np.uint16, local.dtype)
        for begin, end in parts:
            places = np.arange(begin, end, dtype=local.dtype)
            keys, places, ranks = self.exchange.deliver_named(
                self.minor_starts, minors[begin:end], places
            )
            lists.append(keys - self.first_minor, ranks, places)
        return Interest(lists.indptr, *lists.columns)

    def tell(self, minors: _Array) -> _Array:
        """Name own minors, by place, to all that touch them; return the touched ones. Collective.

        Both are places: among the own minors, and among the touched ones.
        """
        starts, ranks, places = self.interest
        counts = starts[minors + 1] - starts[minors]
        before = np.cumsum(counts) - counts
        at = np.arange(int(counts.sum())) + np.repeat(starts[minors] - before, counts)
        by_rank = np.arange(self.exchange.size + 1)
        _, told = self.exchange.deliver(by_rank, ranks[at], places[at])
        return told


class Lists:
    """Lists of known lengths, filled by elements that come in any order.

    Attributes
    ----------
    indptr : ndarray of int64
        Where each list begins.
    columns : list of ndarray
        One for each type that was asked for.
    """

    def __init__(self, degree: _Array, *dtypes: Any) -> None:
        self.indptr = np.concatenate([[0], np.cumsum(degree, dtype=np.int64)])
        self.columns = [np.empty(int(self.indptr[-1]), dtype) for dtype in dtypes]
        self._filled = self.indptr[:-1].copy()

    def append(self, keys: _Array, *columns: _Array) -> None:
        """Append elements to the lists that keys name; those of one list stay in their order."""
        at = np.empty(keys.size, np.int64)
        keys = np.ascontiguousarray(keys, np.int64)
        operations(RankOps, "numpy").places_in_lists(keys, self._filled, at)
        for mine, values in zip(self.columns, columns, strict=True):
            mine[at] = values


def distinct(values: _Array) -> _Array:
    """Return the different values, ascending."""
    values = np.sort(values)
    return values[np.flatnonzero(np.diff(values, prepend=-1))]


def _is_within(indices: _Array, first: int, width: int) -> NDArray[np.bool_]:
    return (indices >= first) & (indices < first + width)


def first_of_each(keys: _Array, stamp: _Array) -> _Array:
    """Return for each element whether it is the first with its key.

    `stamp` is workspace, one element per possible key; what is in it does not matter.
    """
    places = np.arange(keys.size, dtype=stamp.dtype)
    stamp[keys[::-1]] = places[::-1]
    return stamp[keys] == places
