"""Which diagonal blocks are singular or nearly so, and entries that make them regular.

Where a block has no pivot left, an entry is added: then a structurally nonsingular matrix has a
factorisation, that of the bordered matrix. A small singular value need not show in the pivots:
where it may be, inverse iteration with these factors tells where its vectors are large, and an
entry is added there as well. Chan, Deflated decomposition of solutions of nearly singular systems
(SIAM J. Numer. Anal. 21, 1984); Foster, Rank and null space calculations using matrix decomposition
without column interchanges (Linear Algebra Appl. 74, 1986).
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs
from scipy.sparse import csc_array

from sparsematch._base.arrays import Array, BoolArray, FloatArray, IndexArray, IndexPair
from sparsematch._base.tolerances import NEARLY_SINGULAR
from sparsematch._blame.dense_blocks import dense_blocks
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.canonical import pattern_of
from sparsematch._numerics.foreign_calls import interruptible, svd
from sparsematch._numerics.inverse_iteration import iterate_inverse
from sparsematch._systems.factors import DIAGONAL, BlockFactors
from sparsematch._systems.named_solvers import Chooser, find_solver
from sparsematch._systems.plan import FactorisationPlan, begin
from sparsematch._types.block_form import block_of_each

#: Share of the largest entry of a block up to which no number is a pivot: what is left out beside
#: it is corrected by refinement, and what no pivot shows is found by iteration.
_NO_PIVOT = 1e-10
#: A block with a pivot below this share of its largest entry is looked at: with a singular value of
#: 1e-10 pivots of 1e-6 were met. More blocks cost a few solves each, none is lost by more.
_SMALL_PIVOT = 1e-3
#: Share of the largest singular value of an inverse: what rounding makes of others is below it.
_NOT_ROUNDING = 1e-12
#: Small singular values that are looked for in a connected part. More make a list that nobody
#: reads, and each costs solves, unless the part costs no more than this many multiplications.
MOST, _CHEAP = 100, 2e9
#: Share of a solution in its right-hand side above which a block is looked at: a small singular
#: value need not show in the pivots. A null vector has 1 / sqrt(rows) of a random one.
_AMPLIFIED = 1e4
#: Rows up to which dense singular value decompositions cost less than solves from Python.
_DENSE = 64

#: The policy that adds entries, however much the factors fill up.
_NO_PIVOTS = Chooser(find_solver("auto").choose, {"no_pivot": _NO_PIVOT, "overrun": np.inf})


class Entries(NamedTuple):
    """Entries that are added to a matrix."""

    rows: IndexArray
    cols: IndexArray
    values: Array

    def added_to(self, B: Any) -> Any:
        """Return a CSC matrix with them."""
        return B + csc_array((self.values, self[:2]), B.shape, B.dtype) if self.rows.size else B

    def and_also(self, more: tuple[IndexArray, IndexArray, Array]) -> "Entries":
        """Return these and others."""
        return Entries(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))


class Border(NamedTuple):
    """One entry for each singular value that is small, by the diagonal block that has it."""

    blocks: IndexArray  #: Ascending.
    entries: Entries
    matrix: Any  #: With these entries.
    factors: BlockFactors  #: Of that.
    plan: FactorisationPlan  #: Of the matrix without.
    is_complete: bool  #: Whether these are all, and not too many to go on with.

    def and_also(self, more: Entries) -> "Border":
        """Return these and further ones that the matrix has, which belong to no block."""
        blocks = np.concatenate([self.blocks, np.full(more.rows.size, -1)])
        return self._replace(blocks=blocks, entries=self.entries.and_also(more))


def find_border(B: Any) -> Border:
    """Return entries that make the blocks of a scaled CSC matrix regular."""
    nowhere = np.empty(0, np.intp)
    entries = more = Entries(nowhere, nowhere, np.empty(0, B.dtype))
    plan, bordered = None, B
    while plan is None or more.rows.size:
        if not np.isfinite(bordered.data).all():
            raise FloatingPointError("an entry, scaled, is beyond the range of doubles")
        begun = begin(bordered, solver=_NO_PIVOTS, pivots=(DIAGONAL, _SMALL_PIVOT))
        factors = BlockFactors.of(begun, _SMALL_PIVOT)
        plan = plan or factors.plan
        added = Entries(*factors.numbers.added)
        bordered, entries = added.added_to(bordered), entries.and_also(more).and_also(added)
        if not are_few(B, entries.cols):
            break
        more = _more_places(bordered, factors)
        bordered = more.added_to(bordered)
    blocks = block_of_each(plan.blocks.row_perm, plan.starts)[entries.rows]
    order = np.argsort(blocks, kind="stable")
    entries = Entries(*(of[order] for of in entries))
    return Border(blocks[order], entries, bordered, factors, plan, are_few(B, entries.cols))


def _more_places(B: Any, factors: BlockFactors) -> Entries:
    """Return an entry for each singular value of a block that is still small."""
    # Of size 1, in the direction of what is there.
    row_perm, col_perm = factors.plan.blocks.row_perm, factors.plan.blocks.col_perm
    rows, cols = [row_perm[:0]], [col_perm[:0]]
    for k, row_places, col_places in _places(B, factors):
        first = factors.plan.starts[k]
        rows.append(row_perm[first + row_places])
        cols.append(col_perm[first + col_places])
    places = np.concatenate(rows), np.concatenate(cols)
    at = np.asarray(B[places]).ravel() if places[0].size else np.empty(0, B.dtype)
    size = np.abs(at)
    return Entries(*places, np.where(size > 0, at / np.where(size > 0, size, 1), 1))


def are_few(B: Any, cols: IndexArray) -> bool:
    """Tell whether no connected part has too many of these columns."""
    if cols.size <= MOST:
        return True
    part = connected_parts(B)[1]
    counts, sizes = np.bincount(part[cols]), np.bincount(part)[: part[cols].max() + 1]
    return bool(((counts <= MOST) | (counts.astype(float) ** 2 * sizes <= _CHEAP)).all())


def connected_parts(B: Any) -> IndexPair:
    """Return the connected part of each row and of each column of a square CSC matrix."""
    _, rows, cols = operations(DecompositionOps, "numpy").connected_components(pattern_of(B))
    return rows, cols


def _places(B: Any, factors: BlockFactors) -> Iterator[tuple[int, IndexArray, IndexArray]]:
    """Yield the diagonal blocks that have small singular values, and a place for each of these."""
    sizes = np.diff(factors.plan.starts)
    doubtful = _amplifying(B, factors)
    doubtful[list(factors.ill_conditioned)] = True
    blocks = np.flatnonzero(doubtful)
    yield from _places_by_decomposition(B, factors, blocks[sizes[blocks] <= _DENSE])
    for k in blocks[sizes[blocks] > _DENSE].tolist():
        rows, cols = _places_by_iteration(factors, k)
        if rows.size:
            yield k, rows, cols


def _amplifying(B: Any, factors: BlockFactors) -> BoolArray:
    """Return which blocks make much of little in the solution for a random right-hand side."""
    starts, n = factors.plan.starts, B.shape[0]
    b = np.random.default_rng(1).standard_normal(n).astype(factors.dtype)
    x = factors.solve(b, "N", check=False)[0]
    row_perm, col_perm = factors.plan.blocks.row_perm, factors.plan.blocks.col_perm
    row_block, col_block = (block_of_each(perm, starts) for perm in (row_perm, col_perm))
    inside = row_block[B.indices] == np.repeat(col_block, np.diff(B.indptr))
    diagonal = csc_array((B.data * inside, B.indices, B.indptr), shape=B.shape)
    given = np.maximum.reduceat(np.abs(diagonal @ x)[row_perm], starts[:-1])
    made = np.maximum.reduceat(np.abs(x)[col_perm], starts[:-1])
    return ~(made <= _AMPLIFIED * given) & (np.diff(starts) > 1)


def _places_by_decomposition(
    B: Any, factors: BlockFactors, blocks: IndexArray
) -> Iterator[tuple[int, IndexArray, IndexArray]]:
    """Yield the places of small blocks by dense decompositions."""
    for some, dense in dense_blocks(B, factors, blocks):
        u, s, vh = svd(dense)
        missing = (s <= NEARLY_SINGULAR * s[:, :1]).sum(axis=1)
        for b in np.flatnonzero(missing).tolist():
            d = int(missing[b])
            yield int(some[b]), leading_rows(u[b][:, -d:]), leading_rows(vh[b][-d:].conj().T)


def _places_by_iteration(factors: BlockFactors, k: int) -> IndexPair:
    """Return the places in a large block by inverse iteration."""
    # Ever more vectors, orthogonal to those that are known, until one is no null vector. That fails
    # where singular values are so far apart that rounding hides the larger ones.
    m = int(np.diff(factors.plan.starts)[k])
    rng = np.random.default_rng(0)
    left: Array = np.empty((m, 0), factors.dtype)
    right, width, most, least = left, 2, min(m, MOST + 1), np.inf
    while left.shape[1] < most:
        width = min(width, most - left.shape[1])
        start = rng.standard_normal((m, width)).astype(factors.dtype)
        doubt = iter((10 * width, 1))  # the start has about 1 / sqrt(m) of the null vectors

        def is_settled(inverse: FloatArray, doubt: Iterator[int] = doubt) -> bool:
            small, d = inverse * NEARLY_SINGULAR, next(doubt)
            return bool(((small >= d) | (small * d < 1)).all())

        solve = partial(factors.solve_block, k)
        new_left, inverse, new_right = iterate_inverse(solve, start, 2, is_settled, (left, right))
        if not inverse[0] <= 100 * least:
            raise FloatingPointError("singular values are too far apart")
        d = int((inverse >= max(1 / NEARLY_SINGULAR, _NOT_ROUNDING * inverse[0])).sum())
        least = inverse[d - 1] if d else least
        left = np.hstack([left, new_left[:, :d]])
        right = np.hstack([right, new_right[:, :d]])
        if d < width and inverse[d] * NEARLY_SINGULAR < 1:
            break  # else it may be rounding: that goes with what is known now
        width *= 2
    return leading_rows(left), leading_rows(right)


def leading_rows(vectors: Array) -> IndexArray:
    """Return as many rows of a basis as it has vectors, on which it is well-conditioned."""
    # They are the pivots of an elimination: of all rows at once, several times as fast as by QR.
    count, rows = vectors.shape[1], np.arange(vectors.shape[0])
    if not count:
        return rows[:0]
    getrf = get_lapack_funcs("getrf", (vectors,))  # lu_factor warns, in some versions
    exchanges = interruptible(float(vectors.size) * count, getrf, vectors)[1]
    for k, other in enumerate(exchanges.tolist()):
        rows[[k, other]] = rows[[other, k]]
    return rows[:count]
