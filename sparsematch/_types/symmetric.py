"""The transversal of a symmetric matrix: one scaling, pivots of one and of two rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.above import above
from sparsematch._base.arrays import FloatArray, IndexArray, scale_entries
from sparsematch._base.docstrings import documented
from sparsematch._types.matching import Matching
from sparsematch._types.mates import MatchedResult, free_of, listed
from sparsematch._types.sparse_like import Sparse

#: The magnitude of a scaled 1 x 1 pivot below which threshold pivoting delays it where the rest of
#: its column is 1: the default threshold of MA57 and MUMPS.
_WEAK = 0.01


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SymmetricTransversal(MatchedResult):
    """A transversal of greatest product of a symmetric matrix, and the pivots made of it.

    Attributes
    ----------
    matching : Matching
        A maximum transversal with the largest product of absolute values. It covers the same rows
        as columns; as a permutation of these it is cycles, whose members share pivots.
    objective : float
        The sum of the natural logarithms of the absolute values of the matched entries.
    partner : ndarray of int32 or int64, shape (n,)
        ``partner[i]`` is the other row of a 2 x 2 pivot, `i` for a 1 x 1 pivot, and -1 for a row
        that is left out, since the matrix is structurally singular.
    dual : ndarray of float64, shape (n,)
        With the cost ``c = -log(abs(a))``: no entry costs less than ``dual[i] + dual[j]``, matched
        ones cost as much, and no row has a greater dual than one that is left out.
    diagonal : ndarray of float64, shape (n,)
        The absolute values of the scaled diagonal entries, at most 1; 0 where there is none.
    factors : ndarray of float64, shape (n,), or None
        Positive factors that make matched entries 1 in magnitude when rows and columns are
        multiplied by them, and leave none larger. In a row that is left out the largest entry
        becomes 1. None if no scaling was wanted.
    """

    matching: Matching
    objective: float
    partner: IndexArray
    dual: FloatArray
    diagonal: FloatArray
    factors: FloatArray | None = None

    @property
    def pairs(self) -> IndexArray:
        """Rows of the 2 x 2 pivots, shape (n_pairs, 2), each in ascending order, by the first."""
        first = np.flatnonzero(self.partner > np.arange(self.partner.size))
        return np.stack([first.astype(self.partner.dtype), self.partner[first]], axis=1)

    @property
    def singles(self) -> IndexArray:
        """Rows of the 1 x 1 pivots, in ascending order."""
        singles = np.flatnonzero(self.partner == np.arange(self.partner.size))
        return singles.astype(self.partner.dtype, copy=False)

    @property
    def weak_singles(self) -> IndexArray:
        """Rows of 1 x 1 pivots below 0.01, in ascending order.

        They are left over from odd cycles, and get numbers on the diagonal only by elimination of
        others: a solver with threshold pivoting delays them.
        """
        singles = self.singles
        return singles[self.diagonal[singles] < _WEAK]

    @property
    def unmatched(self) -> IndexArray:
        """Rows that are left out, in ascending order."""
        return free_of(self.partner)

    @documented
    def scale(self, A: Sparse) -> Sparse:
        """Return the matrix with its rows and columns multiplied by the factors, not reordered.

        Parameters
        ----------
        {A_as_matched}
            One triangle will do.

        Returns
        -------
        sparse array, CSR
            ``diag(factors) @ A @ diag(factors)``: as symmetric as `A` is.

        {raises_of_A}
            Also if there are no factors.
        """
        if self.factors is None:
            call = "symmetric_product_transversal(A, scaling=True)"
            raise ValueError(f"there are no factors: only {call} computes them")
        S = sp.csr_array(self._checked(A), copy=True)
        rows = np.repeat(self.factors, np.diff(S.indptr))
        S.data = scale_entries(S.data, rows, self.factors[S.indices])
        return S

    @documented
    def compress(self, A: Sparse) -> sp.csr_array:
        """Return the compressed graph: one vertex for each pivot, an edge where entries couple two.

        Parameters
        ----------
        {A_as_matched}
            One triangle will do.

        Returns
        -------
        sparse array of int8, CSR
            A symmetric pattern of ones, with a full diagonal, that orderings start from. Vertices
            are numbered by their first rows; a row that is left out is one, too.

        {raises_of_A}
        """
        M, (vertex, n) = self._checked(A).tocoo(), self._vertices()
        places = np.append(vertex[M.row], np.arange(n)), np.append(vertex[M.col], np.arange(n))
        half = sp.coo_array((np.ones(M.nnz + n, bool), places), shape=(n, n)).tocsr()
        return sp.csr_array(half + half.T, dtype=np.int8)  # truth values do not add up

    def permutation(self, order: Any = None) -> IndexArray:
        """Return the order of rows and columns in which an order of the pivots is kept.

        Parameters
        ----------
        order : array of integers, shape (n_vertices,), optional
            The vertices of the compressed graph, first eliminated first. By default by number.

        Returns
        -------
        ndarray of int32 or int64, shape (n,)
            ``A[p][:, p]`` is the reordered matrix: rows of a pair are next to each other. Rows
            that are left out are where their vertices are: put last, they fill a factor.

        Raises
        ------
        TypeError, ValueError
            If `order` does not hold integers, or does not name every vertex once.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> from scipy.sparse.csgraph import reverse_cuthill_mckee
        >>> from sparsematch import symmetric_product_transversal
        >>> A = csr_array([[0, 0, 9, 1], [0, 4, 0, 1], [9, 0, 0, 0], [1, 1, 0, 5]])
        >>> best = symmetric_product_transversal(A)
        >>> graph = best.compress(A)  # of the pivots 0 and 2, 1, 3
        >>> graph.toarray().tolist()
        [[1, 0, 1], [0, 1, 1], [1, 1, 1]]
        >>> best.permutation(reverse_cuthill_mckee(graph, symmetric_mode=True)).tolist()
        [1, 3, 0, 2]
        """
        vertex, n = self._vertices()
        place = np.arange(n)
        if order is not None:
            order = np.asarray(order)
            if order.size and order.dtype.kind not in "iu":
                raise TypeError(f"order must hold integers, not {order.dtype}")
            if order.shape != (n,) or not np.array_equal(np.sort(order), place):
                raise ValueError(f"order must name each of the {n} vertices once")
            place[order.astype(np.intp)] = np.arange(n)
        return np.argsort(place[vertex], kind="stable").astype(self.partner.dtype, copy=False)

    @documented
    def permute(self, A: Sparse, order: Any = None) -> Sparse:
        """Return the matrix, scaled if there are factors, its rows and columns reordered alike.

        Parameters
        ----------
        {A_as_matched}
        order : array of integers, shape (n_vertices,), optional
            As for `permutation`.

        Returns
        -------
        sparse array or matrix, CSR
            ``scale(A)[p][:, p]`` with ``p = permutation(order)``. With `y` its solution for the
            right-hand side ``(factors * b)[p]``, that of `A` is `x` with ``x[p] = factors[p] * y``.
        """
        p = self.permutation(order)
        scaled: Any = self._checked(A).tocsr() if self.factors is None else self.scale(A)
        return scaled[p][:, p]

    def _vertices(self) -> tuple[Any, int]:
        """Return the vertex of each row in the compressed graph, and how many there are."""
        rows = np.arange(self.partner.size)
        first = np.where((self.partner >= 0) & (self.partner < rows), self.partner, rows)
        is_first = first == rows
        return (np.cumsum(is_first) - 1)[first], int(is_first.sum())

    def _checked(self, A: Any) -> Any:
        return above("checked_like")(A, self.shape, self.partner, "the transversal")

    def __repr__(self) -> str:
        n, left = self.partner.size, self.unmatched.size
        pairs, singles = len(self.pairs), self.singles.size
        text = f"{pairs} pair{'s' * (pairs != 1)}, {singles} single{'s' * (singles != 1)}"
        text += f", {left} left out" * (left > 0)
        return f"SymmetricTransversal({n}x{n}, {text})"

    def __str__(self) -> str:
        weak = listed("weak singles", self.weak_singles)
        return repr(self) + weak + listed("left out", self.unmatched)
