"""The conditions of diagonal blocks: exactly where they are small, the worst first."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._numerics.foreign_calls import svd
from sparsematch._types.diagnosis import BlockCondition
from sparsematch.solvers._dense_blocks import dense_blocks
from sparsematch.solvers._factors import BlockFactors
from sparsematch.solvers._spectrum import FEW_ROWS

#: How many blocks are returned.
_SHOWN = 5
#: Cubed rows of all blocks that are decomposed, 1000 added for each: a second's work.
_EXACT_WORK = 5e8
#: Other blocks that are looked at: with small pivots, and the largest ones.
_ESTIMATED = 20


def worst_blocks(A: Any, factors: BlockFactors) -> tuple[BlockCondition, ...]:
    """Return the diagonal blocks of a scaled CSC matrix with the least reciprocal condition.

    Of all blocks of two rows or more; if there are many larger ones, of those with small pivots,
    and of the largest.
    """
    sizes = np.diff(factors.plan.starts)
    blocks = np.flatnonzero(sizes > 1)
    blocks = blocks[np.argsort(sizes[blocks], kind="stable")]
    work = np.cumsum(sizes[blocks].astype(float) ** 3 + 1000)
    exact = (work <= _EXACT_WORK) & (sizes[blocks] <= FEW_ROWS)
    found = [(rcond, k, True) for k, rcond in _by_decomposition(A, factors, blocks[exact])]
    rest = blocks[~exact][::-1]
    suspects = rest[np.isin(rest, factors.suspects)]
    for k in dict.fromkeys([*suspects[:_ESTIMATED].tolist(), *rest[:_ESTIMATED].tolist()]):
        with np.errstate(all="ignore"):
            found.append((min(factors.rcond(k), 1.0), k, False))
    worst = []
    for rcond, k, is_exact in sorted(found)[:_SHOWN]:
        rows, cols = factors.block(k)
        worst.append(BlockCondition(k, np.sort(rows), np.sort(cols), rcond, is_exact))
    return tuple(worst)


def _by_decomposition(
    A: Any, factors: BlockFactors, blocks: IndexArray
) -> Iterator[tuple[int, float]]:
    """Yield blocks, and their reciprocal conditions."""
    for some, dense in dense_blocks(A, factors, blocks):
        values = svd(dense, compute_uv=False)
        rconds = values[:, -1] / np.maximum(values[:, 0], np.finfo(float).tiny)
        yield from zip(some.tolist(), rconds.tolist(), strict=True)
