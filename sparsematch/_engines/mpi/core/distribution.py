"""Matrices in blocks of rows: made of entries in any order, rows permuted, values scaled."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, FloatArray, namespace, scale_entries
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Lists, Side
from sparsematch._types.over_ranks.agreement import agreeing
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR, balanced

#: Rows, columns and perhaps values of some entries.
Batch = tuple[Array, ...]


def assemble(comm: Any, shape: tuple[int, int], batches: Iterable[Batch]) -> DistributedCSR:
    """Return a matrix, in balanced blocks of rows, of any number of batches. Collective."""
    with abort_on_error(comm):
        exchange = Exchange(comm)
        starts = balanced(shape[0], exchange.size)
        first, n_own = int(starts[exchange.rank]), int(np.diff(starts)[exchange.rank])
        arrived = []
        source = iter(batches)
        batch = _next(comm, source)
        types = exchange.first(None if batch is None else [column.dtype.str for column in batch])
        example = [np.empty(0, dtype) for dtype in types or ("<i8", "<i8")]
        while exchange.any(batch is not None):
            arrived.append(exchange.alltoallv(starts, *(example if batch is None else batch)))
            batch = _next(comm, source)
        counts = (np.bincount(keys - first, minlength=n_own) for keys, *_ in arrived)
        degree = sum(counts, start=np.zeros(n_own, np.int64))
        lists = Lists(degree, *(column.dtype for column in example[1:]))
        while arrived:
            keys, *columns = arrived.pop(0)
            lists.append(keys - first, *columns)
    indices, *values = lists.columns
    return DistributedCSR(comm, lists.indptr, indices, first, shape, *values)


def _next(comm: Any, source: Iterator[Batch]) -> Batch | None:
    """Return the next batch, if there is one; an error in making it is raised on all ranks."""
    with agreeing(comm, "assembling of a matrix"):
        return next(source, None)


def permute_and_redistribute(A: DistributedCSR, given: DistributedMatching) -> DistributedCSR:
    """Return the matrix, rows permuted, as many on each rank as before. Collective."""
    # Where the matrix is, by way of host memory.
    xp, A, given = namespace(A.indptr), A.get(), given.get()
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        place = places(A, given, exchange)
        keys, degrees = exchange.alltoallv(A.row_starts, place, np.diff(A.indptr).astype(A.dtype))
        degree = np.zeros(place.size, np.int64)
        degree[keys - A.first_row] = degrees
        side = Side.of_rows(A, exchange)
        own = [A.indices] if A.values is None else [A.indices, A.values]
        lists = Lists(degree, *(column.dtype for column in own))
        for begin, end in side.slices():
            to = place[side.majors_of_entries(begin, end) - A.first_row]
            sent = (column[begin:end] for column in own)
            keys, *columns = exchange.alltoallv(A.row_starts, to, *sent)
            lists.append(keys - A.first_row, *columns)
    indptr, indices, *values = map(xp.asarray, (lists.indptr, *lists.columns))
    return DistributedCSR(A.comm, indptr, indices, A.first_row, A.shape, *values)


def scale(A: DistributedCSR, row_scale: FloatArray, col_scale: FloatArray) -> DistributedCSR:
    """Return the matrix, its values multiplied by factors of rows and columns. Collective."""
    assert A.values is not None
    with abort_on_error(A.comm):
        side = Side.of_rows(A, Exchange(A.comm))
        scaled = np.empty(A.local_nnz, np.result_type(A.values, np.float64))
        for begin, end in side.slices():
            by_col = side.exchange.lookup(A.col_starts, A.indices[begin:end], col_scale)
            by_row = row_scale[side.majors_of_entries(begin, end) - A.first_row]
            scaled[begin:end] = scale_entries(A.values[begin:end], by_row, by_col)
    return DistributedCSR(A.comm, A.indptr, A.indices, A.first_row, A.shape, scaled)


def places(A: DistributedCSR, matching: DistributedMatching, exchange: Exchange) -> Array:
    """Return the place of each own row: the inverse of `Matching.as_permutation`. Collective."""
    # The k-th row that has no place by its mate gets the k-th free place.
    place = matching.row_mate.copy()
    left = np.flatnonzero((place < 0) | (place >= A.n_rows))
    cols = np.arange(A.own_cols.start, A.own_cols.stop, dtype=A.dtype)
    free = cols[(matching.col_mate < 0) & (cols < A.n_rows)]
    starts = exchange.starts_of(free.size)
    n_free = int(starts[-1])
    k = np.arange(left.size) + exchange.starts_of(left.size)[exchange.rank]
    below = k < n_free
    place[left[~below]] = A.n_cols + k[~below] - n_free
    place[left[below]] = exchange.lookup(starts, k[below], free)
    return place
