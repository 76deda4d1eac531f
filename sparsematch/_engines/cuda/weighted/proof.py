"""What duals prove, on the device: an optimum, or how far from it a matching can be."""

from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import lanes_of
from sparsematch._types.arrays import FloatArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.weighted import LeastCost, WeightedCSR, WeightedTransversal


def is_optimal(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None, _: int
) -> bool:
    """Tell whether the duals prove a maximum matching of the graph optimal.

    Entries cost at least their duals, pairs no more, and free vertices have the largest. Time:
    O(n_rows + n_cols + nnz).
    """
    graph, magnitude, unit = weighted.graph, weighted.magnitude, transversal.dual_unit
    xp, duals = namespace(magnitude), (transversal.row_dual, transversal.col_dual)
    largest = max(_largest(side) for side in (*duals, magnitude))
    if not (1 <= unit < np.inf and largest < np.inf):
        return False  # NaN too
    scale = 0.125 if largest > 2.0**1020 else 1.0  # a cost less two duals is finite
    u, v = (side * scale for side in duals)
    cost = xp.log(magnitude) if transversal.job == "product" else magnitude
    cost = cost * (-scale / unit)
    if tolerance is None:
        tolerance = 2.0**-40 * max(_largest(side) for side in (cost, u, v))
    else:
        tolerance *= scale / unit
    matching = transversal.matching
    major, minor = graph.orient(u, v)
    slack = least_reduced(graph, cost, minor) - major
    mates = graph.orient(matching.row_mate, matching.col_mate)
    pairs = xp.flatnonzero(mates[0] >= 0)
    own = pair_values(graph, mates[0], cost)[pairs] - major[pairs] - minor[mates[0][pairs]]
    if bool((slack < -tolerance).any()) or bool((own > tolerance).any()):
        return False
    free = matching.row_mate < 0, matching.col_mate < 0
    return all(
        not bool(alone.any()) or float(side.max()) <= float(side[alone].min()) + tolerance
        for side, alone in zip((u, v), free, strict=True)
    )


def least_reduced(graph: BipartiteCSR, cost: FloatArray, minor_dual: FloatArray) -> FloatArray:
    """Return the least cost of each stored row less the duals of stored columns.

    Infinite where a row has no entry. Time: O(nnz).
    """
    return _launch(graph, "least_reduced", cost, minor_dual)


def pair_values(graph: BipartiteCSR, major_mate: Any, values: FloatArray) -> FloatArray:
    """Return the value of the pair of each stored row, 0 where it has none. Time: O(nnz)."""
    return _launch(graph, "pair_values", values, major_mate)


def _launch(graph: BipartiteCSR, kernel: str, *arrays: Any) -> FloatArray:
    kernels = compile.load("weighted/proof", graph.dtype)
    found: FloatArray = namespace(graph.indptr).empty(graph.n_major)
    if graph.n_major:
        shift = lanes_of(graph)
        lists = kernels.struct("Costs", indptr=graph.indptr, indices=graph.indices, cost=arrays[0])
        n = graph.dtype.type(graph.n_major)
        kernels.launch(kernel, graph.n_major << int(shift), n, lists, *arrays[1:], shift, found)
    return found


def gap(graph: BipartiteCSR, cost: FloatArray, found: LeastCost) -> float:
    """Return by how much a matching may cost more than the best, in units of its duals.

    No entry may cost less than its duals. By how much its pairs do, and by how much free vertices
    are below the largest dual of their side. Time: O(n_rows + n_cols + nnz).
    """
    mates = graph.orient(found.matching.row_mate, found.matching.col_mate)
    duals = graph.orient(found.row_dual, found.col_dual)
    pairs = namespace(cost).flatnonzero(mates[0] >= 0)
    worse = pair_values(graph, mates[0], cost)[pairs] - duals[0][pairs] - duals[1][mates[0][pairs]]
    total = float(worse.sum()) if pairs.size else 0.0
    for dual, mate in zip(duals, mates, strict=True):
        free = dual[mate < 0]
        if free.size:
            total += float((dual.max() - free).sum())
    return max(total, 0.0)


def _largest(values: FloatArray) -> float:
    return float(abs(values).max()) if values.size else 0.0
