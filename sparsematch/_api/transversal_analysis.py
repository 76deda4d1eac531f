"""Weighted matchings of matrices with the same pattern: one after the other, or all at once."""

from __future__ import annotations  # readable names in help()

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsematch._api.arguments import check_flags
from sparsematch._api.symmetric import read_triangle
from sparsematch._api.weighted_sides import GivenDuals, read_start
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import Array, FloatArray
from sparsematch._base.docstrings import documented
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.pattern import Pattern, read_pattern
from sparsematch._input.weighted import refuse_value, with_values
from sparsematch._types.choices import Triangle
from sparsematch._types.sparse_like import Local
from sparsematch._types.symmetric import SymmetricTransversal
from sparsematch._types.transversal_batch import LeastCostBatch, TransversalBatch
from sparsematch._types.weighted import WeightedCSR, WeightedMatching, WeightedTransversal

#: Values of other types than double that one worker converts before they are used: 1 MB.
_CONVERTED_AT_ONCE = 1 << 17


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TransversalAnalysis:
    """The pattern of a matrix, read and checked, to be matched by any number of values.

    Made by `analyse_transversal`. It never changes, so threads may share it.

    Attributes
    ----------
    shape, nnz
        Rows and columns, and the number of stored entries, the length of ``data``.

    Examples
    --------
    A sequence, as in Newton's method, each step begun where the last one ended:

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import analyse_transversal
    >>> A = csr_array([[1., 100., 0.], [2., 10., 4.], [0., 8., 2.]])
    >>> analysis, best = analyse_transversal(A), None
    >>> for step in range(3):
    ...     best = analysis.maximum_product(A.data, start=best)
    ...     A.data *= 1.01
    >>> best.matching.row_mate.tolist()
    [1, 0, 2]
    """

    _pattern: Pattern

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._pattern.graph.shape

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self._pattern.nnz

    @documented
    def maximum_product(
        self,
        values: Any,
        *,
        scaling: bool = True,
        start: WeightedTransversal | GivenDuals = None,
        workers: int | None = None,
    ) -> WeightedTransversal:
        """Find what `maximum_product_transversal` does, for one matrix with this pattern.

        Parameters
        ----------
        values : array of numbers, shape (nnz,), or sparse array or matrix
            The values, in the order of the ``data`` of the matrix that was analysed, or a matrix
            with its pattern.
        {scaling}
        {start}
        {workers}

        Returns
        -------
        WeightedTransversal
            As that of `maximum_product_transversal`, and of the same objective. With `start` its
            duals, and where several matchings are best its pairs, may be others.

        Raises
        ------
        TypeError, ValueError
            As `maximum_product_transversal`, with its warning; and if `values` are no numbers, not
            as many as entries, or of another pattern, or `start` has another shape or duals that
            are not finite or not those of a product.
        """
        check_flags(scaling=scaling)
        first = read_start(start, self.shape, WeightedTransversal, "product")
        threads, pattern = resolve_workers(workers), self._pattern
        data = pattern.arrange(pattern.read(values, 1))
        weighted = with_values(pattern.graph, data, threads=threads)
        product = operations(WeightedOps, "numpy").maximum_product
        return product(weighted, bool(scaling), False, Run(threads), start=first)

    @documented
    def maximum_products(
        self, values: Any, *, scaling: bool = True, workers: int | None = None
    ) -> TransversalBatch:
        """Find what `maximum_product_transversal` does, for many matrices with this pattern.

        Parameters
        ----------
        values : array of numbers, shape (k, nnz)
            The values of each matrix, in the order of the ``data`` of the one that was analysed.
            A C-contiguous array of doubles is read where it is, unless entries are repeated.
        {scaling}
        {workers}
            They share the matrices.

        Returns
        -------
        TransversalBatch
            Arrays with a row for each matrix, the same for any number of workers.

        Raises
        ------
        TypeError, ValueError
            As `maximum_product`; messages name the matrix as well.

        Notes
        -----
        The first matrix is matched from scratch. All others start from its result, as by `start` of
        `maximum_product`: so put a typical one first. Memory beside the results: three arrays of
        nnz for each worker.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from sparsematch import analyse_transversal
        >>> analysis = analyse_transversal(csr_array([[1, 1], [1, 1]]))
        >>> batch = analysis.maximum_products([[1, 2, 3, 4], [4, 3, 2, 1], [0, 5, 0, 7]])
        >>> batch.cardinality.tolist(), np.exp(batch.objective).round(9).tolist()
        ([2, 2, 1], [6.0, 6.0, 7.0])
        """
        check_flags(scaling=scaling)
        threads, given = resolve_workers(workers), self._pattern.read(values, 2)
        batch = TransversalBatch.empty(self._pattern.graph, len(given), bool(scaling))
        _match_all(self._pattern, given, batch, threads)
        return batch.freeze()

    @documented
    def symmetric_product(
        self,
        values: Any,
        *,
        scaling: bool = True,
        start: SymmetricTransversal | GivenDuals = None,
        workers: int | None = None,
    ) -> SymmetricTransversal:
        """Find what `symmetric_product_transversal` does, for one matrix with this pattern.

        Parameters
        ----------
        values
            As in `maximum_product`; those of a triangle, if the pattern was read from it.
        {scaling}
        {start}
        {workers}

        Returns
        -------
        SymmetricTransversal
            As that of `symmetric_product_transversal`, and of the same objective.

        Raises
        ------
        TypeError, ValueError
            As `maximum_product`; and if the matrix is not square or not symmetric.
        """
        check_flags(scaling=scaling)
        first = read_start(start, self.shape, SymmetricTransversal)
        threads, weighted = resolve_workers(workers), self._symmetric(self._pattern.read(values, 1))
        find = operations(WeightedOps, "numpy").symmetric_product
        return find(weighted, bool(scaling), threads, first)

    @documented
    def symmetric_products(
        self, values: Any, *, scaling: bool = True, workers: int | None = None
    ) -> list[SymmetricTransversal]:
        """Find what `symmetric_product_transversal` does, for many matrices with this pattern.

        Parameters
        ----------
        values
            As in `maximum_products`.
        {scaling}
        {workers}
            They share the matrices as these are matched; pivots are made by one.

        Returns
        -------
        list of SymmetricTransversal
            One for each matrix. All start from the first, as those of `maximum_products` do.

        Raises
        ------
        TypeError, ValueError
            As `symmetric_product`; messages name the matrix where it has a value that is refused.
        """
        check_flags(scaling=scaling)
        threads, given = resolve_workers(workers), self._pattern.read(values, 2)
        find = operations(WeightedOps, "numpy").symmetric_product
        batch = TransversalBatch.empty(self._pattern.graph, len(given), scaling=False)
        _match_all(self._pattern, given, batch, threads)
        pairs = zip(given, batch.freeze(), strict=True)
        return [find(self._symmetric(data), bool(scaling), 1, None, best) for data, best in pairs]

    def _symmetric(self, values: Array) -> WeightedCSR:
        """Return a square matrix by rows: columns of a symmetric one have the same magnitudes."""
        if self.shape[0] != self.shape[1]:
            raise ValueError(f"A must be square, but its shape is {self.shape}")
        graph = self._pattern.graph._replace(flipped=False)
        return with_values(graph, self._pattern.arrange(values))

    @documented
    def least_costs(self, values: Any, *, workers: int | None = None) -> LeastCostBatch:
        """Find maximum matchings of least cost, for many matrices with this pattern.

        Parameters
        ----------
        values : array of real numbers, shape (k, nnz)
            The costs of each matrix, of either sign, as in `maximum_products`. Zero is a cost as
            any other; where the cost is infinite there is no entry. For the greatest weights,
            negate them.
        {workers}
            They share the matrices.

        Returns
        -------
        LeastCostBatch
            Arrays with a row for each matrix, the same for any number of workers: what
            `maximum_weight_matching` finds with ``maximize=False, cardinality="maximum"``.

        Raises
        ------
        TypeError, ValueError
            If `values` are no real numbers, not as many as entries, or one is NaN, infinite and
            negative, or 2**900 or more in magnitude, naming the first.

        Notes
        -----
        Those of dense matrices are a pattern in which all is stored, and ``values = C.reshape(k,
        -1)``. As in `maximum_products` all of a square pattern start from the first.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from sparsematch import analyse_transversal
        >>> costs = np.array([[[4, 1], [2, 3]], [[0, 9], [9, 5]], [[1, np.inf], [1, np.inf]]])
        >>> analysis = analyse_transversal(csr_array(np.ones((2, 2))))
        >>> batch = analysis.least_costs(costs.reshape(3, 4))
        >>> batch.objective.tolist(), batch.row_mate[:2].tolist(), batch.cardinality.tolist()
        ([3.0, 5.0, 1.0], [[1, 0], [0, 1]], [2, 2, 1])
        """
        threads, costs = resolve_workers(workers), self._pattern.read(values, 2)
        if costs.dtype.kind == "c":
            raise TypeError(f"values must be real numbers, not {costs.dtype}")
        empty = TransversalBatch.empty(self._pattern.graph, len(costs), scaling=False)
        mates, duals = (empty.row_mate, empty.col_mate), (empty.row_dual, empty.col_dual)
        batch = LeastCostBatch(*mates, empty.cardinality, empty.objective, *duals)
        _match_all(self._pattern, costs, batch, threads)
        return batch.freeze()

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        return f"TransversalAnalysis({n_rows}x{n_cols}, {self.nnz} entries)"


