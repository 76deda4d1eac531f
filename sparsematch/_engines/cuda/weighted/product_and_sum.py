"""The transversals with the largest product or sum, on the device."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import FloatArray, FloatPair, namespace
from sparsematch._engines.cuda.weighted.least_cost import least_cost
from sparsematch._engines.edges import pairs_among
from sparsematch._engines.registry import Run
from sparsematch._types import weighted_proof
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import WeightedCSR, WeightedTransversal
from sparsematch._types.weighted_proof import LARGEST_FACTOR, LEAST_FACTOR, cut_factors


def maximum_product(
    weighted: WeightedCSR, scaling: bool, approximate: bool, run: Run, tolerance: float
) -> WeightedTransversal:
    """Return the transversal with the largest product, with factors if `scaling` is set."""
    # Approximate: by magnitudes rounded to powers of 2.
    graph, magnitude = weighted.graph, weighted.magnitude
    xp = namespace(magnitude)
    if approximate:  # -log2(magnitude), rounded down
        fraction, exponent = xp.frexp(magnitude)
        cost = (fraction == 0.5).astype(np.float64) - exponent
    else:
        cost = -xp.log(magnitude)
    base = np.log(2) if approximate else 1.0
    found, gap = least_cost(graph, cost, tolerance / base, run)
    duals = found.row_dual, found.col_dual
    matched = _matched_values(graph, found.matching, magnitude)
    row_scale = col_scale = None
    if scaling:
        values = None if approximate or tolerance else matched
        given = values, found.matching, duals, xp.exp2 if approximate else xp.exp
        row_scale, col_scale = run.timed("scale factors", _factors, *given)
    objective = float(xp.log(matched[matched > 0]).sum())
    sides = duals[0] * base, duals[1] * base, row_scale, col_scale
    how: Any = {"approximate": approximate, "gap": gap * base}
    return WeightedTransversal(found.matching, "product", objective, *sides, **how).freeze()


def maximum_sum(
    weighted: WeightedCSR, run: Run, tolerance: float, _start: None = None
) -> WeightedTransversal:
    """Return the transversal with the largest sum. Time: that of `least_cost`."""
    graph, magnitude = weighted.graph, weighted.magnitude
    (matching, row_dual, col_dual, unit), gap = least_cost(graph, -magnitude, tolerance, run)
    with np.errstate(over="ignore"):
        total = float(_matched_values(graph, matching, magnitude).sum())
    how: Any = {"dual_unit": unit, "gap": gap}
    return WeightedTransversal(matching, "sum", total, row_dual, col_dual, **how).freeze()


def _matched_values(graph: BipartiteCSR, matching: Matching, magnitude: FloatArray) -> FloatArray:
    """Return the magnitude of the pair of each row, 0 where it has none."""
    xp, col_mate = namespace(magnitude), matching.col_mate
    by_row: FloatArray = xp.zeros(graph.n_rows)
    rows = col_mate[col_mate >= 0] if graph.flipped else xp.flatnonzero(matching.row_mate >= 0)
    by_row[rows] = magnitude[pairs_among(graph, matching)]
    return by_row


def _factors(
    matched: FloatArray | None, matching: Matching, duals: FloatPair, power: Any
) -> FloatPair:
    """Return the powers of the duals; those of rows so that pairs are scaled to 1, if given."""
    with np.errstate(all="ignore"):
        row_scale, col_scale = (power(dual) for dual in duals)
        if matched is not None:
            rows = namespace(matched).flatnonzero(matching.row_mate >= 0)
            others = col_scale[matching.row_mate[rows]]
            scaled = matched[rows] * others
            known = (others >= LEAST_FACTOR) & (scaled >= LEAST_FACTOR) & (scaled <= LARGEST_FACTOR)
            row_scale[rows[known]] = 1 / scaled[known]
    if any([cut_factors(row_scale), cut_factors(col_scale)]):
        weighted_proof.warn_of_cut_factors()
    return row_scale, col_scale
