"""What a search for a weighted matching begins with: an earlier result, or duals."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sparsematch._base.errors import wrong_type
from sparsematch._types.matching import Matching
from sparsematch._types.symmetric import SymmetricTransversal
from sparsematch._types.weighted import Start, WeightedMatching, WeightedTransversal

GivenDuals: TypeAlias = tuple[ArrayLike, ArrayLike] | None


def read_start(
    given: Any,
    shape: tuple[int, int],
    kind: type[WeightedTransversal | WeightedMatching | SymmetricTransversal],
    job: str = "",
) -> Start | None:
    """Return what is given, or raise TypeError or ValueError; None where there is nothing.

    `kind`, `job`: of the result that it may be, instead of duals.
    """
    matching: Matching | None = None
    if isinstance(given, kind):
        if isinstance(given, WeightedTransversal) and given.job != job:
            raise ValueError(f"start is the transversal of a {given.job}, but must be of a {job}")
        matching = given.matching
        if isinstance(given, SymmetricTransversal):
            given = given.dual, given.dual
        else:  # in another unit, duals are beyond the range of doubles
            given = (given.row_dual, given.col_dual) if given.dual_unit == 1 else None
    if given is None:
        return None
    if not isinstance(given, tuple) or len(given) != 2:
        raise wrong_type("start", given, f"a {kind.__name__} or (row_dual, col_dual)")
    row_dual, col_dual = (np.asarray(side) for side in given)
    if row_dual.dtype.kind not in "biuf" or col_dual.dtype.kind not in "biuf":
        raise TypeError(f"start has duals of {row_dual.dtype} and {col_dual.dtype}, not of numbers")
    fits = (row_dual.shape, col_dual.shape) == ((shape[0],), (shape[1],))
    if not fits or (matching is not None and matching.shape != shape):
        raise ValueError(
            f"start has duals of shapes {row_dual.shape} and {col_dual.shape}, but the matrix has "
            f"shape {shape}"
        )
    if not (np.isfinite(row_dual).all() and np.isfinite(col_dual).all()):
        raise ValueError("start has duals that are not finite")
    return Start(matching, row_dual.astype(np.float64), col_dual.astype(np.float64))
