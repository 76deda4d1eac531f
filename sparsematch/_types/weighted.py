"""The magnitudes of a matrix beside its pattern, and the result of every weighted engine."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._input.pieces import in_pieces
from sparsematch._types.arrays import BoolArray, FloatArray, IndexArray, scale_entries
from sparsematch._types.bipartite import BipartiteCSR, as_bipartite, as_compressed, checked
from sparsematch._types.errors import wrong_type
from sparsematch._types.matching import Matching
from sparsematch._types.sparse_like import Sparse

#: Entries that SciPy sorts and adds up in one call: some 50 ms, in which Ctrl-C has to wait.
_ADDED_AT_ONCE = 1 << 19


@dataclass(frozen=True, slots=True)
class WeightedCSR:
    """A pattern and the magnitudes of its entries, all of them positive and finite, no entry twice.

    Attributes
    ----------
    graph : BipartiteCSR
        The pattern, without the entries whose value is zero.
    magnitude : ndarray of float64, shape (nnz,)
        One for each of ``graph.indices``.
    """

    graph: BipartiteCSR
    magnitude: FloatArray


class LeastCost(NamedTuple):
    """A maximum matching of least cost, and duals that prove it.

    Attributes
    ----------
    matching : Matching
        The matching.
    row_dual, col_dual : ndarray of float64, shapes (n_rows,), (n_cols,)
        Their sum is at most the cost of an entry, and the cost of a matched one. None is above that
        of an unmatched row, or column.
    unit : float
        What 1 of the duals is in units of the costs: 1, or a greater power of two where duals would
        be beyond the range of doubles.
    """

    matching: Matching
    row_dual: FloatArray
    col_dual: FloatArray
    unit: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedTransversal:
    """A maximum transversal of greatest weight, with the duals that prove it.

    The arrays are read-only; copy them to change them.

    Attributes
    ----------
    matching : Matching
        As many pairs as the entries that are not zero allow, and of all such matchings one of
        greatest weight.
    job : {"product", "sum", "bottleneck"}
        What is greatest: the product of the absolute values of the matched entries, their sum, or
        the smallest of them.
    objective : float
        The sum of the natural logarithms of the absolute values (``"product"``), the sum of the
        absolute values (``"sum"``; infinite where that is beyond the range of doubles), or the
        smallest absolute value (``"bottleneck"``; infinite for the empty matching).
    row_dual, col_dual : ndarray of float64, shapes (n_rows,), (n_cols,)
        For ``"product"`` and ``"sum"``, with the cost ``c = -log(abs(a))`` and ``c = -abs(a)``: no
        entry costs less than ``row_dual[i] + col_dual[j]``, matched ones cost as much, and no
        vertex has a greater dual than an unmatched one of its side. For ``"bottleneck"``: ones for
        rows and columns that together contain every entry larger than the objective, and are fewer
        than the pairs; zeros elsewhere. They are finite: see `dual_unit`.
    row_scale, col_scale : ndarray of float64 or None
        For ``"product"``: positive factors of the rows and columns that make matched entries 1 in
        magnitude, and leave none larger. None for the other jobs, and where no scaling was wanted.
    approximate : bool
        Whether scaled matched entries are only known to lie above 1/2.
    dual_unit : float
        What 1 of the duals stands for: 1, unless a dual of a ``"sum"`` would be beyond the range of
        doubles, as with several entries above 1e300. Then it is a greater power of two, and the
        cost is ``c = -abs(a) / dual_unit``.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximum_product_transversal
    >>> A = csr_array([[1., 100., 0.], [2., 10., 4.], [0., 8., 2.]])
    >>> best = maximum_product_transversal(A)
    >>> best
    WeightedTransversal(3x3, product, cardinality 3)
    >>> best.matching.row_mate.tolist(), float(np.exp(best.objective).round(9))
    ([1, 0, 2], 400.0)
    """

    matching: Matching
    job: str
    objective: float
    row_dual: FloatArray
    col_dual: FloatArray
    row_scale: FloatArray | None = None
    col_scale: FloatArray | None = None
    approximate: bool = False
    dual_unit: float = 1.0

    def freeze(self) -> "WeightedTransversal":
        """Make the arrays read-only, and return the object."""
        self.matching.freeze()
        for array in (self.row_dual, self.col_dual, self.row_scale, self.col_scale):
            if array is not None:
                array.flags.writeable = False
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.matching.shape

    @property
    def cardinality(self) -> int:
        """Number of matched pairs."""
        return self.matching.cardinality

    @property
    def is_perfect(self) -> bool:
        """Whether every row and every column is matched."""
        return self.matching.is_perfect

    @property
    def unmatched_rows(self) -> IndexArray:
        """Rows without a column, in ascending order."""
        return np.flatnonzero(self.matching.row_mate < 0).astype(
            self.matching.row_mate.dtype, copy=False
        )

    @property
    def unmatched_cols(self) -> IndexArray:
        """Columns without a row, in ascending order."""
        return np.flatnonzero(self.matching.col_mate < 0).astype(
            self.matching.col_mate.dtype, copy=False
        )

    def scale(self, A: Sparse) -> Sparse:
        """Return the matrix with its rows and columns multiplied by the factors, not reordered.

        Parameters
        ----------
        A : sparse array or matrix, shape (n_rows, n_cols)
            The matrix that was matched; it is not modified.

        Returns
        -------
        sparse array, CSR
            ``diag(row_scale) @ A @ diag(col_scale)``.

        Raises
        ------
        TypeError
            If `A` is not a sparse matrix.
        ValueError
            If it has another shape, its arrays are inconsistent, or there are no factors.
        """
        if self.row_scale is None or self.col_scale is None:
            raise ValueError(
                "there are no factors: only maximum_product_transversal(A, scaling=True) computes "
                "them"
            )
        S = sp.csr_array(self._checked(A), copy=True)
        rows, cols = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr)), S.indices
        S.data = scale_entries(S.data, self.row_scale[rows], self.col_scale[cols])
        return S

    def permute(self, A: Sparse) -> Sparse:
        """Return the matrix, scaled if there are factors, rows reordered: pairs on the diagonal.

        Parameters
        ----------
        A : sparse array or matrix, shape (n_rows, n_cols)
            The matrix that was matched; it is not modified.

        Returns
        -------
        sparse array or matrix, CSR
            ``scale(A)[matching.as_permutation()]``.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> from sparsematch import maximum_product_transversal
        >>> A = csr_array([[1., 100., 0.], [2., 10., 4.], [0., 8., 2.]])
        >>> maximum_product_transversal(A).permute(A).toarray().round(3)
        array([[1.  , 0.1 , 1.  ],
               [0.5 , 1.  , 0.  ],
               [0.  , 0.16, 1.  ]])
        """
        scaled: Any = self._checked(A) if self.row_scale is None else self.scale(A)
        return scaled[self.matching.as_permutation()]

    def _checked(self, A: Any) -> Any:
        """Return the matrix in CSR."""
        if not sp.issparse(A):
            raise wrong_type("A", A, "a SciPy sparse array or matrix")
        if A.shape != self.shape:
            raise ValueError(f"A has shape {A.shape}, but {self.shape} was matched")
        return checked(A, "A").tocsr()

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        return f"WeightedTransversal({n_rows}x{n_cols}, {self.job}, cardinality {self.cardinality})"

    def __str__(self) -> str:
        text = repr(self)
        for side, left in (("rows", self.unmatched_rows), ("columns", self.unmatched_cols)):
            if left.size:
                listed = ", ".join(map(str, left[:10].tolist())) + (
                    ", ..." if left.size > 10 else ""
                )
                text += f"\n  unmatched {side}: {left.size} ({listed})"
        return text


def as_weighted(A: Any, *, name: str = "A", threads: int = 1) -> WeightedCSR:
    """View a sparse matrix as a bipartite graph with the magnitudes of its entries as weights.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Of booleans, integers, real or complex numbers. Entries in the same place are added up, as
        SciPy does; what is zero then is no entry.
    name : str, optional
        What messages call the matrix.
    threads : int, optional
        How many read the entries of a large matrix.

    Returns
    -------
    WeightedCSR
        The arrays are those of `A` where nothing had to be left out.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or its entries are not numbers.
    ValueError
        If its index arrays are inconsistent, or the magnitude of an entry is not a finite double,
        naming the first.
    """
    A = as_compressed(A, name)
    graph = as_bipartite(A, name=name, threads=threads)
    data = np.asarray(A.data)
    if data.dtype.kind not in "biufc":
        raise TypeError(f"{name}.data must hold numbers, not {data.dtype}")
    if data.ndim != 1 or data.size < graph.nnz:
        raise ValueError(f"{name}.data has shape {data.shape}, but there are {graph.nnz} entries")
    if _has_duplicates(graph, threads):
        graph, data = _add_up(graph, data)
    magnitude, least, largest = _magnitude(data[: graph.nnz], threads)
    if magnitude.size:
        if not np.isfinite(largest):
            _refuse_value(graph, data, magnitude, name)
        if least == 0:
            keep = magnitude != 0
            graph, magnitude = keep_entries(graph, keep), magnitude[keep]
    return WeightedCSR(graph, magnitude)


def _magnitude(data: NDArray[Any], threads: int) -> tuple[FloatArray, float, float]:
    """Return the absolute values, the least, and the largest: NaN if one of them is."""
    magnitude = np.empty(data.size)

    def write(begin: int, end: int) -> tuple[float, float]:
        piece, out = data[begin:end], magnitude[begin:end]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if data.dtype.kind in "biu":
                piece = piece.astype(out.dtype)  # the smallest integer has no counterpart
            if piece.dtype == out.dtype:
                np.abs(piece, out=out)
            else:
                out[:] = np.abs(piece)
        return (out.min(), out.max()) if out.size else (np.inf, 0.0)

    least, largest = zip(*in_pieces(write, data.size, threads), strict=True)
    return magnitude, float(np.min(least)), float(np.max(largest))


def _has_duplicates(graph: BipartiteCSR, threads: int) -> bool:
    """Tell whether some row or column may have duplicates: its indices do not strictly ascend."""
    indices, starts = graph.indices[: graph.nnz], graph.indptr[1:-1]
    falls = np.empty(max(graph.nnz - 1, 0), bool)

    def compare(begin: int, end: int) -> None:
        np.less_equal(indices[begin + 1 : end + 1], indices[begin:end], out=falls[begin:end])

    in_pieces(compare, falls.size, threads)
    falls[starts[(starts > 0) & (starts < graph.nnz)] - 1] = False
    return bool(falls.any())


def _add_up(graph: BipartiteCSR, data: NDArray[Any]) -> tuple[BipartiteCSR, NDArray[Any]]:
    """Sort the entries of each row, and add up those in the same place."""
    wide = data.dtype.kind in "biu" or data.dtype.itemsize < 4
    dtype = np.float64 if wide else data.dtype
    cuts = np.arange(_ADDED_AT_ONCE, graph.nnz, _ADDED_AT_ONCE)
    ends = np.unique([*np.searchsorted(graph.indptr[:-1], cuts), graph.n_major])
    indices, sums = graph.indices[: graph.nnz].copy(), data[: graph.nnz].astype(dtype)
    starts = np.zeros(graph.n_major + 1, graph.dtype)
    for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        begin, end = graph.indptr[first], graph.indptr[last]
        arrays = sums[begin:end], indices[begin:end]  # which SciPy overwrites
        indptr = graph.indptr[first : last + 1] - begin
        A = sp.csr_array((*arrays, indptr), shape=(last - first, graph.n_minor))
        A.sum_duplicates()
        starts[first + 1 : last + 1] = starts[first] + A.indptr[1:]
        indices[starts[first] : starts[last]] = A.indices
        sums[starts[first] : starts[last]] = A.data
    return _with_arrays(graph, starts, indices[: starts[-1]]), sums[: starts[-1]]


def keep_entries(graph: BipartiteCSR, keep: BoolArray) -> BipartiteCSR:
    """Return the graph of those entries that are flagged."""
    before = np.zeros(keep.size + 1, graph.dtype)
    np.cumsum(keep, out=before[1:])
    return _with_arrays(graph, before[graph.indptr], graph.indices[: graph.nnz][keep])


def _with_arrays(graph: BipartiteCSR, indptr: Any, indices: Any) -> BipartiteCSR:
    """Return the graph with other entries, its index type kept."""
    indptr, indices = (np.ascontiguousarray(array, graph.dtype) for array in (indptr, indices))
    return BipartiteCSR(graph.n_rows, graph.n_cols, indptr, indices, graph.backend, graph.flipped)


def _refuse_value(
    graph: BipartiteCSR, data: NDArray[Any], magnitude: FloatArray, name: str
) -> None:
    p = int(np.flatnonzero(~np.isfinite(magnitude))[0])
    major = int(np.searchsorted(graph.indptr, p, side="right")) - 1
    i, j = graph.orient(major, int(graph.indices[p]))
    why = "is not finite" if not np.isfinite(data[p]) else "is too large for a double"
    raise ValueError(f"{name}[{i}, {j}] is {data[p]}, which {why}; weights must be finite")
