"""The results of matching over several ranks: each has the mates of what it owns."""

import itertools
from dataclasses import dataclass

import numpy as np

from sparsematch._base.arrays import UNMATCHED, FloatArray, IndexArray, inverse, n_set, namespace
from sparsematch._types.matching import GraphMatching, Matching
from sparsematch._types.mates import GraphMates, Mates, OfMatching, frozen
from sparsematch._types.over_ranks.agreement import collect
from sparsematch._types.over_ranks.matrix import DistributedCSR, call_on
from sparsematch._types.run_info import RunInfo

_frozen = itertools.count(1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistributedMatching(Mates):
    """A matching of a `DistributedCSR`: on each rank the mates of its own rows and columns.

    Shape and cardinality are those of the whole matrix, within which rows and columns are numbered.

    Attributes
    ----------
    row_mate : ndarray of int32 or int64, shape (own rows,)
        ``row_mate[k]`` is the column matched with row ``first_row + k``, or -1.
    col_mate : ndarray of int32 or int64, shape (own columns,)
        ``col_mate[k]`` is the row matched with column ``first_col + k``, or -1.
    layout : DistributedCSR
        The matrix, with the rows and columns that each rank owns.
    serial : int
        The number of this matching among all that rank 0 has frozen: the same on all ranks.
    """

    layout: DistributedCSR
    cardinality: int = 0  #: Of the whole matrix, counted when the engine had finished.
    serial: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self.layout.shape

    @property
    def _first_row(self) -> int:
        return self.layout.first_row

    def as_permutation(self) -> IndexArray:
        """Return `Matching.as_permutation` of the whole matrix, on every rank. Collective.

        It is of size n_rows; `permute_and_redistribute` does without it.
        """
        return self.gather().as_permutation()

    def perm_r(self) -> IndexArray:
        """Return the row permutation in SuperLU's sense, whole, on every rank. Collective.

        What ``options.RowPerm = MY_PERMR`` of SuperLU_DIST expects: row i goes to place
        ``perm_r[i]``, the inverse of `as_permutation`. It is of size n_rows; where that is too
        much, `permute_and_redistribute` moves the rows themselves, for ``NOROWPERM``.
        """
        return inverse(self.as_permutation())

    def gather(self) -> Matching:
        """Return the matching of the whole matrix, on every rank. Collective.

        It is of size n_rows + n_cols.
        """
        here = self.get()
        call = call_on(self.layout, f"gather of matching {self.serial}")
        parts = collect(self.layout.comm, call, lambda: (here.row_mate, here.col_mate))
        xp = namespace(self.row_mate)
        rows, cols = (xp.asarray(np.concatenate(side)) for side in zip(*parts, strict=True))
        return Matching(rows, cols).freeze()

    @classmethod
    def start(cls, A: DistributedCSR) -> "DistributedMatching":
        """Allocate the empty matching of a matrix, with writable arrays, where the matrix is."""
        n_rows, n_cols = len(A.own_rows), len(A.own_cols)
        mates = namespace(A.indptr).full(n_rows + n_cols, UNMATCHED, A.dtype)
        return cls(mates[:n_rows], mates[n_rows:], A)

    def freeze(self, writeable: bool = False) -> "DistributedMatching":
        """Count the pairs of all ranks, and make the arrays read-only. Collective."""
        own = n_set(self.row_mate >= 0)
        call = call_on(self.layout, "DistributedMatching.freeze")
        counts = collect(self.layout.comm, call, lambda: (own, next(_frozen)))
        object.__setattr__(self, "cardinality", sum(count for count, _ in counts))
        object.__setattr__(self, "serial", counts[0][1])
        return self if writeable else frozen(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DistributedGraphMatching(GraphMates, DistributedMatching):
    """A set of edges of a graph over ranks, no two at the same vertex.

    On each rank the mates of its own vertices, which are its rows, called `mate` as well. It is a
    `DistributedMatching` of the symmetric matrix.

    Attributes
    ----------
    weight : float
        The sum of the magnitudes of the matched edges of all ranks; without weights, the number of
        pairs. On another number of ranks its last digits may differ, as it is added up in another
        order.
    guarantee, info
        As in `GraphMatching`.
    """

    weight: float
    guarantee: float
    info: RunInfo

    def gather(self) -> GraphMatching:
        """Return the matching of the whole graph, on every rank. Collective.

        It is of size n.
        """
        here = self.get().mate
        what = f"gather of {self.cardinality} pairs of weight {self.weight!r}"
        parts = collect(self.layout.comm, call_on(self.layout, what), lambda: here)
        mate = namespace(self.mate).asarray(np.concatenate(parts))
        return GraphMatching(mate, mate, self.weight, self.guarantee, self.info).freeze()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistributedTransversal(OfMatching):
    """A maximum transversal of a `DistributedCSR`, and by how much its product may be too small.

    The pairs are as many as there can be. Their product is the largest, or a large one; no other
    transversal has a product above ``exp(upper_bound)``, and the duals prove it.

    Attributes
    ----------
    matching : DistributedMatching
        The mates of the own rows and columns; its ``layout`` is the matrix of magnitudes without
        the entries that are zero.
    objective : float
        The sum of the natural logarithms of the absolute values of the matched entries, of all
        ranks.
    upper_bound : float
        No maximum transversal has a larger sum.
    row_dual, col_dual : ndarray of float64, shapes (own rows,), (own columns,)
        With the cost ``c = -log(abs(a))``, no entry costs less than ``row_dual[i] + col_dual[j]``.
    row_scale, col_scale : ndarray of float64 or None
        Factors of the own rows and columns, the exponentials of the duals: no scaled entry is above
        1 in magnitude, rounding apart. If the matrix is square and all rows are matched, the scaled
        matched entries have the product ``exp(-gap)``: all are 1 if the gap is 0. None where no
        scaling was wanted.
    """

    matching: DistributedMatching
    objective: float
    upper_bound: float
    row_dual: FloatArray
    col_dual: FloatArray
    row_scale: FloatArray | None = None
    col_scale: FloatArray | None = None

    @property
    def gap(self) -> float:
        """By how much the sum of logarithms is at most below the largest; 0 within rounding."""
        gap = self.upper_bound - self.objective
        rounding = 1e-12 * max(1.0, abs(self.objective), float(self.cardinality))
        return gap if gap > rounding else 0.0

    @property
    def approximate(self) -> bool:
        """Whether it is not proved that the product is the largest."""
        return self.gap > 0

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        return (
            f"DistributedTransversal({n_rows}x{n_cols}, cardinality {self.cardinality}, at most "
            f"{self.gap:.3g} below the largest logarithm)"
        )
