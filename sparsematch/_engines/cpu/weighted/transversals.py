"""The transversals with the largest product, sum or smallest magnitude, proved by duals."""

import warnings

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.certificates import vertex_cover
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._engines.cpu.matching import auto
from sparsematch._engines.cpu.weighted.least_cost import least_cost
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import FloatArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.errors import stack_level
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import WeightedCSR, WeightedTransversal, keep_entries

_LARGEST, _SMALLEST = np.finfo(np.float64).max, np.finfo(np.float64).tiny


def maximum_product(weighted: WeightedCSR, scaling: bool, approximate: bool) -> WeightedTransversal:
    """Return the transversal with the largest product, with factors if `scaling` is set.

    Approximate: by magnitudes rounded to powers of 2. Time: that of `least_cost`.
    """
    graph, magnitude = weighted.graph, weighted.magnitude
    with np.errstate(divide="ignore"):
        cost = _rounded_cost(magnitude) if approximate else -np.log(magnitude)
    matching, row_dual, col_dual = least_cost(graph, cost)
    matched = magnitude[matched_entries(graph, matching)]
    row_scale = col_scale = None
    if scaling:
        row_scale, col_scale = _factors(matched, matching, row_dual, col_dual, approximate)
    if approximate:
        row_dual, col_dual = row_dual * np.log(2), col_dual * np.log(2)
    return WeightedTransversal(
        matching,
        "product",
        float(np.log(matched).sum()),
        row_dual,
        col_dual,
        row_scale,
        col_scale,
        approximate,
    ).freeze()


def maximum_sum(weighted: WeightedCSR) -> WeightedTransversal:
    """Return the transversal with the largest sum. Time: that of `least_cost`."""
    matching, row_dual, col_dual = least_cost(weighted.graph, -weighted.magnitude)
    total = float(weighted.magnitude[matched_entries(weighted.graph, matching)].sum())
    return WeightedTransversal(matching, "sum", total, row_dual, col_dual).freeze()


def bottleneck(weighted: WeightedCSR) -> WeightedTransversal:
    """Return the transversal whose smallest magnitude is largest, and a cover of larger entries.

    The cover, its rows and columns flagged by duals of 1, has fewer members than the matching has
    pairs. By bisection over the magnitudes; each trial starts from the largest matching known to
    lie above its threshold. Time: O(log nnz) maximum matchings.
    """
    graph, magnitude = weighted.graph, weighted.magnitude
    best = Matching.start(graph)
    auto.improve(graph, best, Run())
    rank = best.cardinality
    row_dual, col_dual = np.zeros(graph.n_rows), np.zeros(graph.n_cols)
    if rank == 0:
        return WeightedTransversal(best, "bottleneck", np.inf, row_dual, col_dual).freeze()
    values = np.unique(magnitude)
    low, high, below = _smallest(weighted, best, values), len(values), Matching.start(graph)
    while high - low > 1:
        middle = (low + high) // 2
        trial = keep_entries(graph, magnitude >= values[middle])
        matching = Matching(below.row_mate.copy(), below.col_mate.copy())
        auto.improve(trial, matching, Run(warm=True))
        if matching.cardinality == rank:
            low, best = _smallest(weighted, matching, values), matching
        else:
            high, below = middle, matching
    if high < len(values):
        cover = vertex_cover(keep_entries(graph, magnitude >= values[high]), below)
        if cover is None:
            raise AssertionError("a matching that an exact engine made is not maximum")
        row_dual[cover.rows], col_dual[cover.cols] = 1, 1
    smallest = float(values[low])
    return WeightedTransversal(best, "bottleneck", smallest, row_dual, col_dual).freeze()


def matched_entries(graph: BipartiteCSR, matching: Matching) -> IndexArray:
    """Return where the pairs are among the entries, by ascending row. Time: O(n_major + nnz)."""
    major_mate, minor_mate = graph.orient(matching.row_mate, matching.col_mate)
    entries: IndexArray = np.empty_like(major_mate)
    _core.matched_entries(csr(graph), major_mate, entries)
    if graph.flipped:
        return entries[minor_mate[minor_mate >= 0]]
    return entries if matching.cardinality == entries.size else entries[entries >= 0]


def _smallest(weighted: WeightedCSR, matching: Matching, values: FloatArray) -> int:
    """Return the place among the ascending values of the smallest magnitude of a matching."""
    matched = weighted.magnitude[matched_entries(weighted.graph, matching)]
    return int(np.searchsorted(values, matched.min()))


def _rounded_cost(magnitude: FloatArray) -> FloatArray:
    """Return the costs -log2(magnitude), rounded down."""
    fraction, exponent = np.frexp(magnitude)
    return (fraction == 0.5) - exponent.astype(np.float64)


def _factors(
    matched: FloatArray,
    matching: Matching,
    row_dual: FloatArray,
    col_dual: FloatArray,
    approximate: bool,
) -> tuple[FloatArray, FloatArray]:
    """Return the exponentials of the duals, the rows' corrected so that pairs are scaled to 1."""
    with np.errstate(all="ignore"):
        power = np.exp2 if approximate else np.exp
        row_scale, col_scale = power(row_dual), power(col_dual)
        if not approximate:
            whole = slice(None), matching.row_mate
            rows, cols = whole if matching.is_perfect else matching.pairs()
            row_scale[rows] = 1 / (matched * col_scale[cols])
    for scale in (row_scale, col_scale):
        if scale.size and not (scale.min() >= _SMALLEST and scale.max() <= _LARGEST):
            text = (
                "factors beyond the range of doubles are cut off; row_dual and col_dual hold their "
                "logarithms"
            )
            warnings.warn(text, RuntimeWarning, stacklevel=stack_level())
            np.clip(np.nan_to_num(scale, copy=False, nan=1.0), _SMALLEST, _LARGEST, out=scale)
    return row_scale, col_scale
