"""The one result of every matching engine."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparsematch._types import conventions
from sparsematch._types.arrays import (
    UNMATCHED,
    IndexArray,
    advising,
    fill_unmatched,
    import_cupy,
    namespace,
    on_gpu,
)
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.mates import invert, is_pair, read_mates

#: What can be wrong with a matching, once every mate is within range: row i, column j.
FLAWS = {
    "col_disagrees": "row {i} is paired with column {j}, but column {j} is not paired with row {i}",
    "row_disagrees": "column {j} is paired with row {i}, but row {i} is not paired with column {j}",
    "no_entry": "row {i} is paired with column {j}, but A[{i}, {j}] is not an entry",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matching:
    """A set of entries of a matrix, no two in the same row or column: a transversal.

    The arrays are read-only once the matching is handed out; copy them to change them.

    Attributes
    ----------
    row_mate : ndarray of int32 or int64, shape (n_rows,)
        ``row_mate[i]`` is the column matched with row i, or -1.
    col_mate : ndarray of int32 or int64, shape (n_cols,)
        ``col_mate[j]`` is the row matched with column j, or -1.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximum_transversal
    >>> A = csr_array([[0, 1, 0], [1, 1, 0], [0, 1, 0]])
    >>> matching = maximum_transversal(A)
    >>> matching
    Matching(3x3, cardinality 2)
    >>> matching.cardinality, matching.is_perfect
    (2, False)
    """

    row_mate: IndexArray
    col_mate: IndexArray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.row_mate.size, self.col_mate.size

    @property
    def cardinality(self) -> int:
        """Number of matched pairs, counted each time: O(n_rows)."""
        return int(namespace(self.row_mate).count_nonzero(self.row_mate >= 0))

    @property
    def is_perfect(self) -> bool:
        """Whether every row and every column is matched."""
        return self.row_mate.size == self.col_mate.size == self.cardinality

    def pairs(self) -> tuple[IndexArray, IndexArray]:
        """Return the matched rows in ascending order, and their columns.

        Examples
        --------
        >>> import numpy as np
        >>> rows, cols = Matching(np.array([2, -1, 0]), np.array([2, -1, 0])).pairs()
        >>> rows.tolist(), cols.tolist()
        ([0, 2], [2, 0])
        """
        rows = (
            namespace(self.row_mate)
            .flatnonzero(self.row_mate >= 0)
            .astype(self.row_mate.dtype, copy=False)
        )
        return rows, self.row_mate[rows]

    def as_permutation(self) -> IndexArray:
        """Return a permutation p of the rows that moves matched entries to the diagonal.

        Returns
        -------
        ndarray of int32 or int64, shape (n_rows,)
            ``p[j] == col_mate[j]`` for each matched column ``j < n_rows``, so that row j of
            ``A[p]`` has an entry in column j. The rows that are left take the places that are left,
            both in ascending order: unmatched rows and, in a matrix with more columns than rows,
            rows whose column lies beyond the last row.

        Examples
        --------
        >>> import numpy as np
        >>> Matching(np.array([2, -1, 0]), np.array([2, -1, 0])).as_permutation().tolist()
        [2, 1, 0]
        """
        xp = namespace(self.row_mate)
        permutation = xp.full_like(self.row_mate, UNMATCHED)
        n_diagonal = min(self.shape)
        permutation[:n_diagonal] = self.col_mate[:n_diagonal]
        left = xp.ones(permutation.size, dtype=bool)
        left[permutation[permutation >= 0]] = False
        permutation[xp.flatnonzero(permutation < 0)] = xp.flatnonzero(left)
        return permutation

    def to_matlab(self) -> IndexArray:
        """Return what MATLAB's ``p = dmperm(A)`` is: the row of each column, counted from 1, or 0.

        Examples
        --------
        >>> import numpy as np
        >>> Matching(np.array([2, -1, 0]), np.array([2, -1, 0])).to_matlab().tolist()
        [3, 0, 1]
        """
        return self.col_mate + 1

    @classmethod
    def from_matlab(cls, p: Any, n_rows: int) -> "Matching":
        """Read MATLAB's ``p = dmperm(A)``.

        Parameters
        ----------
        p : array_like of integers, n_cols elements
            The row of each column, counted from 1, or 0. Doubles with integer values will do.
        n_rows : int
            The number of rows, which `p` does not tell.

        Returns
        -------
        Matching
            With int64 indices. Whether its pairs are entries of a matrix is for `is_matching` to
            tell.

        Raises
        ------
        TypeError, ValueError
            If `p` holds something else than integers from 0 to `n_rows`, or a row twice.
        """
        col_mate = conventions.from_one(p, "p", low=0)
        rows = col_mate[col_mate >= 0]
        if rows.max(initial=-1) >= n_rows:
            raise ValueError(f"p has the element {rows.max() + 1}, but there are {n_rows} rows")
        row_mate: IndexArray = np.full(n_rows, UNMATCHED, col_mate.dtype)
        row_mate[rows] = np.flatnonzero(col_mate >= 0)
        if np.count_nonzero(row_mate >= 0) < rows.size:
            raise ValueError("p has an element twice: a row has one column at most")
        return cls(row_mate, col_mate).freeze()

    def to_pyomo(self) -> dict[int, int]:
        """Return what Pyomo's ``maximum_matching`` is: a dict from rows to columns.

        Examples
        --------
        >>> import numpy as np
        >>> Matching(np.array([2, -1, 0]), np.array([2, -1, 0])).to_pyomo()
        {0: 2, 2: 0}
        """
        rows = np.flatnonzero(self.row_mate >= 0)
        return dict(zip(rows.tolist(), self.row_mate[rows].tolist(), strict=True))

    @classmethod
    def from_pyomo(cls, given: Any, shape: tuple[int, int]) -> "Matching":
        """Read a matching of Pyomo's incidence analysis.

        Parameters
        ----------
        given : dict or (RowPartition, ColPartition)
            What ``maximum_matching`` or ``dulmage_mendelsohn`` return of a matrix.
        shape : (int, int)
            Rows and columns of the matrix, which `given` leaves open.

        Returns
        -------
        Matching
            With int64 indices. Whether its pairs are entries of a matrix is for `is_matching` to
            tell.

        Raises
        ------
        TypeError, ValueError
            If `given` is neither, or pairs something that is no row or column, or a column twice.
        """
        row_mate = conventions.row_mate_of(conventions.pairs_of(given, "given"), shape, "given")
        return cls(row_mate, invert(row_mate, shape[1], "given")).freeze()

    @classmethod
    @advising
    def start(
        cls, graph: BipartiteCSR, initial: Any = None, *, name: str = "initial"
    ) -> "Matching":
        """Allocate the empty matching of a graph, or copy a given one.

        Parameters
        ----------
        graph : BipartiteCSR
            The graph to match.
        initial : None, Matching, (row_mate, col_mate) or row_mate
            What to start from. It is copied.
        name : str, optional
            What messages call `initial`.

        Returns
        -------
        Matching
            With writable arrays of the graph's index type, every mate within range. Whether the
            mates agree with each other and are entries of the matrix is for the back-end to check.

        Raises
        ------
        TypeError
            If `initial` holds something else than integers, or is not in the memory where the graph
            is.
        ValueError
            If the lengths do not fit the matrix, or a mate is out of range.
        """
        n_rows, n_cols = graph.shape
        if initial is None:
            # one large block comes cheaper than two
            mates = namespace(graph.indptr).empty(n_rows + n_cols, graph.dtype)
            fill_unmatched(mates)
            return cls(mates[:n_rows], mates[n_rows:])
        if isinstance(initial, cls):
            initial = (initial.row_mate, initial.col_mate)
        rows, cols = ("row", n_rows), ("column", n_cols)
        if is_pair(initial):
            row_mate = read_mates(initial[0], rows, cols, graph, name)
            return cls(row_mate, read_mates(initial[1], cols, rows, graph, name))
        row_mate = read_mates(initial, rows, cols, graph, name)
        return cls(row_mate, invert(row_mate, n_cols, name))

    def freeze(self) -> "Matching":
        """Make the arrays read-only, and return the matching. CuPy knows no read-only arrays."""
        if isinstance(self.row_mate, np.ndarray):
            self.row_mate.flags.writeable = False
            self.col_mate.flags.writeable = False
        return self

    def get(self) -> "Matching":
        """Return the matching in host memory: itself, or a copy of one on a GPU."""
        row_mate: Any = self.row_mate
        col_mate: Any = self.col_mate
        return Matching(row_mate.get(), col_mate.get()).freeze() if on_gpu(row_mate) else self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Matching):
            return NotImplemented
        xp = namespace(self.row_mate)
        if xp is not namespace(other.row_mate):
            return NotImplemented
        return bool(
            xp.array_equal(self.row_mate, other.row_mate)
            and xp.array_equal(self.col_mate, other.col_mate)
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name not in ("freeze", "start")]

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        return f"Matching({n_rows}x{n_cols}, cardinality {self.cardinality})"


def copy_to_gpu(initial: Any) -> Any:
    """Copy what a caller gave as a matching to the current GPU; what is there stays."""
    if isinstance(initial, Matching):
        initial = (initial.row_mate, initial.col_mate)
    if is_pair(initial):
        return tuple(copy_to_gpu(mates) for mates in initial)
    return initial if on_gpu(initial) else import_cupy().asarray(np.asarray(initial))
