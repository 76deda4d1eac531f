"""Whether the arrays of a view are consistent: what lies below does no bounds checks."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparsematch._input import check_compressed

if TYPE_CHECKING:
    from sparsematch._types.bipartite import BipartiteCSR

#: How the back-end of a device checks arrays, in one launch; set by `sparsematch._engines`.
count_entries_on_device: "Callable[[BipartiteCSR], int] | None" = None


def check(graph: "BipartiteCSR", name: str, threads: int = 1) -> None:
    """Raise ValueError unless every entry lies in the matrix; see `check_compressed`."""
    check_compressed(
        graph.indptr,
        graph.indices,
        (graph.n_major, graph.n_minor),
        name,
        major="column" if graph.flipped else "row",
        threads=threads,
    )


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
