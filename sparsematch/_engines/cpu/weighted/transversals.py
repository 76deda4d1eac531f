"""The transversals with the largest product, sum or smallest magnitude, proved by duals."""

import numpy as np

from sparsematch._base.arrays import FloatArray
from sparsematch._base.pieces import in_pieces
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, workers_of, worthwhile
from sparsematch._engines.cpu.weighted import least_cost as costs
from sparsematch._engines.edges import by_entry, pairs_among
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import Start, WeightedCSR, WeightedTransversal
from sparsematch._types.weighted_proof import cut_factors, warn_of_cut_factors

#: Entries that tell, on most matrices, that not all are whole numbers.
_FEW = 16
#: Logarithms are the costs.
_NO_COST = np.empty(0)


def maximum_product(
    weighted: WeightedCSR,
    scaling: bool,
    approximate: bool,
    run: Run,
    _tolerance: float = 0.0,
    start: Start | None = None,
) -> WeightedTransversal:
    """Return the transversal with the largest product, with factors if `scaling` is set.

    Approximate: by magnitudes rounded to powers of 2. Time: that of `least_cost`.
    """
    graph, values = weighted.graph, weighted.values
    by_logs = scaling and not approximate
    mates, numbers = costs.to_begin_with(graph, start, numbers=2 if by_logs else 1)
    arrays = (values, _rounded_cost(values, run) if approximate else _NO_COST), mates, numbers
    flags, threads = (graph.flipped, by_logs, start is not None), workers_of(run, graph.nnz)
    objective, in_range = _core.largest_product(csr(graph), *arrays, flags, threads)
    duals = costs.read_only_sides(graph, numbers)
    row_scale, col_scale = costs.read_only_sides(graph, numbers, 1) if by_logs else (None, None)
    matching = Matching(*costs.read_only_sides(graph, mates))
    if approximate:
        duals = costs.round_duals(*duals)
        if scaling:
            with np.errstate(over="ignore", under="ignore"):
                row_scale, col_scale = np.exp2(duals[0]), np.exp2(duals[1])
            in_range = not cut_factors(row_scale) | cut_factors(col_scale)
        duals = duals[0] * np.log(2), duals[1] * np.log(2)
        objective = float(np.log(np.abs(values[pairs_among(graph, matching)])).sum())
    if not in_range:
        warn_of_cut_factors()
    found = WeightedTransversal(
        matching, "product", objective, *duals, row_scale, col_scale, approximate=approximate
    )
    return found.freeze() if approximate else found


def maximum_sum(
    weighted: WeightedCSR, run: Run, _tolerance: float = 0.0, start: Start | None = None
) -> WeightedTransversal:
    """Return the transversal with the largest sum, within any tolerance. Time: see `least_cost`."""
    graph, cost = weighted.graph, abs(weighted.values)
    np.negative(cost, out=cost)
    matching, row_dual, col_dual, unit = costs.least_cost(graph, cost, run, weighted.largest, start)
    whole = unit == 1 and costs.are_whole(cost[:_FEW]) and costs.are_whole(cost)
    if whole:
        row_dual, col_dual = costs.round_duals(row_dual, col_dual)
    mate, _ = graph.orient(matching.row_mate, matching.col_mate)
    matched = _core.matched_sum(csr(graph), cost, mate, workers_of(run, graph.nnz))
    total = 0.0 - matched  # no negative zero
    best = WeightedTransversal(matching, "sum", total, row_dual, col_dual, dual_unit=unit)
    return best.freeze() if whole or unit > 1 else best


def bottleneck(weighted: WeightedCSR, run: Run) -> WeightedTransversal:
    """Return the transversal whose smallest magnitude is largest, and a cover of larger entries.

    The cover, its rows and columns flagged by duals of 1, has fewer members than the matching has
    pairs. Time: O(log nnz) maximum matchings.
    """
    graph = weighted.graph
    mates = np.empty(graph.n_rows, graph.dtype), np.empty(graph.n_cols, graph.dtype)
    covers = np.empty(graph.n_rows, bool), np.empty(graph.n_cols, bool)
    arrays = weighted.magnitude, graph.orient(*mates), *graph.orient(*covers)
    smallest = _core.bottleneck(csr(graph), *arrays, workers_of(run, graph.nnz))
    row_dual, col_dual = (cover.astype(np.float64) for cover in covers)
    matching = Matching(*mates)
    return WeightedTransversal(matching, "bottleneck", smallest, row_dual, col_dual).freeze()


def is_bottleneck(weighted: WeightedCSR, transversal: WeightedTransversal) -> bool:
    """Tell whether vertices with duals cover all larger entries, and are fewer than the pairs."""
    graph, magnitude = weighted.graph, weighted.magnitude
    u, v = transversal.row_dual, transversal.col_dual
    rows, cols = graph.orient(u, v)
    covered = by_entry(graph, rows) + cols[graph.indices[: graph.nnz]] >= 1
    matched = magnitude[pairs_among(graph, transversal.matching)]
    fewer = u.sum() + v.sum() < transversal.cardinality or transversal.cardinality == 0
    signs = u.min(initial=0) >= 0 and v.min(initial=0) >= 0
    exact = matched.min(initial=np.inf) == transversal.objective
    return bool(exact and fewer and signs and covered[magnitude > transversal.objective].all())


def read_values(graph: BipartiteCSR, values: FloatArray, workers: int) -> tuple[bool, float, float]:
    """Return whether no entry is repeated, the least magnitude, the largest or NaN."""
    return _core.read_values(csr(graph), values, worthwhile(workers, graph.nnz))


def _rounded_cost(values: FloatArray, run: Run) -> FloatArray:
    """Return the costs -log2(abs(values)), rounded down."""
    cost = np.empty_like(values)

    def write(begin: int, end: int) -> None:
        fraction, exponent = np.frexp(values[begin:end])
        np.subtract(abs(fraction) == 0.5, exponent, out=cost[begin:end])

    run.timed("logarithms", in_pieces, write, cost.size, run.workers)
    return cost
