"""A matrix by its rows or by its columns: the adjacency lists of the own vertices of one side.

*Majors* are the vertices whose lists are stored, *minors* the vertices in these lists: rows and
columns in a `Side` of the rows, columns and rows in a `Side` of the columns.
"""

import itertools
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from sparsematch._base.arrays import Array, IndexArray, IndexPair
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.rank_operations import on_rank
from sparsematch._engines.registry import ByProducts, Run
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Elements sent in one exchange, at least. Its latency is small beside the transfer.
_LEAST_SLICE = 1 << 16


def slice_size(n: int) -> int:
    """Return how many of n elements are sent in one exchange."""
    return max(_LEAST_SLICE, n // 32)


class Side:
    """The own lists of one side."""

    # Minors of own majors are numbered within the whole matrix. Starts say where each rank's majors
    # and minors begin, int64, shape (ranks + 1,); the first ones and the numbers are this rank's.
    def __init__(
        self, indptr: IndexArray, indices: IndexArray, starts: IndexPair, exchange: Exchange
    ) -> None:
        self.indptr, self.indices, self.exchange = indptr, indices, exchange
        self.major_starts, self.minor_starts = starts
        self.first_major, self.first_minor = (int(s[exchange.rank]) for s in starts)
        self.n_majors, self.n_minors = (int(np.diff(s)[exchange.rank]) for s in starts)

    @classmethod
    def of_rows(cls, A: DistributedCSR, exchange: Exchange) -> "Side":
        """Return the side of the rows: the arrays of the matrix."""
        return cls(A.indptr, A.indices, (A.row_starts, A.col_starts), exchange)

    @property
    def owners(self) -> tuple[tuple[IndexArray, int], ...]:
        """The owners of the majors and of the minors, as arguments of kernels."""
        return (self.major_starts, self.exchange.rank), (self.minor_starts, self.exchange.rank)

    @property
    def dtype(self) -> Any:
        """The type of numbers of vertices."""
        return self.indices.dtype

    @property
    def slice_size(self) -> int:
        """How many entries are read between two exchanges: a fraction of the own ones."""
        # A message is wider than an index, and is in a send and a receive buffer.
        return slice_size(self.indices.size)

    def flipped(self) -> "Side":
        """Return the other side, by a transpose of the lists, slice by slice. Collective."""
        indptr = np.zeros(self.n_minors + 1, np.int64)
        self._transpose(indptr[1:])
        np.cumsum(indptr, out=indptr)
        indices = np.empty(int(indptr[-1]), self.dtype)
        self._transpose(indptr[:-1].copy(), indices)
        return Side(indptr, indices, (self.minor_starts, self.major_starts), self.exchange)

    def _transpose(self, filled: IndexArray, lists: IndexArray | None = None) -> None:
        """Fill the lists of the other side, or count their lengths. Collective."""
        out = (np.empty(0, self.dtype), False) if lists is None else (lists, True)
        args = self.indptr, self.indices, *self.owners, filled, *out, self.slice_size
        self.exchange.run_until_quiescent(on_rank().transposition_over_ranks(*args))

    def transposed(self, run: Run, before: "SideByProducts | None") -> "Side":
        """Return the other side, counted in the run, or the one of an earlier step. Collective."""
        if before and before.other:
            before.other.exchange = self.exchange
            return before.other
        begin = perf_counter()
        other = self.flipped()
        run.stage("transpose", perf_counter() - begin)
        return other

    def slices(self, size: int | None = None) -> list[tuple[int, int]]:
        """Return ranges of the own entries, or of `size`; as many on every rank. Collective."""
        step, size = self.slice_size, self.indices.size if size is None else size
        (n,) = self.exchange.allreduce(-(-size // step), op="MAX")
        return [(min(k * step, size), min((k + 1) * step, size)) for k in range(n)]

    def majors_of_entries(self, begin: int, end: int) -> Array:
        """Return the majors, numbered within the whole, of a range of the own entries."""
        xp = self.exchange.xp
        low = int(xp.searchsorted(self.indptr, xp.asarray(begin), side="right")) - 1
        high = int(xp.searchsorted(self.indptr, xp.asarray(end), side="left"))
        steps = xp.bincount(self.indptr[low + 1 : high] - begin, minlength=end - begin)
        return (xp.cumsum(steps) + (low + self.first_major)).astype(self.dtype)

    def entries_of(self, majors: Array) -> tuple[Array, Array]:
        """Return the places of the entries of own majors, and how many each has."""
        starts = self.indptr[majors]
        counts = self.indptr[majors + 1] - starts
        places = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        places += np.arange(places.size)
        return places, counts

    def slices_of(self, majors: Array) -> list[Array]:
        """Cut own majors into as many groups on every rank; collective."""
        lengths = self.indptr[majors + 1]
        lengths -= self.indptr[majors]
        return [majors[part] for part in self.cut(lengths, together=True)]

    def cut(self, lengths: Array, *, together: bool = False) -> list[slice]:
        """Cut lists of these lengths into groups of at most `slice_size` entries, or of one."""
        # Collective if `together`: as many on every rank, the last ones perhaps empty.
        n, group = lengths.size, np.cumsum(lengths)
        group -= lengths
        group //= self.slice_size
        bounds = [0] * (n > 0) + (np.flatnonzero(np.diff(group)) + 1).tolist() + [n]
        (most,) = self.exchange.allreduce(len(bounds), op="MAX") if together else [0]
        bounds += [n] * (most - len(bounds))
        return [slice(*pair) for pair in itertools.pairwise(bounds)]


@dataclass(kw_only=True, slots=True)
class SideByProducts(ByProducts):
    """Those over ranks."""

    other: Side | None = None  #: The side of the columns, if the next step will search from them.


#: Those of the step before: None if there was none, or it leaves nothing.
Before: TypeAlias = SideByProducts | None


class Lists:
    """Lists of known lengths, filled by elements that come in any order: `columns`, one a type."""

    def __init__(self, degree: Array, *dtypes: Any) -> None:
        self.indptr = np.concatenate([[0], np.cumsum(degree, dtype=np.int64)])
        self.columns = [np.empty(int(self.indptr[-1]), dtype) for dtype in dtypes]
        self._filled = self.indptr[:-1].copy()

    def append(self, keys: Array, *columns: Array) -> None:
        """Append elements to the lists that keys name, in the order given."""
        at = np.empty(keys.size, np.int64)
        keys = np.ascontiguousarray(keys, np.int64)
        on_rank().places_in_lists(keys, keys.size, self._filled, at)
        for mine, values in zip(self.columns, columns, strict=True):
            mine[at] = values


def first_of_each(keys: Array, stamp: Array) -> Array:
    """Return for each element whether it is the first with its key."""
    # `stamp` is workspace, one element for each possible key, of any content.
    places = np.arange(keys.size, dtype=stamp.dtype)
    stamp[keys[::-1]] = places[::-1]
    return stamp[keys] == places
