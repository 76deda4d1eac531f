"""The transversals with the largest product, sum or smallest magnitude, proved by duals."""

import numpy as np

from sparsematch._base.arrays import FloatArray
from sparsematch._base.pieces import in_pieces
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, worthwhile
from sparsematch._engines.cpu.weighted.least_cost import are_whole, least_cost, round_duals
from sparsematch._engines.edges import by_entry, pairs_among
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import Start, WeightedCSR, WeightedTransversal
from sparsematch._types.weighted_proof import warn_of_cut_factors

#: No logarithm of a double is larger, of base 2 or e.
_LOGARITHM = 1100.0
#: Entries that tell, on most matrices, that not all are whole numbers.
_FEW = 16


def maximum_product(
    weighted: WeightedCSR,
    scaling: bool,
    approximate: bool,
    workers: int,
    _tolerance: float = 0.0,
    start: Start | None = None,
) -> WeightedTransversal:
    """Return the transversal with the largest product, with factors if `scaling` is set.

    Approximate: by magnitudes rounded to powers of 2. The optimum is within any tolerance. Time:
    that of `least_cost`.
    """
    graph, magnitude = weighted.graph, weighted.magnitude
    cost = (_rounded_cost if approximate else product_cost)(magnitude, workers)
    matching, row_dual, col_dual, _ = least_cost(graph, cost, workers, _LOGARITHM, start)
    if approximate:
        row_dual, col_dual = round_duals(row_dual, col_dual)
    row_scale = col_scale = None
    if scaling:
        row_scale, col_scale = _factors(
            weighted, matching, row_dual, col_dual, approximate, workers
        )
    if approximate:
        row_dual, col_dual = row_dual * np.log(2), col_dual * np.log(2)
        cost = product_cost(magnitude, workers)
    return WeightedTransversal(
        matching,
        "product",
        0.0 - _matched_sum(graph, cost, matching),  # no negative zero
        row_dual,
        col_dual,
        row_scale,
        col_scale,
        approximate,
    ).freeze()


def maximum_sum(
    weighted: WeightedCSR, workers: int, _tolerance: float = 0.0, start: Start | None = None
) -> WeightedTransversal:
    """Return the transversal with the largest sum, within any tolerance. Time: see `least_cost`."""
    graph, magnitude = weighted.graph, weighted.magnitude
    found = least_cost(graph, -magnitude, workers, weighted.largest, start)
    matching, row_dual, col_dual, unit = found
    if unit == 1 and are_whole(magnitude[:_FEW]) and are_whole(magnitude):
        row_dual, col_dual = round_duals(row_dual, col_dual)
    total = _matched_sum(graph, magnitude, matching)
    return WeightedTransversal(matching, "sum", total, row_dual, col_dual, dual_unit=unit).freeze()


def bottleneck(weighted: WeightedCSR, workers: int) -> WeightedTransversal:
    """Return the transversal whose smallest magnitude is largest, and a cover of larger entries.

    The cover, its rows and columns flagged by duals of 1, has fewer members than the matching has
    pairs. Time: O(log nnz) maximum matchings.
    """
    graph = weighted.graph
    mates = np.empty(graph.n_rows, graph.dtype), np.empty(graph.n_cols, graph.dtype)
    covers = np.empty(graph.n_rows, bool), np.empty(graph.n_cols, bool)
    smallest = _core.bottleneck(
        csr(graph),
        weighted.magnitude,
        graph.orient(*mates),
        *graph.orient(*covers),
        worthwhile(workers, graph.nnz),
    )
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
    larger = magnitude > transversal.objective
    exact = matched.min(initial=np.inf) == transversal.objective
    return bool(exact and fewer and signs and covered[larger].all())


def read_magnitudes(
    graph: BipartiteCSR, values: FloatArray, magnitude: FloatArray, workers: int
) -> tuple[bool, float, float]:
    """Write magnitudes; return whether no entry is repeated, the least, the largest or NaN."""
    return _core.magnitudes(csr(graph), values, magnitude, worthwhile(workers, graph.nnz))


def product_cost(magnitude: FloatArray, workers: int) -> FloatArray:
    """Return the costs -log(magnitude)."""
    cost = np.empty_like(magnitude)

    def write(begin: int, end: int) -> None:
        piece = cost[begin:end]
        np.negative(np.log(magnitude[begin:end], out=piece), out=piece)

    in_pieces(write, cost.size, workers)
    return cost


def _rounded_cost(magnitude: FloatArray, workers: int) -> FloatArray:
    """Return the costs -log2(magnitude), rounded down."""
    cost = np.empty_like(magnitude)

    def write(begin: int, end: int) -> None:
        fraction, exponent = np.frexp(magnitude[begin:end])
        np.subtract(fraction == 0.5, exponent, out=cost[begin:end])

    in_pieces(write, cost.size, workers)
    return cost


def _matched_sum(graph: BipartiteCSR, values: FloatArray, matching: Matching) -> float:
    mate = graph.orient(matching.row_mate, matching.col_mate)[0]
    return _core.matched_sum(csr(graph), values, mate)


def _factors(
    weighted: WeightedCSR,
    matching: Matching,
    row_dual: FloatArray,
    col_dual: FloatArray,
    approximate: bool,
    workers: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the exponentials of the duals, the rows' corrected so that pairs are scaled to 1."""
    graph = weighted.graph
    mate = graph.orient(matching.row_mate, matching.col_mate)[0]
    scales = np.empty_like(row_dual), np.empty_like(col_dual)
    in_range = _core.scale_factors(
        csr(graph),
        (weighted.magnitude, mate),
        (row_dual, col_dual),
        scales,
        (graph.flipped, approximate),
        worthwhile(workers, graph.nnz),
    )
    if not in_range:
        warn_of_cut_factors()
    return scales
