"""The mates of rows and columns: what a matching holds, of a matrix or of a rank's part of one."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from sparsematch._base.arrays import IndexArray, IndexPair, are_equal, n_set, namespace, on_gpu

_Result = TypeVar("_Result")


def frozen(result: _Result) -> _Result:
    """Make the arrays of a dataclass read-only, and return it. CuPy knows no read-only arrays."""
    kind: Any = type(result)
    for name in kind.__dataclass_fields__:
        value = getattr(result, name)
        if isinstance(value, np.ndarray):
            freeze: Any = value.setflags
            freeze(False)  # by position: half of the time
        elif isinstance(value, Frozen):
            frozen(value)
    return result


class Frozen:
    """A dataclass whose arrays are read-only once it is handed out."""

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def freeze(self) -> Self:
        """Make the arrays read-only, and return the object."""
        return frozen(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mates(Frozen):
    """Two arrays of mates: of all rows and columns, or of those of a rank; -1 means unmatched."""

    row_mate: IndexArray
    col_mate: IndexArray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self.row_mate.size, self.col_mate.size

    @property
    def cardinality(self) -> int:
        """Number of matched pairs, counted each time: O(n_rows)."""
        return n_set(self.row_mate >= 0)

    @property
    def is_perfect(self) -> bool:
        """Whether every row and every column is matched, on all ranks."""
        return self.shape[0] == self.shape[1] == self.cardinality

    def pairs(self) -> IndexPair:
        """Return the matched rows, of this rank, in ascending order, and their columns."""
        return self._pairs(self.row_mate >= 0)

    def to_matlab(self) -> IndexArray:
        """Return MATLAB's ``p = dmperm(A)``: the row of each column, counted from 1, or 0."""
        return self.col_mate + 1

    def to_pyomo(self) -> dict[int, int]:
        """Return Pyomo's ``maximum_matching``: a dict from rows, of this rank, to columns."""
        rows, cols = self._pairs(self.row_mate >= 0)
        return dict(zip(rows.tolist(), cols.tolist(), strict=True))

    def get(self) -> Self:
        """Return the matching in host memory: itself, or a copy of one on a GPU. Not collective."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        here: dict[int, Any] = {id(v): v.get() for v in values.values() if on_gpu(v)}
        if not here:
            return self
        changed = {name: here[id(v)] for name, v in values.items() if id(v) in here}
        return frozen(replace(self, **changed))

    def _pairs(self, chosen: Any) -> IndexPair:
        """Return the numbers of the chosen rows, and their mates."""
        rows = namespace(self.row_mate).flatnonzero(chosen)
        numbers = rows + self._first_row if self._first_row else rows
        return numbers.astype(self.row_mate.dtype, copy=False), self.row_mate[rows]

    @property
    def _first_row(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mates) or on_gpu(other.row_mate) != on_gpu(self.row_mate):
            return NotImplemented
        return are_equal(self.row_mate, other.row_mate) and are_equal(self.col_mate, other.col_mate)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        return f"{type(self).__name__}({n_rows}x{n_cols}, cardinality {self.cardinality})"

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name not in ("freeze", "start")]


class GraphMates(Mates):
    """What a matching of a graph has instead: rows and columns are the same vertices."""

    __slots__ = ()

    @property
    def mate(self) -> IndexArray:
        """``mate[v]`` is the vertex matched with v, or -1; of a rank, its own ones from 0 on."""
        return self.row_mate

    @property
    def is_perfect(self) -> bool:
        """Whether every vertex is matched, on all ranks."""
        return self.shape[0] == 2 * self.cardinality

    def pairs(self) -> IndexPair:
        """Return the vertices, of this rank, that are the smaller of their pair, and their mates.

        The former ascend.
        """
        mate, first = self.row_mate, self._first_row
        own = namespace(mate).arange(first, first + mate.size, dtype=mate.dtype)
        return self._pairs(mate > own)

    def __repr__(self) -> str:
        weight: float = self.weight  # type: ignore[attr-defined]
        n, pairs = self.shape[0], self.cardinality
        return f"{type(self).__name__}({n} vertices, cardinality {pairs}, weight {weight:g})"


class _Matched:
    """What has a matching of the whole matrix."""

    __slots__ = ()

    matching: Mates

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self.matching.shape


class Ranked(_Matched):
    """What is known of a matrix by its maximum matching."""

    __slots__ = ()

    @property
    def structural_rank(self) -> int:
        """Cardinality of the matching."""
        return self.matching.cardinality


class OfMatching(_Matched, Frozen):
    """A frozen dataclass with a matching of the whole matrix, and arrays of its own."""

    __slots__ = ()

    @property
    def cardinality(self) -> int:
        """Number of matched pairs, of all ranks."""
        return self.matching.cardinality


class MatchedResult(OfMatching):
    """One of which all rows and columns are here."""

    __slots__ = ()

    @property
    def is_perfect(self) -> bool:
        """Whether every row and every column is matched."""
        return self.unmatched_rows.size + self.unmatched_cols.size == 0

    @property
    def unmatched_rows(self) -> IndexArray:
        """Rows without a column, in ascending order."""
        return free_of(self.matching.row_mate)

    @property
    def unmatched_cols(self) -> IndexArray:
        """Columns without a row, in ascending order."""
        return free_of(self.matching.col_mate)


def listed(what: str, rows: IndexArray) -> str:
    """Return a line that lists the first of some rows or columns; none if there are none."""
    if not rows.size:
        return ""
    first = ", ".join(map(str, rows[:10].tolist())) + ", ..." * (rows.size > 10)
    return f"\n  {what}: {rows.size} ({first})"


def free_of(mate: IndexArray) -> IndexArray:
    """Return the rows, or columns, without a mate, in ascending order."""
    return namespace(mate).flatnonzero(mate < 0).astype(mate.dtype, copy=False)
