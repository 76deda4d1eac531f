"""LU factorisation block by block: symbolic analysis, ordering, factors and solves."""

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import register_operations


def equal_indices(x: IndexArray, y: IndexArray) -> bool:
    """Tell whether two arrays of indices are equal, at no cost if they are short."""
    if x.dtype != y.dtype or not x.flags.c_contiguous:
        return np.array_equal(x, y)
    return _core.equal_indices(x, y)


_renamed = {"factorise": _core.factorise_square, "wishes": _core.Wishes}
register_operations("numpy", LuOps, vars(_core), globals(), _renamed)
