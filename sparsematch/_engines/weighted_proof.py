"""The proof that a weighted matching is optimal, by its duals alone, where the matrix is."""

import sys

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._engines.edges import by_entry, pairs_among
from sparsematch._types.weighted import SignedCSR, WeightedMatching
from sparsematch._types.weighted_proof import Proof, largest_of, objectives

#: Of costs and duals up to it, a cost less two duals is finite.
_SAFE = 2.0**1020


def prove(signed: SignedCSR, found: WeightedMatching, tolerance: float | None) -> Proof | None:
    """Return the proof that a matching of the graph is optimal; None if its duals are none.

    With costs c, and r and q of unmatched rows and columns, u_i + v_j is at most c_ij, u_i at most
    r_i, v_j at most q_j, with equality for pairs and what is unmatched. At maximum cardinality,
    which must be known, all of u - r may be larger, but none larger than where unmatched, and
    likewise v - q. The objective must be that of the pairs. Time: O(n_rows + n_cols + nnz).
    """
    unmatched = found.row_unmatched_cost, found.col_unmatched_cost
    duals, unit = (found.row_dual, found.col_dual), found.dual_unit
    sizes = [largest_of(side) for side in (*unmatched, *duals)]
    if not (1 <= unit < np.inf and all(size < np.inf for size in sizes)):
        return None  # NaN too
    graph, mates = signed.graph, (found.matching.row_mate, found.matching.col_mate)
    pairs = pairs_among(graph, found.matching)
    if not _has_its_objective(found, signed.weight[pairs], unmatched, mates):
        return None
    factor = 0.125 if max(signed.largest, *sizes) > _SAFE else 1.0
    sign = -factor if found.maximize else factor
    cost = signed.weight * (sign / unit)
    terms = (*(side * sign for side in duals), *(side * (factor / unit) for side in unmatched))
    if tolerance is None:
        near = 2.0**-40 * max(map(largest_of, (cost, *terms)))
    else:
        near = tolerance * (factor / unit)
    stored_rows, stored_cols = graph.orient(*terms[:2])
    cost -= by_entry(graph, stored_rows)
    cost -= stored_cols[graph.indices[: graph.nnz]]
    excess, free = (terms[0] - terms[2], terms[1] - terms[3]), [mate < 0 for mate in mates]
    least = [_least(side[left]) for side, left in zip(excess, free, strict=True)]
    levels = (least[0], least[1]) if found.maximum_cardinality else (0.0, 0.0)
    last = all(
        -_least(-side) <= level + near and lowest >= level - near
        for side, level, lowest in zip(excess, levels, least, strict=True)
    )
    if not (last and _least(cost) >= -near and -_least(-cost[pairs]) <= near):
        return None
    return Proof(cost, *excess, levels, near)


def _has_its_objective(
    found: WeightedMatching,
    matched: FloatArray,
    unmatched: tuple[FloatArray, FloatArray],
    mates: tuple[IndexArray, IndexArray],
) -> bool:
    """Tell whether sums are those of the pairs and of what is left, up to their rounding."""
    left = [side[mate < 0] for side, mate in zip(unmatched, mates, strict=True)]
    totals = objectives(matched, left, found.maximize)
    sizes = objectives(abs(matched), [abs(side) for side in left], False)
    return all(
        said == total or abs(said - total) <= 2.0**-40 * min(size, sys.float_info.max)
        for said, total, size in zip((found.weight, found.objective), totals, sizes, strict=True)
    )


def _least(values: FloatArray) -> float:
    """Return the least, infinite of none."""
    return float(values.min()) if values.size else np.inf
