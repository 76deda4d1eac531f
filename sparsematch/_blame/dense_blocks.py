"""Diagonal blocks as dense matrices, many of one size at once, and which are the worst."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, IndexArray, inverse
from sparsematch._numerics.foreign_calls import DENSE_ENTRIES, FEW_ROWS, svd
from sparsematch._systems.factors import BlockFactors
from sparsematch._types.diagnosis import BlockCondition

#: How many blocks are returned.
_SHOWN = 5
#: Cubed rows of all blocks that are decomposed, 1000 added for each: a second's work.
_EXACT_WORK = 5e8
#: Other blocks that are looked at: with small pivots, and the largest ones.
_ESTIMATED = 20


def dense_blocks(
    A: Any, factors: BlockFactors, blocks: IndexArray
) -> Iterator[tuple[IndexArray, Array]]:
    """Yield blocks, by ascending size, and what a CSC matrix has in them: shape (blocks, m, m)."""
    # Rows and columns are in the order of ``factors.plan.block``.
    if not blocks.size:
        return
    starts, plan = factors.plan.starts, factors.plan.blocks
    row_place, col_place = inverse(plan.row_perm), inverse(plan.col_perm)
    sizes = np.diff(starts)
    block_of = np.repeat(np.arange(sizes.size), sizes)
    rows, cols = row_place[A.indices], np.repeat(col_place, np.diff(A.indptr))
    wanted = np.bincount(blocks, minlength=sizes.size) > 0
    inside = np.flatnonzero((block_of[rows] == block_of[cols]) & wanted[block_of[cols]])
    inside = inside[np.argsort(block_of[cols[inside]], kind="stable")]
    rows, cols, values = rows[inside], cols[inside], A.data[inside]
    owner = block_of[cols]
    begins = np.searchsorted(owner, np.arange(sizes.size + 1))  # the entries of each block
    for m in np.unique(sizes[blocks]).tolist():
        alike = np.sort(blocks[sizes[blocks] == m])
        at_once = max(1, DENSE_ENTRIES // m**2)
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


def worst_blocks(A: Any, factors: BlockFactors) -> tuple[BlockCondition, ...]:
    """Return the diagonal blocks of a scaled CSC matrix with the least reciprocal condition."""
    # Of blocks of two rows or more; of many, of those with small pivots and the largest.
    sizes = np.diff(factors.plan.starts)
    blocks = np.flatnonzero(sizes > 1)
    blocks = blocks[np.argsort(sizes[blocks], kind="stable")]
    work = np.cumsum(sizes[blocks].astype(float) ** 3 + 1000)
    exact = (work <= _EXACT_WORK) & (sizes[blocks] <= FEW_ROWS)
    found: list[tuple[float, int, bool]] = []
    for some, dense in dense_blocks(A, factors, blocks[exact]):
        values = svd(dense, compute_uv=False)
        rconds = values[:, -1] / np.maximum(values[:, 0], np.finfo(float).tiny)
        found += ((rcond, k, True) for rcond, k in zip(rconds.tolist(), some.tolist(), strict=True))
    rest = blocks[~exact][::-1]
    first = rest[np.isin(rest, list(factors.ill_conditioned))]
    for k in dict.fromkeys([*first[:_ESTIMATED].tolist(), *rest[:_ESTIMATED].tolist()]):
        with np.errstate(all="ignore"):
            found.append((min(factors.rcond(k), 1.0), k, False))
    worst = []
    for rcond, k, is_exact in sorted(found)[:_SHOWN]:
        rows, cols = factors.plan.block(k)
        worst.append(BlockCondition(k, np.sort(rows), np.sort(cols), rcond, is_exact))
    return tuple(worst)
