"""Arrays of pydata/sparse, which is looked up and never imported."""

import sys
from typing import Any


def convert(A: Any) -> Any:
    """Return a matrix of SciPy on the same arrays, or None if this is no array of that library."""
    kind = getattr(sys.modules.get("sparse"), "SparseArray", None)
    return A.to_scipy_sparse() if kind is not None and isinstance(A, kind) else None
