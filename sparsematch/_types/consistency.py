"""Whether the arrays of a view are consistent: what lies below does no bounds checks."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from sparsematch._types.pieces import in_pieces

if TYPE_CHECKING:
    from sparsematch._types.bipartite import BipartiteCSR

_UNSIGNED: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.int32): np.dtype(np.uint32),
    np.dtype(np.int64): np.dtype(np.uint64),
}
_LARGE = 1 << 23  # entries: reading fewer takes one thread little longer than starting others

#: How the back-end of a device checks arrays, in one launch; set by `sparsematch._engines`.
count_entries_on_device: "Callable[[BipartiteCSR], int] | None" = None


def check(graph: "BipartiteCSR", name: str, threads: int = 1) -> None:
    """Raise ValueError unless every entry lies in the matrix.

    Time: O(n_major + nnz), two passes.
    """
    indptr, indices = graph.indptr, graph.indices
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.size != graph.n_major + 1:
        _refuse_lengths(graph, name)
    nnz = graph.nnz
    if indptr[0] != 0 or nnz > indices.size or np.count_nonzero(indptr[1:] < indptr[:-1]):
        _refuse_indptr(graph, name)
    # Read as unsigned, a negative index is a very large one: the largest bounds both ends of
    # the range.
    if nnz and _largest(indices[:nnz].view(_UNSIGNED[graph.dtype]), threads) >= graph.n_minor:
        _refuse_indices(graph, name)


def _largest(values: np.ndarray[Any, Any], threads: int) -> int:
    """Return the largest value. Two threads read memory faster than one."""
    if values.size < _LARGE:
        threads = 1

    def largest(begin: int, end: int) -> int:
        piece = values[begin:end]
        return int(piece[piece.argmax()])  # which NumPy finds faster than by max()

    return max(in_pieces(largest, values.size, threads))


def check_on_gpu(graph: "BipartiteCSR", name: str) -> "BipartiteCSR":
    """Return the graph, with the number of its entries known.

    What is wrong is looked for on a copy in host memory.
    """
    indptr: Any = graph.indptr
    indices: Any = graph.indices
    if indptr.ndim == indices.ndim == 1 and indptr.size == graph.n_major + 1:
        assert count_entries_on_device is not None
        nnz = count_entries_on_device(graph)
        if nnz >= 0:
            known = graph.backend, graph.flipped, nnz
            return type(graph)(graph.n_rows, graph.n_cols, graph.indptr, graph.indices, *known)
    here = replace(graph, indptr=indptr.get(), indices=indices.get())
    check(here, name)
    return replace(graph, known_nnz=here.nnz)


def _refuse_lengths(graph: "BipartiteCSR", name: str) -> NoReturn:
    if graph.indptr.ndim != 1 or graph.indices.ndim != 1:
        raise ValueError(f"{name}.indptr and {name}.indices must have one dimension")
    majors, _ = graph.orient("rows", "columns")
    raise ValueError(
        f"{name}.indptr has length {graph.indptr.size}, but a matrix with {graph.n_major} {majors} "
        f"needs length {graph.n_major + 1}"
    )


def _refuse_indptr(graph: "BipartiteCSR", name: str) -> NoReturn:
    indptr = graph.indptr
    major, _ = graph.orient("row", "column")
    if indptr[0] != 0:
        raise ValueError(f"{name}.indptr[0] is {indptr[0]}, but must be 0")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        k = falls[0]
        raise ValueError(
            f"{name}.indptr decreases at {major} {k}: from {indptr[k]} to {indptr[k + 1]}"
        )
    raise ValueError(
        f"{name}.indptr[-1] is {indptr[-1]}, but {name}.indices holds {graph.indices.size} entries "
        "only"
    )


def _refuse_indices(graph: "BipartiteCSR", name: str) -> NoReturn:
    used = graph.indices[: graph.nnz]
    p = np.flatnonzero((used < 0) | (used >= graph.n_minor))[0]
    k = np.searchsorted(graph.indptr, p, side="right") - 1
    major, _ = graph.orient("row", "column")
    _, minors = graph.orient("rows", "columns")
    raise ValueError(
        f"{name}.indices[{p}] is {used[p]}, in {major} {k}, but the matrix has {graph.n_minor} "
        f"{minors}"
    )
