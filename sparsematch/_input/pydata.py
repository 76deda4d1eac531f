"""Arrays of pydata/sparse, which is looked up and never imported."""

import sys
from typing import Any


def is_sparse(A: Any) -> bool:
    """Tell whether this is a sparse array of that library."""
    kind = getattr(sys.modules.get("sparse"), "SparseArray", None)
    return kind is not None and isinstance(A, kind)
