"""The results of matching engines: of a matrix, and of a graph, whose sides are the same."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsematch._base.arrays import UNMATCHED, IndexArray, n_set, namespace, unmatched
from sparsematch._types import conventions
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.html import MOST_BOXES, picture_page
from sparsematch._types.mates import GraphMates, Mates
from sparsematch._types.run_info import RunInfo

#: What can be wrong with a matching, once every mate is within range: row i, whose mate has another
#: one, column j likewise, or their pair is no entry.
FLAWS = {
    "col_disagrees": "row {i} is paired with column {j}, but column {j} is not paired with row {i}",
    "row_disagrees": "column {j} is paired with row {i}, but row {i} is not paired with column {j}",
    "no_entry": "row {i} is paired with column {j}, but A[{i}, {j}] is not an entry",
}


def not_a_matching(name: str, flaw: tuple[str, int, int]) -> ValueError:
    """Describe a flaw: a key of `FLAWS`, a row and a column."""
    kind, i, j = flaw
    return ValueError(f"{name} is not a matching of this matrix: {FLAWS[kind].format(i=i, j=j)}")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matching(Mates):
    """A set of entries of a matrix, no two in the same row or column: a transversal.

    The arrays are read-only once the matching is handed out; copy them to change them.

    Attributes
    ----------
    row_mate : ndarray of int32 or int64, shape (n_rows,)
        ``row_mate[i]`` is the column matched with row i, or -1.
    col_mate : ndarray of int32 or int64, shape (n_cols,)
        ``col_mate[j]`` is the row matched with column j, or -1.
    """

    def _repr_html_(self) -> str:
        rows, cols = self.get().pairs()
        step = -(-rows.size // MOST_BOXES) or 1
        places = zip(rows[::step].tolist(), cols[::step].tolist(), strict=True)
        boxes = [(row, col, 1, 1, "#0072b2") for row, col in places]
        return picture_page(self.shape, self.cardinality, boxes, "matching")

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

    @classmethod
    def from_matlab(cls, p: Any, n_rows: int) -> "Matching":
        """Read MATLAB's ``p = dmperm(A)``: the row of each column, counted from 1, or 0.

        Doubles with integer values will do; indices are int64 then. Whether pairs are entries of a
        matrix is for `is_matching` to tell. Raises TypeError or ValueError if `p` holds something
        else than integers from 0 to `n_rows`, or a row twice.
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

    @classmethod
    def from_pyomo(cls, given: Any, shape: tuple[int, int]) -> "Matching":
        """Read what ``maximum_matching`` or ``dulmage_mendelsohn`` of Pyomo return of a matrix.

        `shape` are its rows and columns. Whether pairs are entries is for `is_matching` to tell.
        Raises TypeError or ValueError if `given` is neither a dict nor a pair (RowPartition,
        ColPartition), or pairs something that is no row or column, or a column twice.
        """
        row_mate = conventions.row_mate_of(conventions.pairs_of(given, "given"), shape, "given")
        return cls(row_mate, invert(row_mate, shape[1], "given")).freeze()

    @classmethod
    def start(cls, graph: BipartiteCSR) -> "Matching":
        """Allocate the empty matching of a matrix, with writable arrays, where the matrix is."""
        # one large block comes cheaper than two
        mates = unmatched(graph.n_rows + graph.n_cols, graph.indptr)
        return cls(mates[: graph.n_rows], mates[graph.n_rows :])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GraphMatching(GraphMates, Matching):
    """A set of edges of a graph, no two at the same vertex.

    It is a `Matching` of the symmetric matrix: ``row_mate`` and ``col_mate`` are one array, called
    `mate` as well.

    Attributes
    ----------
    weight_sum : float, or array of shape () on a GPU
        What `weight` returns.
    guarantee : float
        The weight is at least this share of the greatest that a matching can have (without weights:
        the number of pairs). 0.5, or 0.0 from an engine that promises nothing about the weight.
    info : RunInfo
        The engine that ran, and its account: ``info.steps[0].phases`` are the rounds.
    """

    weight_sum: Any
    guarantee: float
    info: RunInfo

    @property
    def weight(self) -> float:
        """The sum of the magnitudes of the matched edges; without weights, the number of pairs."""
        return float(self.weight_sum)

    @property
    def cardinality(self) -> int:
        """Number of matched pairs, counted each time: O(n)."""
        return n_set(self.mate >= 0) // 2


def invert(row_mate: IndexArray, n_cols: int, name: str) -> IndexArray:
    """Return the mates of the columns, given those of the rows."""
    xp = namespace(row_mate)
    col_mate: IndexArray = xp.full(n_cols, UNMATCHED, row_mate.dtype)
    rows = xp.flatnonzero(row_mate >= 0)
    col_mate[row_mate[rows]] = rows
    if (robbed := xp.flatnonzero(col_mate[row_mate[rows]] != rows)).size:
        i = rows[robbed[0]]
        j = row_mate[i]
        flaw = f"row {i} is paired with column {j}, but row {col_mate[j]} is too"
        raise ValueError(f"{name} is not a matching of this matrix: {flaw}")
    return col_mate
