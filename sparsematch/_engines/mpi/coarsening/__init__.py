"""Coarsening over ranks: the aggregates of a matching, and the Galerkin product over them.

An aggregate belongs to the rank that has the smaller vertex of the pair, and is numbered by that
vertex, so that the coarse matrix lies in blocks of rows as the fine one does. Each rank sends the
rows of the other vertex to where the smaller one is.

Invariant: the entries that become one are summed in the same order on both sides of the diagonal,
so that the coarse matrix of a symmetric matrix without duplicates is symmetric, to the last bit.
"""

import numpy as np

from sparsematch._base.arrays import Array, IndexArray, IndexPair, groups
from sparsematch._engines.distributed_operations import DistributedCoarseningOps
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Lists, Side
from sparsematch._engines.registry import register_operations
from sparsematch._types.over_ranks.matrix import DistributedCSR


def wrong_mate(A: DistributedCSR, mate: IndexArray) -> int:
    """Return the first vertex, mates being in range, whose mate has another, or -1. Collective."""
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        own = np.flatnonzero(mate >= 0)
        back = exchange.lookup(A.row_starts, mate[own], mate)
        wrong = own[(back != own + A.first_row) | (mate[own] == own + A.first_row)] + A.first_row
        found = exchange.first(int(wrong[0]) if wrong.size else None)
        return -1 if found is None else int(found)


def coarsen(A: DistributedCSR, mate: IndexArray) -> tuple[DistributedCSR, DistributedCSR]:
    """Return the coarse matrix and the prolongation. Collective."""
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        label, starts = _aggregates(A, mate, exchange)
        arrays = _summed(_rows(A, mate, label, starts, exchange), starts, exchange)
        first, n = int(starts[exchange.rank]), int(starts[-1])
    matrix = DistributedCSR(A.comm, *arrays[:2], first, (n, n), arrays[2])
    ones = np.ones(label.size, arrays[2].real.dtype)
    bounds = np.arange(label.size + 1)
    return matrix, DistributedCSR(A.comm, bounds, label, A.first_row, (A.n_rows, n), ones)


def _aggregates(A: DistributedCSR, mate: IndexArray, exchange: Exchange) -> IndexPair:
    """Return the aggregate of each own vertex, and where those of each rank begin. Collective."""
    is_first = (mate < 0) | (mate > np.arange(mate.size) + A.first_row)
    starts = exchange.starts_of(np.count_nonzero(is_first))
    label = (np.cumsum(is_first) - 1 + starts[exchange.rank]).astype(A.dtype)
    label[~is_first] = exchange.lookup(A.row_starts, mate[~is_first], label)
    return label, starts


def _rows(
    A: DistributedCSR, mate: IndexArray, label: IndexArray, starts: IndexArray, exchange: Exchange
) -> Lists:
    """Return the entries of the own coarse rows: columns, ends, values. Collective."""
    # Ends: 2 if the fine row is the second of its pair, plus 1 if the fine column is.
    assert A.values is not None
    is_second = ((mate >= 0) & (mate < np.arange(mate.size) + A.first_row)).astype(np.int8)
    side, first = Side.of_rows(A, exchange), int(starts[exchange.rank])
    keys, degrees = exchange.alltoallv(starts, label, np.diff(A.indptr))
    degree = np.zeros(int(starts[exchange.rank + 1]) - first, np.int64)
    np.add.at(degree, keys - first, degrees)
    lists = Lists(degree, A.dtype, np.int8, A.values.dtype)
    for begin, end in side.slices():
        there = A.indices[begin:end]
        cols, ends = (exchange.lookup(A.row_starts, there, t) for t in (label, is_second))
        fine = side.majors_of_entries(begin, end) - A.first_row
        ends += 2 * is_second[fine]
        keys, *columns = exchange.alltoallv(starts, label[fine], cols, ends, A.values[begin:end])
        lists.append(keys - first, *columns)
    return lists


def _summed(
    lists: Lists, starts: IndexArray, exchange: Exchange
) -> tuple[IndexArray, IndexArray, Array]:
    """Return indptr, indices and values of the own coarse rows; ranks have theirs from `starts`."""
    indptr, (cols, ends, values) = lists.indptr, lists.columns
    side = Side(indptr, cols, (starts, starts), exchange)
    counts, written = np.zeros(indptr.size, np.int64), 0
    for group in side.cut(np.diff(indptr)):
        low, high = group.start, group.stop
        here = slice(int(indptr[low]), int(indptr[high]))
        rows = np.repeat(np.arange(low, high), np.diff(indptr[low : high + 1]))
        j, end = cols[here], ends[here]
        # the transposed entry has row and column exchanged
        mirrored = np.where(rows + side.first_major < j, end, 2 * (end & 1) + (end >> 1))
        order = np.lexsort((mirrored, j, rows))
        rows, j = rows[order], j[order]
        begins = groups(rows, j)[0]
        sums = np.add.reduceat(values[here][order], begins) if begins.size else values[:0]
        counts[low + 1 : high + 1] = np.bincount(rows[begins] - low, minlength=high - low)
        # in place: entries up to `written` have been read
        cols[written : written + begins.size] = j[begins]
        values[written : written + begins.size] = sums
        written += begins.size
    np.cumsum(counts, out=counts)
    cols.resize(written, refcheck=False)
    values.resize(written, refcheck=False)
    return counts, cols, values


register_operations("mpi", DistributedCoarseningOps, globals())
