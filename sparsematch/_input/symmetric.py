"""A symmetric matrix of any library, both triangles or one, with the magnitudes of its entries."""

from typing import Any

from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.pattern import mirrored
from sparsematch._input.weighted import as_weighted
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.weighted import WeightedCSR


def as_symmetric(A: Any, triangle: str | None, *, threads: int = 1) -> WeightedCSR:
    """View a square matrix, or one triangle and its mirror image, by sorted rows."""
    # Columns of CSC are rows of the transpose, whose magnitudes are the same. Whether both
    # triangles agree is not checked here.
    weighted = as_weighted(A, threads=threads)
    graph, n = weighted.graph, weighted.graph.n_rows
    if graph.shape != (n, n):
        raise ValueError(f"A must be square, but its shape is {graph.shape}")
    if graph.backend != "numpy":
        return weighted
    arrays = graph.indptr, graph.indices[: graph.nnz], weighted.magnitude
    S = compressed_matrix("csr", (n, n), *arrays)
    if triangle is not None:
        S = mirrored(S, (triangle == "lower") != graph.flipped).tocsr()
    if not S.has_sorted_indices:
        S = S.sorted_indices()
    indptr, indices = (index.astype(graph.dtype, copy=False) for index in (S.indptr, S.indices))
    return WeightedCSR(BipartiteCSR(n, n, indptr, indices), S.data, float(S.data.max(initial=0)))
