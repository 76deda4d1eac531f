"""The array types that flow, where they live, and the one number that means "no partner"."""

import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

UNMATCHED = -1

#: int32 or int64, as the matrix came. On a GPU it is a CuPy array, which has the same methods.
IndexArray: TypeAlias = NDArray[np.signedinteger[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]


def namespace(array: Any) -> Any:
    """Return the module whose functions work on an array: numpy, or cupy, which whoever made the array has imported."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]
