"""Initialisation rank by rank: each matches its own rows with columns that are lent to it.

A rank has its rows in full; with a set of columns that no other rank may use it has a matching
problem of its own, which the engines for host memory solve exactly, without an exchange. It is lent
the columns with the numbers of its rows, scaled to the number of columns: on a matrix of small
bandwidth these contain most of its entries. Proposals (cheap.py) make the matching maximal.

Invariant: a rank changes mates only among its rows and the columns lent to it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsematch._base.arrays import UNMATCHED, Array, BoolArray
from sparsematch._engines.mpi.core.host import local_pattern
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.core.steps import Account, step
from sparsematch._engines.mpi.matching.cheap import propose
from sparsematch._engines.registry import Run, match_alone
from sparsematch._types.matching import Matching
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Each rank matches its rows in full with the columns that have their numbers."


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run, _: object = None) -> None:
    """Make the matching maximal. Collective."""
    # Reads: the matrix. Writes: both mates. Workspace: an index per own entry in the lent columns,
    # and that of the engines for host memory. Time: that of a maximum matching of these.
    with step("by_rank", A, matching.row_mate, run) as (exchange, account):
        side = Side.of_rows(A, exchange)
        _match(side, matching, run, account)
        propose(side, (matching.row_mate, matching.col_mate), run.seed, account)


def lent(side: Side) -> tuple[int, int]:
    """Return the first minor lent to this rank, and the end."""
    n_majors, n_minors = max(int(side.major_starts[-1]), 1), int(side.minor_starts[-1])
    first, end = side.first_major, side.first_major + side.n_majors
    return first * n_minors // n_majors, end * n_minors // n_majors


def share_of_lent(side: Side) -> float:
    """Return the fraction of all entries that are in minors lent to their rank. Collective."""
    begin, end = lent(side)
    step = side.slice_size
    parts = (side.indices[k : k + step] for k in range(0, side.indices.size, step))
    inside = sum(int(np.count_nonzero((part >= begin) & (part < end))) for part in parts)
    inside, entries = side.exchange.allreduce(inside, side.indices.size)
    return inside / max(entries, 1)


def _match(side: Side, matching: DistributedMatching, run: Run, account: Account) -> None:
    """Match the own rows with lent columns, and send the mates to the owners. Collective."""
    begin, end = lent(side)
    row_mate, first = matching.row_mate, side.first_major
    cols = np.arange(begin, end, dtype=side.dtype)
    mate = side.exchange.lookup(side.minor_starts, cols, matching.col_mate)
    # pairs with other columns, or with rows of other ranks, stay
    ours = (mate >= first) & (mate < first + side.n_majors)
    start = _pattern(side, mate, row_mate, account)
    start[1].col_mate[ours] = mate[ours] - first
    start[1].row_mate[mate[ours] - first] = np.flatnonzero(ours)
    match_alone(*start, run, warm=bool(ours.any()))
    rows = np.flatnonzero(start[1].row_mate >= 0)
    row_mate[mate[ours] - first] = UNMATCHED
    row_mate[rows] = start[1].row_mate[rows] + begin
    free = (mate < 0) | ours
    numbers = start[1].col_mate[free]
    numbers = np.where(numbers >= 0, numbers + first, UNMATCHED).astype(side.dtype)
    keys, values = side.exchange.alltoallv(side.minor_starts, cols[free], numbers)
    matching.col_mate[keys - side.first_minor] = values


def _pattern(side: Side, mate: Array, row_mate: Array, account: Account) -> tuple[Any, Matching]:
    """Return the submatrix of the usable rows and lent columns, and an empty matching."""
    begin, end = lent(side)
    indptr = np.zeros(side.n_majors + 1, np.int64)
    for low, high, _, keep in _usable(side, mate, row_mate):
        bounds = side.indptr[low : high + 1]
        sums = np.concatenate([[0], np.cumsum(keep)])
        indptr[low + 1 : high + 1] = np.diff(sums[bounds - bounds[0]])
    np.cumsum(indptr, out=indptr)
    indices = np.empty(int(indptr[-1]), side.dtype)
    for low, high, part, keep in _usable(side, mate, row_mate):
        indices[indptr[low] : indptr[high]] = part[keep] - side.dtype.type(begin)
    account.edges += indices.size
    graph = local_pattern(indptr, indices, (side.n_majors, end - begin))
    return graph, Matching.start(graph)


def _usable(
    side: Side, mate: Array, row_mate: Array
) -> Iterator[tuple[int, int, Array, BoolArray]]:
    """Yield ranges of rows, their entries, and which have a usable row and column."""
    (begin, end), first = lent(side), side.first_major
    usable = (mate < 0) | ((mate >= first) & (mate < first + side.n_majors))
    elsewhere = (row_mate >= 0) & ((row_mate < begin) | (row_mate >= end))
    some_elsewhere = bool(elsewhere.any())
    for rows in side.cut(np.diff(side.indptr)):
        low, high = rows.start, rows.stop
        part = side.indices[side.indptr[low] : side.indptr[high]]
        keep = (part >= begin) & (part < end)
        keep[keep] = usable[part[keep] - begin]
        if some_elsewhere:
            keep &= ~np.repeat(elsewhere[low:high], np.diff(side.indptr[low : high + 1]))
        yield low, high, part, keep
