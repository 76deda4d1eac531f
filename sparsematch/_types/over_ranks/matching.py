"""The result of a matching engine over several ranks: each has the mates of what it owns."""

import itertools
from dataclasses import dataclass

import numpy as np

from sparsematch._base.arrays import UNMATCHED, IndexArray, namespace
from sparsematch._types.matching import Matching
from sparsematch._types.mates import Frozen, Mates
from sparsematch._types.over_ranks.agreement import collect
from sparsematch._types.over_ranks.matrix import DistributedCSR, call_on

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

    Examples
    --------
    On a single process, which owns all:

    >>> from scipy.sparse import csr_array
    >>> from sparsematch import DistributedCSR, maximum_transversal
    >>> A = DistributedCSR.from_local(None, csr_array([[0, 1], [1, 1]]))
    >>> matching = maximum_transversal(A)
    >>> matching
    DistributedMatching(2x2, cardinality 2)
    >>> matching.row_mate.tolist(), matching.perm_r().tolist()
    ([1, 0], [1, 0])
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
        """Return the whole permutation of the rows, on every rank. Collective.

        It is of size n_rows; `permute_and_redistribute` does without it.

        Returns
        -------
        ndarray of int32 or int64, shape (n_rows,)
            As `Matching.as_permutation`: row ``p[j]`` of the matrix goes to place j.
        """
        return self.gather().as_permutation()

    def perm_r(self) -> IndexArray:
        """Return the row permutation in SuperLU's sense, whole, on every rank. Collective.

        What ``options.RowPerm = MY_PERMR`` of SuperLU_DIST expects. It is of size n_rows; where
        that is too much, `permute_and_redistribute` moves the rows themselves, and SuperLU_DIST is
        told ``NOROWPERM``.

        Returns
        -------
        ndarray of int32 or int64, shape (n_rows,)
            Row i goes to place ``perm_r[i]``: the inverse of `as_permutation`.
        """
        places = self.as_permutation()
        xp = namespace(places)
        perm_r = xp.empty_like(places)
        perm_r[places] = xp.arange(places.size, dtype=places.dtype)
        return perm_r

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
        own = int(namespace(self.row_mate).count_nonzero(self.row_mate >= 0))
        call = call_on(self.layout, "DistributedMatching.freeze")
        counts = collect(self.layout.comm, call, lambda: (own, next(_frozen)))
        object.__setattr__(self, "cardinality", sum(count for count, _ in counts))
        object.__setattr__(self, "serial", counts[0][1])
        return self if writeable else Frozen.freeze(self)
