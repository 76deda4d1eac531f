"""The magnitudes of a matrix beside its pattern, and the result of every weighted engine."""

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsematch._base.above import above
from sparsematch._base.arrays import FloatArray, IndexArray, namespace, on_gpu, scale_by_parts
from sparsematch._base.docstrings import documented
from sparsematch._types.bipartite import BipartiteCSR, list_of_each
from sparsematch._types.matching import Matching
from sparsematch._types.mates import MatchedResult, listed
from sparsematch._types.sparse_like import Sparse

#: log(2) in two parts: a whole number below 2**20 times the first is exact.
_LOG_2 = float(np.log(2.0))
_LOG_2_HIGH = float.fromhex("0x1.62e42fep-1")
_LOG_2_LOW = float.fromhex("0x1.f473de6af278fp-30")


@dataclass(frozen=True)
class WeightedCSR:
    """A pattern and the values of its entries, all of them finite and not zero, none twice."""

    graph: BipartiteCSR  #: The pattern, without the entries whose value is zero.
    values: FloatArray  #: Shape (nnz,). One for each of ``graph.indices``; only magnitudes count.
    largest: float  #: The largest magnitude; 0 if there are none.

    @cached_property
    def magnitude(self) -> FloatArray:
        """Absolute values."""
        return abs(self.values)


@dataclass(frozen=True, slots=True)
class SignedCSR:
    """A pattern and the real values of its entries, all of them finite, none twice."""

    graph: BipartiteCSR  #: The pattern, entries whose value is zero included.
    weight: FloatArray  #: Shape (nnz,). One for each of ``graph.indices``.
    largest: float  #: The largest of their magnitudes; 0 if there are none.


class LeastCost(NamedTuple):
    """A maximum matching of least cost, and duals that prove it."""

    matching: Matching
    #: Shapes (n_rows,), (n_cols,). Their sum is at most the cost of an entry, and the cost of a
    #: matched one. None is above that of an unmatched row, or column.
    row_dual: FloatArray
    col_dual: FloatArray
    #: Units of cost in 1 of the duals: 1, or a greater power of two where doubles would overflow.
    unit: float

    def in_units_of_costs(self) -> "LeastCost":
        """Return it with a unit of 1, if duals are doubles then."""
        if self.unit == 1:
            return self
        sides = self.row_dual, self.col_dual
        most = max((float(abs(side).max()) for side in sides if side.size), default=0.0)
        if most > sys.float_info.max / self.unit:
            return self
        return LeastCost(self.matching, sides[0] * self.unit, sides[1] * self.unit, 1.0)


