"""Assembly of a matrix in blocks of rows from entries that ranks have in any order."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Lists
from sparsematch._types.over_ranks.agreement import agreeing
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
        degree = np.zeros(n_own, np.int64)
        for keys, *_ in arrived:
            degree += np.bincount(keys - first, minlength=n_own)
        lists = Lists(degree, *(column.dtype for column in example[1:]))
        while arrived:
            keys, *columns = arrived.pop(0)
            lists.append(keys - first, *columns)
    indices, *values = lists.columns
    return DistributedCSR(comm, lists.indptr, indices, first, shape, *values)


def _next(comm: Any, source: Iterator[Batch]) -> Batch | None:
    """Return the next batch, if there is one; an error in making it is raised on all ranks."""
    batch = None
    with agreeing(comm, "assembling of a matrix"):
        batch = next(source, None)
    return batch
