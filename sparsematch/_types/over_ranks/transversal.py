"""A transversal of a large product of a matrix over ranks, with the bound that its duals prove."""

from dataclasses import dataclass

from sparsematch._base.arrays import FloatArray
from sparsematch._types.matched import OfMatching
from sparsematch._types.over_ranks.matching import DistributedMatching


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistributedTransversal(OfMatching):
    """A maximum transversal of a `DistributedCSR`, and by how much its product may be too small.

    The pairs are as many as there can be. Their product is the largest, or a large one; no other
    transversal has a product above ``exp(upper_bound)``, and the duals prove it. The arrays are
    read-only.

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

    Examples
    --------
    On a single process, where the result is exact:

    >>> from scipy.sparse import csr_array
    >>> from sparsematch import DistributedCSR, maximum_product_transversal
    >>> A = csr_array([[1., 100., 0.], [2., 10., 4.], [0., 8., 2.]])
    >>> best = maximum_product_transversal(DistributedCSR.from_local(None, A))
    >>> best
    DistributedTransversal(3x3, cardinality 3, at most 0 below the largest logarithm)
    >>> best.matching.row_mate.tolist()
    [1, 0, 2]
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