class Start(NamedTuple):
    """What a search may begin with: of similar costs, in their unit. None of it need be right."""

    matching: Matching | None
    row_dual: FloatArray  #: Finite, as those of columns.
    col_dual: FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedTransversal(MatchedResult):
    """A maximum transversal of greatest weight, with the duals that prove it.

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
    gap : float
        By how much the objective of a ``"product"`` or ``"sum"`` can be below the greatest, as the
        duals prove: 0 in host memory; on a GPU some roundings, or what a `tolerance` allowed.
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
    gap: float = 0.0

    @documented
    def scale(self, A: Sparse) -> Sparse:
        """Return the matrix with its rows and columns multiplied by the factors, not reordered.

        Parameters
        ----------
        {A_as_matched}

        Returns
        -------
        sparse array, CSR
            ``diag(row_scale) @ A @ diag(col_scale)``.

        {raises_of_A}
            Also if there are no factors.
        """
        (row, p), (col, q) = self.scale_parts()
        S = self._checked(A)
        S = S.copy() if on_gpu(S) else sp.csr_array(S, copy=True)
        rows, cols = list_of_each(S.indptr, S.data.size), S.indices
        S.data = scale_by_parts(S.data, (row[rows], p[rows]), (col[cols], q[cols]))
        return S

    def scale_parts(self) -> tuple[tuple[FloatArray, IndexArray], tuple[FloatArray, IndexArray]]:
        """Return the factors as mantissas and exponents of 2, which have no limits.

        Returns
        -------
        (ndarray of float64, ndarray of int64), shape (n_rows,) each, and (n_cols,) each
            Factors of rows, and of columns, are ``mantissa * 2.0**exponent``, with ``0.5 <=
            mantissa < 1``. They are ``row_scale`` and ``col_scale`` where these are in the range of
            doubles, and the exponentials of the duals elsewhere.

        Raises
        ------
        ValueError
            If there are no factors.
        """
        if self.row_scale is None or self.col_scale is None:
            call = "maximum_product_transversal(A, scaling=True)"
            raise ValueError(f"there are no factors: only {call} computes them")
        return _parts(self.row_scale, self.row_dual), _parts(self.col_scale, self.col_dual)

    @documented
    def permute(self, A: Sparse) -> Sparse:
        """Return the matrix, scaled if there are factors, rows reordered: pairs on the diagonal.

        Parameters
        ----------
        {A_as_matched}

        Returns
        -------
        sparse array or matrix, CSR
            ``scale(A)[matching.as_permutation()]``.
        """
        scaled: Any = self._checked(A) if self.row_scale is None else self.scale(A)
        return scaled[self.matching.as_permutation()]

    def _checked(self, A: Any) -> Any:
        """Return the matrix in CSR."""
        return above("checked_like")(A, self.shape, self.row_dual, "the transversal").tocsr()

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        return f"WeightedTransversal({n_rows}x{n_cols}, {self.job}, cardinality {self.cardinality})"

    def __str__(self) -> str:
        rows = listed("unmatched rows", self.unmatched_rows)
        return repr(self) + rows + listed("unmatched columns", self.unmatched_cols)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedMatching(MatchedResult):
    """A matching of greatest or least weight, with the duals that prove it.

    Attributes
    ----------
    matching : Matching
        The pairs: ``matching.pairs()`` are their rows and columns, ``matching.row_mate`` the column
        of each row, or -1. With `capacities` columns may have several rows: ``col_mate`` is one.
    weight : float
        The sum of the weights of the pairs.
    objective : float
        What is greatest, `weight` less the costs of the unmatched, if `maximize` is set; else what
        is least, `weight` and these costs. Infinite where that is beyond the range of doubles.
    row_dual, col_dual : ndarray of float64, shapes (n_rows,), (n_cols,)
        The proof, in units of `dual_unit`. With costs, ``maximize=False``: no entry costs less than
        ``row_dual[i] + col_dual[j]``, and pairs cost as much; no dual exceeds the cost of its
        vertex if unmatched, and unmatched ones are equal to it; so all duals add up to the
        objective. With weights, ``maximize=True``, the same with all signs changed: no entry weighs
        more than its duals, none of which is less than the negative cost. At maximum cardinality
        the costs may be exceeded, in all rows by no more than in unmatched ones, and likewise in
        columns. With `capacities` columns that could take more rows are unmatched, as many times,
        and those of all columns count as many times as their capacity in the sum.
    row_unmatched_cost, col_unmatched_cost : ndarray of float64, shapes (n_rows,), (n_cols,)
        What each row and column costs if it is unmatched.
    maximize : bool
        Whether the objective is greatest, not least.
    maximum_cardinality : bool
        Whether this is so among the matchings of maximum cardinality only.
    dual_unit : float
        What 1 of the duals stands for: 1, or a greater power of two where duals would be beyond the
        range of doubles.
    capacities : ndarray of int64, shape (n_cols,), or None
        How many rows each column may have, if not one.
    """

    matching: Matching
    weight: float
    objective: float
    row_dual: FloatArray
    col_dual: FloatArray
    row_unmatched_cost: FloatArray
    col_unmatched_cost: FloatArray
    maximize: bool = True
    maximum_cardinality: bool = False
    dual_unit: float = 1.0
    capacities: IndexArray | None = None

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        what = f"{'greatest' if self.maximize else 'least'} objective {self.objective:.6g}"
        return f"WeightedMatching({n_rows}x{n_cols}, {what}, cardinality {self.cardinality})"


def _parts(scale: FloatArray, dual: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Return factors as mantissas and exponents: exponentials of the duals where cut off."""
    xp = namespace(scale)
    mantissa, exponent = xp.frexp(scale)
    exponent = exponent.astype(np.int64)
    double = np.finfo(np.float64)
    cut = xp.flatnonzero((scale <= double.tiny) | (scale >= double.max))
    if cut.size:
        power = xp.rint(dual[cut] / _LOG_2)
        rest = dual[cut] - power * _LOG_2_HIGH - power * _LOG_2_LOW
        mantissa[cut], more = xp.frexp(xp.exp(rest))
        exponent[cut] = power.astype(np.int64) + more
    return mantissa, exponent
