"""The weighted transversals, or matchings of least cost, of many matrices with one pattern."""

import operator
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.mates import Frozen
from sparsematch._types.weighted import WeightedMatching, WeightedTransversal

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Batch(Frozen, Generic[_Found]):
    """A sequence of results, each a view of the rows of arrays."""

    row_mate: IndexArray
    col_mate: IndexArray
    cardinality: IndexArray
    objective: FloatArray
    row_dual: FloatArray
    col_dual: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of each matrix."""
        return self.row_mate.shape[1], self.col_mate.shape[1]

    @abstractmethod
    def _one(self, k: int) -> _Found:
        """Return result k."""

    def __len__(self) -> int:
        return len(self.objective)

    def __getitem__(self, b: Any) -> _Found:
        k = operator.index(b)
        if not -len(self) <= k < len(self):
            raise IndexError(f"there are {len(self)} results, but number {k} was asked for")
        return self._one(k)

    def __iter__(self) -> Iterator[_Found]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        return f"{type(self).__name__}({len(self)} of {n_rows}x{n_cols})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TransversalBatch(_Batch[WeightedTransversal]):
    """Transversals with the largest product, one for each row of an array of values.

    ``batch[b]`` is that of matrix `b`, a view of its rows of the arrays.

    Attributes
    ----------
    row_mate, col_mate : ndarray of int32 or int64, shapes (k, n_rows), (k, n_cols)
        The matchings; -1 for rows and columns without a partner.
    cardinality : ndarray of int64, shape (k,)
        Numbers of pairs: fewer where zeros among the values leave fewer entries.
    objective, row_dual, col_dual, row_scale, col_scale
        As in `WeightedTransversal`, with a row for each matrix.
    """

    row_scale: FloatArray | None = None
    col_scale: FloatArray | None = None

    @classmethod
    def empty(cls, graph: BipartiteCSR, k: int, scaling: bool) -> "TransversalBatch":
        """Return arrays to be written, for matrices with the pattern of a graph."""
        shapes = (k, graph.n_rows), (k, graph.n_cols)
        row_mate, col_mate = (np.empty(shape, graph.dtype) for shape in shapes)
        sides: Any = map(np.empty, shapes * (2 if scaling else 1))  # duals, and factors
        return cls(row_mate, col_mate, np.empty(k, np.int64), np.empty(k), *sides)

    def _one(self, k: int) -> WeightedTransversal:
        matching = Matching(self.row_mate[k], self.col_mate[k])
        sides = self.row_dual, self.col_dual, self.row_scale, self.col_scale
        own: Any = (None if side is None else side[k] for side in sides)
        return WeightedTransversal(matching, "product", float(self.objective[k]), *own)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LeastCostBatch(_Batch[WeightedMatching]):
    """Matchings of least cost, one for each row of an array of costs, and their duals.

    ``batch[b]`` is that of matrix `b`, a `WeightedMatching` of maximum cardinality, in which
    unmatched rows and columns cost nothing.

    Attributes
    ----------
    row_mate, col_mate, cardinality
        As in `TransversalBatch`. Infinite costs leave fewer pairs.
    objective : ndarray of float64, shape (k,)
        The sums of the costs of the pairs.
    row_dual, col_dual : ndarray of float64, shapes (k, n_rows), (k, n_cols)
        As in `WeightedMatching` for costs.
    """

    def _one(self, k: int) -> WeightedMatching:
        least = float(self.objective[k])
        matching = Matching(self.row_mate[k], self.col_mate[k])
        duals = self.row_dual[k], self.col_dual[k]
        nothing = np.zeros(self.shape[0]), np.zeros(self.shape[1])
        return WeightedMatching(matching, least, least, *duals, *nothing, False, True)
