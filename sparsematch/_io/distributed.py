"""Matrix files read by all ranks, each a part: no rank holds the whole."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, groups, stable_order
from sparsematch._base.errors import check_count
from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.registry import operations
from sparsematch._io.errors import UnreadableFile
from sparsematch._io.market import MarketFile
from sparsematch._io.market_text import check_number
from sparsematch._io.npz import SparseArchive
from sparsematch._io.read import check_is_file, in_one_sentence
from sparsematch._types.bipartite import list_of_each
from sparsematch._types.edge_file import as_edge_file
from sparsematch._types.over_ranks import agreement
from sparsematch._types.over_ranks.matrix import DistributedCSR, balanced

_FORMATS = (
    "Matrix Market (.mtx, .mm), coordinates, SciPy's .npz (save_npz) of a CSR, CSC or COO matrix, "
    "or a file of edges (.npy)"
)


def read_distributed(
    path: str | os.PathLike[str], comm: Any, *, n_vertices: int | None = None
) -> DistributedCSR:
    """Read a matrix file with all ranks, each a part of it. Collective.

    Time: O(own part), for files that are not compressed.

    Parameters
    ----------
    path : str or path-like
        A file that every rank can open: ``.npz``, as `scipy.sparse.save_npz` writes it, of a CSR,
        CSC or COO matrix, or ``.mtx`` or ``.mm``, Matrix Market in coordinates. Members of an
        archive that are not compressed (``save_npz(path, A, compressed=False)``) are mapped into
        memory, and ranks read their parts alone; compressed ones are unpacked by each rank from the
        beginning, a piece at a time. Or ``.npy``, a file of edges (`sparsematch.edge_files`).
    comm : mpi4py communicator or None
        Whose ranks share the matrix.
    n_vertices : int, optional
        Of a file of edges, the number of vertices; by default one more than the largest in it.

    Returns
    -------
    DistributedCSR
        In blocks of nearly as many rows each, with the values of the file; without any if it is
        Matrix Market of the field ``pattern``. What a symmetric file leaves out is there. That of a
        file of edges is symmetric, too, without loops, and of edges that are there more than once
        it has the heaviest.

    Raises
    ------
    UnreadableFile
        The file is missing, malformed or of another format; on all ranks, with the message of the
        first that found something.
    TypeError
        If `comm` is no communicator, or `n_vertices` no integer.
    ValueError
        If `n_vertices` is negative, or the file is not one of edges.

    See Also
    --------
    DistributedCSR : From arrays that are in memory.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sparsematch import read_distributed
    >>> sp.save_npz("matrix.npz", sp.csr_array([[0, 1], [1, 1]]), compressed=False)
    >>> read_distributed("matrix.npz", None)
    DistributedCSR(2x2, 3 entries, rows 0:2 on rank 0 of 1)
    >>> import os
    >>> os.remove("matrix.npz")
    """
    agreement.check_communicator(comm)
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return _read_edges(path, comm, n_vertices)
    found: list[Any] = []

    def find() -> tuple[str, str, tuple[int, int]]:
        if n_vertices is not None:
            raise ValueError(f"n_vertices is {n_vertices}, but {path} is no file of edges (.npy)")
        kind = _kind_of(path)
        with in_one_sentence(str(path)):
            found.append(kind(path))
            if isinstance(found[0], SparseArchive):
                found[0].check_parts()
        return kind.__name__, getattr(found[0], "format", "coo"), found[0].shape

    _check_same_file(agreement.collect(comm, "read_distributed", find))
    (source,) = found
    if isinstance(source, SparseArchive) and source.format == "csr":
        return _read_rows(path, source, comm)
    batches = _guarded(path, source.batches(agreement.rank_of(comm), agreement.size_of(comm)))
    A = operations(DistributionOps, "mpi").assemble(comm, source.shape, batches)
    if isinstance(source, MarketFile):
        lines = sum(agreement.collect(comm, "read_distributed: lines", lambda: source.lines))
        with agreement.agreeing(comm, "read_distributed: end"), in_one_sentence(str(path)):
            check_number(source.header, lines)
    return A


def _check_same_file(kinds: list[tuple[str, str, tuple[int, int]]]) -> None:
    """Raise unless all ranks have found a file of the same kind and shape."""
    for rank, kind in enumerate(kinds):
        if kind != kinds[0]:
            (_, first, shape), (_, other, there) = kinds[0], kind
            raise UnreadableFile(
                f"rank 0 reads a file of a {shape[0]}x{shape[1]} matrix ({first}), but rank {rank} "
                f"that of a {there[0]}x{there[1]} matrix ({other})"
            )


def _read_edges(path: Path, comm: Any, n_vertices: int | None) -> DistributedCSR:
    """Read a graph: each rank some edges, which it sends to where both ends are."""
    found: list[_EdgeSlices] = []

    def find() -> int:
        if n_vertices is not None:
            check_count("n_vertices", n_vertices)
        check_is_file(path)
        with in_one_sentence(str(path)):
            found.append(_EdgeSlices(path, agreement.rank_of(comm), agreement.size_of(comm)))
        return found[0].n if n_vertices is None else found[0].file.in_range(int(n_vertices))

    n = max(agreement.collect(comm, "read_distributed of edges", find))
    (source,) = found
    source.n = n
    batches = _guarded(path, source.batches())
    return _heaviest(operations(DistributionOps, "mpi").assemble(comm, (n, n), batches))


class _EdgeSlices:
    """The edges in a file (`sparsematch.edge_files`), as entries of the symmetric matrix."""

    # The number of vertices is one more than the largest in the own slice, until it is set.
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


def _heaviest(A: DistributedCSR) -> DistributedCSR:
    """Return the matrix with the largest magnitude of entries in the same place. Collective."""
    rows = list_of_each(A.indptr, A.indices.size)
    order = stable_order(rows * np.int64(A.n_cols) + A.indices)
    rows, cols = rows[order], A.indices[order]
    begins, _ = groups(rows, cols)
    indptr = np.searchsorted(rows[begins], np.arange(A.indptr.size))
    values = A.values
    if values is not None:
        values = np.abs(values[order])
        values = np.maximum.reduceat(values, begins) if begins.size else values
    return DistributedCSR(A.comm, indptr, cols[begins], A.first_row, A.shape, values)


def _kind_of(path: Path) -> Callable[[Path], SparseArchive | MarketFile]:
    check_is_file(path)
    kinds: dict[str, Any] = {".npz": SparseArchive, ".mtx": MarketFile, ".mm": MarketFile}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise UnreadableFile(f"{path}: cannot be read in parts; ranks read {_FORMATS}")
    return kind


def _guarded(path: Path, batches: Iterator[tuple[Array, ...]]) -> Iterator[tuple[Array, ...]]:
    """Say of every error which file it is about."""
    while True:
        with in_one_sentence(str(path)):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _read_rows(path: Path, source: SparseArchive, comm: Any) -> DistributedCSR:
    """Read the own rows of a CSR matrix: three slices."""
    rank, size = agreement.rank_of(comm), agreement.size_of(comm)
    first, end = balanced(source.shape[0], size)[rank : rank + 2].tolist()
    with agreement.agreeing(comm, "read_distributed: rows"), in_one_sentence(str(path)):
        indptr = source.pointers(first, end)
        begin, stop = int(indptr[0]), int(indptr[-1])
        indices, values = (source.slice(name, begin, stop) for name in ("indices", "data"))
    with in_one_sentence(str(path)):
        return DistributedCSR(comm, indptr - begin, indices, first, source.shape, values)