@documented
def analyse_transversal(
    A: Local, *, triangle: Triangle | None = None, workers: int | None = None
) -> TransversalAnalysis:
    """Read the pattern of a sparse matrix, to match matrices that have it and other values.

    Time: O(n_rows + n_cols + nnz), and a sort where the entries are not in order.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Every stored entry belongs to the pattern; its value does not count. Values follow in the
        order of ``A.data`` if `A` is CSR, CSC or COO; other formats are converted to CSR, whose
        order is meant then.
    triangle : {None, "lower", "upper"}, optional
        The pattern is that of this triangle, and its mirror image. What is stored in the other one
        needs values, too, which do not count.
    {workers}

    Returns
    -------
    TransversalAnalysis
        With ``maximum_product``, for one matrix after the other, ``maximum_products`` and
        ``least_costs``; of symmetric matrices ``symmetric_product`` and ``symmetric_products``.

    {raises_of_patterns}

    See Also
    --------
    maximum_product_transversal : For a single matrix.
    sparsematch.solvers.analyse : The same for factorisations.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import analyse_transversal
    >>> analyse_transversal(csr_array([[1, 1], [0, 1]]))
    TransversalAnalysis(2x2, 3 entries)
    """
    side = read_triangle(triangle)
    return TransversalAnalysis(read_pattern(A, triangle=side, threads=resolve_workers(workers)))


