"""What duals prove, on the device: an optimum, or how far from it a matching can be."""

from typing import Any

from sparsematch._base.arrays import FloatArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import lanes_of
from sparsematch._engines.operations import in_host_memory_only
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.weighted import LeastCost, WeightedCSR, WeightedTransversal
from sparsematch._types.weighted_proof import (
    bounded_duals,
    free_are_last,
    has_its_factors,
    has_its_objective,
    largest_of,
)

_load = compile.declare("weighted/proof")


def is_optimal(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None, _: int
) -> bool:
    """Tell whether the duals prove a maximum matching of the graph optimal.

    Entries cost at least their duals, pairs no more, and free vertices have the largest. And
    whether its objective and its factors are those of its pairs and duals. Time: O(n_rows + n_cols
    + nnz).
    """
    if transversal.job == "bottleneck":
        in_host_memory_only()
    graph, matching, magnitude = weighted.graph, transversal.matching, weighted.magnitude
    mate = graph.orient(matching.row_mate, matching.col_mate)[0]
    pairs = namespace(magnitude).flatnonzero(mate >= 0)
    matched = pair_values(graph, mate, magnitude)[pairs]
    return (
        has_its_objective(transversal, matched)
        and has_its_factors(transversal)
        and _is_least_cost(weighted, transversal, (mate, pairs), tolerance)
    )


def _is_least_cost(
    weighted: WeightedCSR,
    transversal: WeightedTransversal,
    matched: tuple[Any, Any],
    tolerance: float | None,
) -> bool:
    """Tell whether the duals prove it, given the mates of stored rows, and which have one."""
    graph, magnitude, unit = weighted.graph, weighted.magnitude, transversal.dual_unit
    bounded = bounded_duals(weighted, transversal)
    if bounded is None:
        return False
    scale, u, v = bounded
    cost = namespace(magnitude).log(magnitude) if transversal.job == "product" else magnitude
    cost = cost * (-scale / unit)
    if tolerance is None:
        tolerance = 2.0**-40 * max(largest_of(side) for side in (cost, u, v))
    else:
        tolerance *= scale / unit
    major, minor = graph.orient(u, v)
    mate, pairs = matched
    slack = least_reduced(graph, cost, minor) - major
    own = pair_values(graph, mate, cost)[pairs] - major[pairs] - minor[mate[pairs]]
    if bool((slack < -tolerance).any()) or bool((own > tolerance).any()):
        return False
    return free_are_last(u, v, transversal.matching, tolerance)


def least_reduced(graph: BipartiteCSR, cost: FloatArray, minor_dual: FloatArray) -> FloatArray:
    """Return the least cost of each stored row less the duals of stored columns.

    Infinite where a row has no entry. Time: O(nnz).
    """
    return _launch(graph, "least_reduced", cost, minor_dual)


def pair_values(graph: BipartiteCSR, major_mate: Any, values: FloatArray) -> FloatArray:
    """Return the value of the pair of each stored row, 0 where it has none. Time: O(nnz)."""
    return _launch(graph, "pair_values", values, major_mate)


def _launch(graph: BipartiteCSR, kernel: str, *arrays: Any) -> FloatArray:
    kernels = _load(graph.dtype)
    found: FloatArray = namespace(graph.indptr).empty(graph.n_major)
    if graph.n_major:
        shift = lanes_of(graph)
        lists = kernels.struct("Costs", graph, cost=arrays[0])
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
