"""Checks of the arrays of foreign matrices, before any code reads them that trusts them.

SciPy's compiled conversions follow every index they are given: one out of range reads, or writes,
beyond an array. So what converts, permutes or scales a matrix of another library checks it here.
"""

from sparsematch._input.compressed import as_int64, check_compressed
from sparsematch._input.scipy import check_sparse

__all__ = ["as_int64", "check_compressed", "check_sparse"]