def _match_all(
    pattern: Pattern, values: Array, batch: TransversalBatch | LeastCostBatch, threads: int
) -> None:
    """Match the first matrix, and the others from its result."""
    adds_up = pattern.starts is not None  # else the core reads values in their order
    order = None if adds_up else pattern.order
    at_once = threads * max(1, _CONVERTED_AT_ONCE // max(1, pattern.nnz))
    if values.dtype == np.float64 and values.flags.c_contiguous and not adds_up:  # read in place
        at_once = max(1, len(values))
    ops = operations(WeightedOps, "numpy")
    first: WeightedTransversal | WeightedMatching | None = None
    begin, hard = 0, False
    while begin < len(values):
        end = min(begin + at_once, len(values)) if begin else 1
        given = values[begin:end]
        piece = _as_doubles(pattern.arrange(given) if adds_up else given)
        how = begin, first, hard, threads
        done, long = ops.write_products(pattern.graph, piece, order, batch, *how)
        if done < len(piece):
            data = pattern.arrange(values[begin + done])
            name = f"values of matrix {begin + done}: A"
            if isinstance(batch, LeastCostBatch):
                good = (data == np.inf) | (np.abs(_as_doubles(data)) < 2.0**900)
                why = "but costs must be below 2**900 in magnitude, or inf"
                refuse_value(pattern.graph, data, np.where(good, 0, np.inf), name, why)
            refuse_value(pattern.graph, data, _as_doubles(data), name)
        if begin == 0 < len(values) - 1:
            first = batch[0]
            if isinstance(first, WeightedTransversal):
                hard = long
                magnitude = np.abs(_as_doubles(pattern.arrange(values[0])))
                first = ops.central_duals(pattern.graph, magnitude, first)
        begin = end
    np.sum(batch.row_mate >= 0, axis=1, out=batch.cardinality)


def _as_doubles(values: Array) -> FloatArray:
    """Return doubles of the same magnitudes."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        real = np.abs(values) if values.dtype.kind == "c" else values
        return np.ascontiguousarray(real, np.float64)
