"""Small diagonal blocks as dense matrices, many of one size at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray
from sparsematch.solvers._factors import BlockFactors

#: Entries of a stack of dense blocks: 32 MB.
_STACK = 1 << 22


def dense_blocks(
    A: Any, factors: BlockFactors, blocks: IndexArray
) -> Iterator[tuple[IndexArray, NDArray[Any]]]:
    """Yield blocks, by ascending size, and what a CSC matrix has in them: shape (blocks, m, m).

    Rows and columns are in the order of ``factors.block``.
    """
    if not blocks.size:
        return
    starts, n, plan = factors.plan.starts, A.shape[0], factors.plan.blocks
    row_place, col_place = np.empty(n, np.intp), np.empty(n, np.intp)
    row_place[plan.row_perm], col_place[plan.col_perm] = np.arange(n), np.arange(n)
    sizes = np.diff(starts)
    block_of = np.repeat(np.arange(sizes.size), sizes)
    rows, cols = row_place[A.indices], np.repeat(col_place, np.diff(A.indptr))
    wanted = np.zeros(sizes.size, bool)
    wanted[blocks] = True
    inside = np.flatnonzero((block_of[rows] == block_of[cols]) & wanted[block_of[cols]])
    inside = inside[np.argsort(block_of[cols[inside]], kind="stable")]
    rows, cols, values = rows[inside], cols[inside], A.data[inside]
    owner = block_of[cols]
    begins = np.searchsorted(owner, np.arange(sizes.size + 1))  # the entries of each block
    for m in np.unique(sizes[blocks]).tolist():
        alike = np.sort(blocks[sizes[blocks] == m])
        at_once = max(1, _STACK // m**2)
        for first in range(0, alike.size, at_once):
            some = alike[first : first + at_once]
            counts = begins[some + 1] - begins[some]
            shift = begins[some] - np.cumsum(counts) + counts
            p = np.arange(counts.sum()) + np.repeat(shift, counts)
            origin = starts[owner[p]]
            dense = np.zeros((some.size, m, m), A.dtype)
            which = np.repeat(np.arange(some.size), counts)
            dense[which, rows[p] - origin, cols[p] - origin] = values[p]
            yield some, dense
