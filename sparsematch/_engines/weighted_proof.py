"""The proof that a weighted matching is optimal, by its duals alone, where the matrix is."""

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from sparsematch._base.arrays import FloatArray
from sparsematch._engines.edges import by_entry, pairs_among
from sparsematch._types.bipartite import BipartiteCSR, entry_places
from sparsematch._types.weighted import SignedCSR, WeightedMatching
from sparsematch._types.weighted_proof import Proof, largest_of, left_over, objectives

#: Of costs and duals up to it, a cost less two duals is finite.
_SAFE = 2.0**1020


def prove(signed: SignedCSR, found: WeightedMatching, tolerance: float | None) -> Proof | None:
    """Return the proof that a matching of the graph is optimal; None if its duals are none.

    With costs c, and r and q of unmatched rows and columns, u_i + v_j is at most c_ij, u_i at most
    r_i, v_j at most q_j, with equality for pairs and what is unmatched. At maximum cardinality,
    which must be known, all of u - r may be larger, but none larger than where unmatched, and
    likewise v - q. The objective must be that of the pairs. With capacities columns with room are
    unmatched, and all is checked but ranges. Time: O(n_rows + n_cols + nnz).
    """
    unmatched = found.row_unmatched_cost, found.col_unmatched_cost
    duals, unit = (found.row_dual, found.col_dual), found.dual_unit
    sizes = [largest_of(side) for side in (*unmatched, *duals)]
    if not (1 <= unit < np.inf and all(size < np.inf for size in sizes)):
        return None  # NaN too
    graph, capacities = signed.graph, found.capacities
    free, left = left_over(unmatched, found.matching, capacities)
    plain = capacities is None
    pairs = pairs_among(graph, found.matching) if plain else _shared(found, graph, capacities)
    if pairs is None or not _has_its_objective(found, signed.weight[pairs], left):
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
    excess = terms[0] - terms[2], terms[1] - terms[3]
    least = [_least(side[here]) for side, here in zip(excess, free, strict=True)]
    levels = (least[0], least[1]) if found.maximum_cardinality else (0.0, 0.0)
    last = all(
        -_least(-side) <= level + near and lowest >= level - near
        for side, level, lowest in zip(excess, levels, least, strict=True)
    )
    if not (last and _least(cost) >= -near and -_least(-cost[pairs]) <= near):
        return None
    return Proof(cost, *excess, levels, near)


def _has_its_objective(
    found: WeightedMatching, matched: FloatArray, left: list[FloatArray]
) -> bool:
    """Tell whether sums are those of the pairs and of what is left, up to their rounding."""
    totals = objectives(matched, left, found.maximize)
    sizes = objectives(abs(matched), [abs(side) for side in left], False)
    return all(
        said == total or abs(said - total) <= 2.0**-40 * min(size, sys.float_info.max)
        for said, total, size in zip((found.weight, found.objective), totals, sizes, strict=True)
    )


def _shared(found: WeightedMatching, graph: BipartiteCSR, capacities: Any) -> Any:
    """Return where pairs are, if all are, within capacities, and no more if these must be most."""
    mate, names = found.matching.row_mate, found.matching.col_mate
    rows, cols = entry_places(graph)
    n_rows, n, pairs = mate.size, sum(graph.shape), np.flatnonzero(mate[rows] == cols)
    taken, named = np.bincount(cols[pairs], minlength=names.size), np.flatnonzero(names >= 0)
    agree = np.array_equal(mate[names[named]], named) and names[cols[pairs]].min(initial=0) >= 0
    if not (agree and (taken <= capacities).all() and pairs.size == found.cardinality):
        return None
    # augmenting paths: from n to unmatched rows, from rows to columns, from columns to their rows
    tails = np.append(rows, np.where(mate < 0, n, mate + n_rows))
    heads = np.append(cols + n_rows, np.arange(n_rows))
    paths = sp.csr_array((np.ones(tails.size), (tails, heads)), shape=(n + 1, n + 1))
    reached = breadth_first_order(paths, n, return_predecessors=False)
    more = found.maximum_cardinality and np.pad(taken < capacities, (n_rows, 1))[reached].any()
    return None if more else pairs


def _least(values: FloatArray) -> float:
    """Return the least, infinite of none."""
    return float(values.min()) if values.size else np.inf
