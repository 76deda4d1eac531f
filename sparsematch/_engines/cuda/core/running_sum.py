"""Running sums, and the largest of many numbers.

CuPy's own would do, but for their first call, which loads a library.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile

#: Blocks that a resident kernel has at most.
MOST_BLOCKS = 4096

load = compile.declare("core/running_sum", THREADS=compile.THREADS)


def running_sum(values: IndexArray) -> IndexArray:
    """Replace each number by the sum of those up to it; return the array. Time: O(n)."""
    if values.size:
        xp = namespace(values)
        work = xp.empty(MOST_BLOCKS, values.dtype), xp.zeros(2, np.int32)
        load(values.dtype).launch_resident("running_sum", np.int64(values.size), values, *work)
    return values


def largest(values: IndexArray) -> Any:
    """Return the place of the largest number, in an array of one int64.

    That of the first of equals; 0 if none is positive. Numbers and places must be below 2^32. Time:
    O(n).
    """
    xp, size = namespace(values), values.dtype.type(values.size)
    best, where, barrier = xp.zeros(1, np.uint64), xp.empty(1, np.int64), xp.zeros(2, np.int32)
    arrays = values, best, where, barrier
    load(values.dtype).launch_resident("largest", size, *arrays)
    return where
