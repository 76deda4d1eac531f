"""The proof that a weighted matching is optimal, by its duals; factors that are cut off."""

import math
import sys
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray, namespace
from sparsematch._base.errors import warn
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import (
    SignedCSR,
    WeightedCSR,
    WeightedMatching,
    WeightedTransversal,
)

#: Sums of values above it may be infinite before the last is added.
_LARGE_TERM = 2.0**900
#: The range in which doubles have all their digits.
LEAST_FACTOR, LARGEST_FACTOR = sys.float_info.min, sys.float_info.max


def cut_factors(scale: FloatArray) -> bool:
    """Put factors within the range of doubles; tell whether some were not."""
    if not scale.size or (scale.min() >= LEAST_FACTOR and scale.max() <= LARGEST_FACTOR):
        return False
    namespace(scale).clip(scale, LEAST_FACTOR, LARGEST_FACTOR, out=scale)
    return True


def warn_of_cut_factors(logarithms: str = "row_dual and col_dual hold") -> None:
    """Say that some factors are not what the duals say."""
    text = f"factors beyond the range of doubles are cut off; {logarithms} their logarithms"
    warn(RuntimeWarning, text)


class Proof(NamedTuple):
    """What the duals of an optimal matching leave, in a unit of its own, as of costs."""

    entries: FloatArray  #: The cost of each less its duals.
    row_excess: FloatArray  #: The dual of each row less what it costs if unmatched.
    col_excess: FloatArray
    #: The largest of both, that of what is unmatched: infinite if nothing may be.
    levels: tuple[float, float]
    tolerance: float  #: By how much all of these may be wrong.


def as_matching(
    weighted: WeightedCSR, transversal: WeightedTransversal
) -> tuple[SignedCSR, WeightedMatching]:
    """Return a transversal of largest product or sum as a matching of logarithms or magnitudes."""
    graph, weight, total = weighted.graph, weighted.magnitude, transversal.objective
    xp, largest = namespace(weight), weighted.largest
    if transversal.job == "product":
        weight = xp.log(weight)
        largest = largest_of(weight)
    duals = -transversal.row_dual, -transversal.col_dual
    sides = *duals, xp.zeros(graph.n_rows), xp.zeros(graph.n_cols)
    how: Any = {"maximum_cardinality": True, "dual_unit": transversal.dual_unit}
    found = WeightedMatching(transversal.matching, total, total, *sides, **how)
    return SignedCSR(graph, weight, largest), found


def left_over(costs: Any, matching: Matching, capacities: IndexArray | None) -> tuple[Any, Any]:
    """Return which rows and columns are unmatched, or have room, and what that costs each."""
    mate, free = matching.row_mate, [matching.row_mate < 0, matching.col_mate < 0]
    if capacities is not None:
        room = capacities - np.bincount(mate[mate >= 0], minlength=capacities.size)
        free[1], costs = room > 0, (costs[0], costs[1] * room)
    return free, [costs[0][free[0]], costs[1][free[1]]]


def objectives(matched: FloatArray, left: list[FloatArray], maximize: bool) -> tuple[float, float]:
    """Return the weight of the pairs, and the objective, given what is left unmatched costs."""
    least = _sum(namespace(matched).concatenate([-matched if maximize else matched, *left]))
    return _sum(matched), 0.0 - least if maximize else least


def _sum(values: FloatArray) -> float:
    """Return a sum, which is infinite only if it is beyond the range of doubles itself."""
    if largest_of(values) <= _LARGE_TERM:
        return float(values.sum())
    scale = 0.5 ** values.size.bit_length()
    with np.errstate(over="ignore"):
        return float((values * scale).sum() / scale)


def has_its_factors(transversal: WeightedTransversal) -> bool:
    """Tell whether factors, if any, are the exponentials of the duals, or doubles next to them."""
    # The rows' are corrected by the rounding of the pairs' duals.
    xp, limits = namespace(transversal.row_dual), (math.log(LEAST_FACTOR), math.log(LARGEST_FACTOR))
    rows = transversal.row_dual, transversal.row_scale
    cols = transversal.col_dual, transversal.col_scale
    near = 2.0**-36 * max(1.0, largest_of(rows[0]), largest_of(cols[0]))
    with np.errstate(all="ignore"):
        return all(
            scale is None or largest_of(xp.log(scale) - xp.clip(dual, *limits)) <= near
            for dual, scale in (rows, cols)
        )


def largest_of(values: FloatArray) -> float:
    """Return the largest absolute value, NaN if there is one, 0 of none."""
    return float(abs(values).max()) if values.size else 0.0


def unit_of(graph: BipartiteCSR, cost: FloatArray) -> float:
    """Return a power of two in units of which no dual, and no sum of three, is infinite.

    A step of the core lowers the least dual by no more than twice the largest cost, and there are
    at most 64 steps for each entry, row and column; joining and balancing double what they add up
    to. Of an auction on a GPU there are fewer rounds, but of four times the cost, and the matrix
    may be doubled. Costs are scaled without rounding, but those of less than 1e-280 of the largest.
    """
    spare = (graph.nnz + graph.n_rows + graph.n_cols).bit_length() + 16
    return 2.0 ** max(math.frexp(largest_of(cost))[1] + spare - sys.float_info.max_exp, 0)
