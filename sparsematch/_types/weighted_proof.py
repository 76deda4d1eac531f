"""The proof that a weighted transversal is optimal, by its duals; factors that are cut off."""

import math
import sys
from collections.abc import Callable

import numpy as np

from sparsematch._base.arrays import FloatArray, namespace
from sparsematch._base.errors import warn
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import WeightedCSR, WeightedTransversal

#: Of costs and duals up to it, a cost less two duals is finite.
_SAFE = 2.0**1020
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


def is_least_cost(
    weighted: WeightedCSR,
    transversal: WeightedTransversal,
    matched: FloatArray,
    slack: Callable[[float, FloatArray, FloatArray], tuple[float, float, float]],
    tolerance: float | None,
) -> bool:
    """Tell whether entries cost at least their duals, pairs no more, and free vertices are last.

    And whether its objective and its factors are those of its pairs and duals; for the jobs with a
    sum. `matched`: the magnitudes of the pairs. `slack`: of what logarithms or magnitudes are to be
    multiplied by, and duals, the largest cost, the least slack of an entry and the largest of a
    pair.
    """
    bounded = _bounded_duals(weighted, transversal)
    if bounded is None or not (
        _has_its_objective(transversal, matched) and _has_its_factors(transversal)
    ):
        return False
    scale, u, v = bounded
    scale /= transversal.dual_unit
    largest, least, tight = slack(-scale, u, v)
    if tolerance is None:
        tolerance = 2.0**-40 * max(largest, largest_of(u), largest_of(v))
    else:
        tolerance *= scale
    if least < -tolerance or tight > tolerance:
        return False
    return _free_are_last(u, v, transversal.matching, tolerance)


def _has_its_objective(transversal: WeightedTransversal, matched: FloatArray) -> bool:
    """Tell whether the objective is that of the pairs, up to the rounding of their sum."""
    values = namespace(matched).log(matched) if transversal.job == "product" else matched
    with np.errstate(over="ignore"):
        total, size = float(values.sum()), float(abs(values).sum())
    if not np.isfinite(total):
        return transversal.objective == total
    return abs(transversal.objective - total) <= 2.0**-40 * size


def _has_its_factors(transversal: WeightedTransversal) -> bool:
    """Tell whether factors are the exponentials of the duals, or the doubles next to them.

    The rows' are corrected by the rounding of the pairs' duals.
    """
    if transversal.job != "product":
        return True
    sides = (
        (transversal.row_dual, transversal.row_scale),
        (transversal.col_dual, transversal.col_scale),
    )
    limits = math.log(LEAST_FACTOR), math.log(LARGEST_FACTOR)
    largest = max(1.0, *(largest_of(dual) for dual, _ in sides))
    for dual, scale in sides:
        if scale is None:
            continue
        xp = namespace(dual)
        with np.errstate(all="ignore"):
            away = xp.log(scale) - xp.clip(dual, *limits)
        if not largest_of(away) <= 2.0**-36 * largest:
            return False  # NaN too
    return True


def _bounded_duals(
    weighted: WeightedCSR, transversal: WeightedTransversal
) -> tuple[float, FloatArray, FloatArray] | None:
    """Return a factor, and duals times it: a cost times it less two of these is finite.

    None if a dual is not finite, or their unit is none.
    """
    duals = transversal.row_dual, transversal.col_dual
    largest = weighted.largest, *(largest_of(side) for side in duals)
    if not (1 <= transversal.dual_unit < np.inf and all(size < np.inf for size in largest)):
        return None  # NaN too
    factor = 0.125 if max(largest) > _SAFE else 1.0
    return factor, duals[0] * factor, duals[1] * factor


def _free_are_last(
    row_dual: FloatArray, col_dual: FloatArray, matching: Matching, tolerance: float
) -> bool:
    """Tell whether no dual exceeds that of an unmatched vertex of its side."""
    sides = (row_dual, matching.row_mate), (col_dual, matching.col_mate)
    for dual, mate in sides:
        free = dual[mate < 0]
        if free.size and not float(dual.max()) <= float(free.min()) + tolerance:
            return False
    return True


def largest_of(values: FloatArray) -> float:
    """Return the largest absolute value, NaN if there is one, 0 of none."""
    return float(abs(values).max()) if values.size else 0.0
