"""Factors of rows and columns, where they are beyond the range of doubles."""

import sys
import warnings

from sparsematch._base.arrays import FloatArray, namespace
from sparsematch._base.errors import stack_level

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
    warnings.warn(text, RuntimeWarning, stacklevel=stack_level())
