"""Slices of a file of edges, as entries of the symmetric matrix of the graph."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sparsematch._base.arrays import Array, stable_order
from sparsematch._io.errors import UnreadableFile
from sparsematch._types.edge_file import as_edge_file
from sparsematch._types.over_ranks.matrix import DistributedCSR, balanced


class EdgeSlices:
    """The edges in a file (`sparsematch.edge_files`).

    The number of vertices is one more than the largest in the own slice, until it is set.
    """

    def __init__(self, path: Path, rank: int, size: int) -> None:
        try:
            self.file = as_edge_file(path)
        except ValueError as error:
            raise UnreadableFile(str(error).removeprefix(f"{path} ")) from None
        self._first, self._end = balanced(self.file.n_edges, size)[rank : rank + 2].tolist()
        self.n = self.file.n_vertices(self._first, self._end)

    def batches(self) -> Iterator[tuple[Array, ...]]:
        """Yield rows, columns and weights of the own slice: each edge twice, no loops."""
        begin = self._first
        for u, v, *weight in self.file.slices(self._first, self._end):
            wrong = np.flatnonzero((np.minimum(u, v) < 0) | (np.maximum(u, v) >= self.n))
            if wrong.size:
                k = int(wrong[0])
                raise UnreadableFile(
                    f"edge {begin + k} is ({u[k]}, {v[k]}), but the vertices are 0 to {self.n - 1}"
                )
            begin, proper = begin + u.size, u != v
            yield tuple(
                np.concatenate([x[proper], y[proper]])
                for x, y in ((u, v), (v, u), *((w, w) for w in weight))
            )


def heaviest(A: DistributedCSR) -> DistributedCSR:
    """Return the matrix with the largest magnitude of entries in the same place. Collective."""
    degree = np.diff(A.indptr)
    rows = np.repeat(np.arange(degree.size), degree)
    order = stable_order(rows * np.int64(A.n_cols) + A.indices)
    rows, cols = rows[order], A.indices[order]
    first = np.ones(rows.size, bool)
    first[1:] = (rows[1:] != rows[:-1]) | (cols[1:] != cols[:-1])
    begins = np.flatnonzero(first)
    indptr = np.searchsorted(rows[begins], np.arange(degree.size + 1))
    values = A.values
    if values is not None:
        values = np.abs(values[order])
        values = np.maximum.reduceat(values, begins) if begins.size else values
    return DistributedCSR(A.comm, indptr, cols[begins], A.first_row, A.shape, values)
