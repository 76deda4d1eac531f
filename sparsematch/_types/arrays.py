"""The array types that flow, and the one number that means "no partner"."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

UNMATCHED = -1

#: int32 or int64, as the matrix came.
IndexArray: TypeAlias = NDArray[np.signedinteger[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
