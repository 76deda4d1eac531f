"""The signed values of a matrix beside its pattern, and a matching of greatest or least weight."""

from dataclasses import dataclass

from sparsematch._base.arrays import FloatArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.mates import MatchedResult


@dataclass(frozen=True, slots=True)
class SignedCSR:
    """A pattern and the real values of its entries, all of them finite, none twice."""

    graph: BipartiteCSR  #: The pattern, entries whose value is zero included.
    weight: FloatArray  #: Shape (nnz,). One for each of ``graph.indices``.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedMatching(MatchedResult):
    """A matching of greatest or least weight, with the duals that prove it.

    Attributes
    ----------
    matching : Matching
        The pairs: ``matching.pairs()`` are their rows and columns, ``matching.row_mate`` the column
        of each row, or -1.
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
        columns.
    row_unmatched_cost, col_unmatched_cost : ndarray of float64, shapes (n_rows,), (n_cols,)
        What each row and column costs if it is unmatched.
    maximize : bool
        Whether the objective is greatest, not least.
    maximum_cardinality : bool
        Whether this is so among the matchings of maximum cardinality only.
    dual_unit : float
        What 1 of the duals stands for: 1, or a greater power of two where duals would be beyond the
        range of doubles.
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

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        which = "greatest" if self.maximize else "least"
        return (
            f"WeightedMatching({n_rows}x{n_cols}, {which} objective {self.objective:.6g}, "
            f"cardinality {self.cardinality})"
        )
