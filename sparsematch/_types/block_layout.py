"""What a block form says of each row and column, if what it says can be said of any matrix."""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import UNMATCHED, IndexArray, on_gpu
from sparsematch._types.block_form import BlockForm


class BlockLayout(NamedTuple):
    """The blocks of rows and columns, in host memory."""

    #: The block of each row and column, from 0 at the upper left.
    row_block: IndexArray
    col_block: IndexArray
    #: The matching on the diagonals.
    row_mate: IndexArray
    col_mate: IndexArray
    n_blocks: int  #: How many there are.


def block_layout(form: BlockForm) -> BlockLayout | None:
    """Return the layout of a block form; None if its arrays contradict each other.

    Time: O(n_rows + n_cols).
    """
    p, q, r, s, cc, rr, *given = map(_on_host, (*form, *_mates(form)))
    if not (_is_permutation(p) and _is_permutation(q)):
        return None
    ends = (r, p.size), (s, q.size), (rr, p.size), (cc, q.size)
    if not all(_are_boundaries(*end) for end in ends) or r.size != s.size:
        return None
    if not (cc.size == rr.size == 5 and _parts_fit(r, s, cc, rr)):
        return None
    rank, n_free = int(rr[3]), int(cc[1])
    blocks = np.empty(p.size, np.int64), np.empty(q.size, np.int64)
    blocks[0][p] = np.repeat(np.arange(r.size - 1), np.diff(r))
    blocks[1][q] = np.repeat(np.arange(s.size - 1), np.diff(s))
    mates = np.full(p.size, UNMATCHED, np.int64), np.full(q.size, UNMATCHED, np.int64)
    mates[0][p[:rank]], mates[1][q[n_free:]] = q[n_free:], p[:rank]
    if not all(map(np.array_equal, mates, given)):
        return None
    return BlockLayout(*blocks, *mates, r.size - 1)


def _mates(form: BlockForm) -> tuple[IndexArray, IndexArray]:
    return form.matching.row_mate, form.matching.col_mate


def _on_host(array: Any) -> Any:
    return array.get() if on_gpu(array) else np.asarray(array)


def _is_permutation(order: Any) -> bool:
    if order.ndim != 1 or order.dtype.kind not in "iu":
        return False
    if order.size == 0:
        return True
    within = order.min() >= 0 and order.max() < order.size
    return bool(within and np.bincount(order, minlength=order.size).max() == 1)


def _are_boundaries(ends: Any, n: int) -> bool:
    if ends.ndim != 1 or ends.dtype.kind not in "iu" or ends.size == 0:
        return False
    return bool(ends[0] == 0 and ends[-1] == n and np.all(ends[1:] >= ends[:-1]))


def _parts_fit(r: Any, s: Any, cc: Any, rr: Any) -> bool:
    """Tell whether A12, A23 and A34 are square, and the blocks are those of the three parts.

    The horizontal and vertical parts are one block each, if they are not empty.
    """
    if not np.array_equal(np.diff(rr)[:3], np.diff(cc)[1:]):
        return False
    first, last = int(cc[2] > 0), r.size - 1 - int(rr[4] > rr[2])
    if first > last:
        return False
    rows, cols = r[first : last + 1] - rr[1], s[first : last + 1] - cc[2]
    bounded = rows[0] == cols[0] == 0 and rows[-1] == rr[2] - rr[1]
    return bool(bounded and np.array_equal(rows, cols) and np.all(np.diff(rows) > 0))
