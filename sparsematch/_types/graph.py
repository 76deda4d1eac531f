"""A symmetric matrix as a general graph: a vertex for each row, an edge for two entries.

The weight of an edge is the absolute value of its entries; the diagonal is no edge. Here only
the structure is checked; whether both triangles agree, and the values are finite, the back-end
finds in one pass (`validate_graph`).
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsematch._types.arrays import (
    FloatArray,
    IndexArray,
    advising,
    namespace,
    on_gpu,
    stable_order,
)
from sparsematch._types.bipartite import BipartiteCSR, as_bipartite, as_compressed, compress
from sparsematch._types.interchange import from_other_library


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph in compressed rows, each edge in the lists of both its ends.

    Attributes
    ----------
    n : int
        Number of vertices.
    indptr, indices : ndarray of int32 or int64, C-contiguous
        The neighbours of vertex v are ``indices[indptr[v]:indptr[v + 1]]``, in ascending order,
        without duplicates. Loops are skipped when they are read.
    weight : ndarray of float64 (on a GPU also float32), shape (nnz,), or None
        The weight of an edge is the absolute value of this. None: all edges weigh the same.
    backend : str
        Where the arrays live: ``"numpy"`` or ``"cupy"``.
    nnz : int
        Number of entries, twice that of the edges plus that of the loops.
    """

    n: int
    indptr: IndexArray
    indices: IndexArray
    weight: FloatArray | None
    backend: str
    nnz: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the indices, hence of the mates."""
        return self.indptr.dtype


class GraphProperties(NamedTuple):
    """What one pass over the entries finds about a graph.

    Attributes
    ----------
    ascending : bool
        Whether the neighbours of each vertex ascend strictly: there are no duplicates.
    symmetric : bool
        Whether each entry has a partner of the same absolute value across the diagonal. Found by a
        64-bit fingerprint of both triangles: where they differ it says so, but for one case in
        2**64.
    finite : bool
        Whether all weights off the diagonal are.
    """

    ascending: bool
    symmetric: bool
    finite: bool


@advising
def as_graph(G: Any, *, weights: bool = True, name: str = "G", device: str | None = None) -> Graph:
    """View a square sparse matrix as a graph, without reading its values.

    Parameters
    ----------
    G : sparse array or matrix, shape (n, n)
        CSR and CSC are viewed without a copy where their values are doubles (on a GPU also floats).
        The formats of cupyx.scipy.sparse stay on their GPU.
    weights : bool, optional
        Whether values are wanted.
    name : str, optional
        What messages call the matrix.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy to the current GPU what is in host memory.

    Raises
    ------
    TypeError, ValueError
        If `G` is no sparse matrix, not square, or inconsistent.
    """
    G = from_other_library(G)
    if sp.issparse(G) or not on_gpu(G):
        G = as_compressed(G, name, expected="a sparse array or matrix of SciPy or CuPy")
    elif getattr(G, "format", "coo") not in ("csr", "csc", "coo"):
        G = compress(G, name)
    pattern = as_bipartite(G, name=name, device=device)
    if pattern.n_rows != pattern.n_cols:
        raise ValueError(
            f"{name} has shape {pattern.shape}, but the matrix of a graph must be square"
        )
    weight = read_weights(G.data, pattern.nnz, name) if weights else None
    # on a GPU: in the order in which the view has put the entries
    if weight is not None and G.format == "coo":
        weight = weight[namespace(weight).argsort(G.row, kind="stable")]
    if weight is not None and device is not None:
        weight = namespace(pattern.indptr).asarray(weight)
    arrays = pattern.indptr, pattern.indices, weight
    return Graph(pattern.n_rows, *arrays, pattern.backend, pattern.nnz)


def read_weights(data: Any, nnz: int, name: str) -> FloatArray:
    """Return values of the same magnitude as these: themselves if they are doubles."""
    if data.dtype.kind not in "biufc":
        raise TypeError(f"{name}.data must hold numbers, not {data.dtype}")
    if data.ndim != 1 or data.size < nnz:
        raise ValueError(f"{name}.data has shape {data.shape}, but there are {nnz} entries")
    xp, data = namespace(data), data[:nnz]
    with np.errstate(over="ignore", invalid="ignore"):
        if data.dtype.kind == "c":
            data = xp.abs(data)
        kinds: tuple[type, ...] = (np.float64,) if xp is np else (np.float32, np.float64)
        weight: FloatArray = xp.ascontiguousarray(
            data if data.dtype.type in kinds else data.astype(np.float64)
        )
    return weight


def add_up_duplicates(graph: Graph) -> Graph:
    """Return a copy of the graph, duplicates added up, neighbours ascending."""
    code, order = _sorted_codes(graph)
    first, group = groups(code)
    if graph.weight is None:
        return _from_codes(graph, code[first], None)
    return _from_codes(graph, code[first], _add_up(graph.weight[order], first, group))


def take_larger(graph: Graph) -> Graph:
    """Return the graph whose edges weigh the larger of two entries, one of which may be absent."""
    rows, cols = places(graph)
    code, mirrored = rows * graph.n + cols, cols * graph.n + rows
    return merge_larger(graph, code, (mirrored, graph.weight))


def merge_larger(graph: Graph, code: Any, mirrored: tuple[Any, FloatArray | None]) -> Graph:
    """Return the graph with other entries put beside its own, the larger of two in one place.

    `code` are the places of its entries as numbers; `mirrored` are places and weights of others.
    """
    xp = namespace(code)
    code = xp.concatenate([code, mirrored[0]])
    order = stable_order(code)
    first, _ = groups(code[order])
    code = code[order][first]
    if graph.weight is None or mirrored[1] is None:
        return _from_codes(graph, code, None)
    # no more than two entries are in one place
    last = xp.concatenate([first, xp.asarray([order.size])])[1:] - 1
    weight = xp.abs(xp.concatenate([graph.weight, mirrored[1]])[order])
    return _from_codes(graph, code, xp.maximum(weight[first], weight[last]))


def one_sided_entry(graph: Graph) -> tuple[int, int] | None:
    """Return the first entry whose partner across the diagonal is absent or differs in magnitude.

    The entries must ascend. Those of a graph on a GPU are copied to the host: this is the way to an
    error.
    """
    graph = _in_host_memory(graph)
    rows, cols = places(graph)
    mirrored = cols * graph.n + rows
    order = stable_order(mirrored)
    here, there = rows * graph.n + cols, mirrored[order]
    differ = here != there
    if graph.weight is not None:
        magnitude = np.abs(graph.weight)
        differ |= magnitude != magnitude[order]
    if not differ.any():
        return None
    p = int(np.flatnonzero(differ)[0])
    i, j = divmod(int(min(here[p], there[p])), graph.n)
    return (i, j) if here[p] <= there[p] else (j, i)


def first_infinite(graph: Graph) -> tuple[int, int, float]:
    """Return the first entry off the diagonal that is not finite, and its value."""
    graph = _in_host_memory(graph)
    assert graph.weight is not None
    rows, cols = places(graph)
    p = int(np.flatnonzero(~np.isfinite(graph.weight) & (rows != cols))[0])
    return int(rows[p]), int(cols[p]), float(graph.weight[p])


def _in_host_memory(graph: Graph) -> Graph:
    if graph.backend == "numpy":
        return graph
    indptr: Any = graph.indptr
    indices: Any = graph.indices
    weight: Any = graph.weight
    return Graph(
        graph.n,
        indptr.get(),
        indices.get(),
        None if weight is None else weight.get(),
        "numpy",
        graph.nnz,
    )


def places(graph: Graph | BipartiteCSR) -> tuple[Any, Any]:
    """Return the row and the column of each entry, as 64-bit integers."""
    xp = namespace(graph.indptr)
    cols = graph.indices[: graph.nnz].astype(np.int64)
    if xp is np:
        return np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr)), cols
    # The row of an entry is the number of lists that have ended before it: also where lists are
    # empty. CuPy does not repeat by an array.
    rows = xp.searchsorted(graph.indptr[1:], xp.arange(graph.nnz, dtype=graph.dtype), side="right")
    return rows.astype(np.int64, copy=False), cols


def _sorted_codes(graph: Graph) -> tuple[Any, Any]:
    """Return the places of the entries as ascending numbers, and the order that sorts them."""
    rows, cols = places(graph)
    code = rows * graph.n + cols
    order = stable_order(code)
    return code[order], order


def groups(code: Any) -> tuple[Any, Any]:
    """Return where each group of equal numbers begins, and the group of each."""
    xp = namespace(code)
    begins = xp.ones(code.size, bool)
    begins[1:] = code[1:] != code[:-1]
    return xp.flatnonzero(begins), xp.cumsum(begins) - 1


def _add_up(values: Any, first: Any, group: Any) -> Any:
    """Return the sum of each group as a double, added in order: the same on every run."""
    xp = namespace(values)
    total = xp.zeros(int(first.size), np.float64)
    if xp is np:
        np.add.at(total, group, values)
        return total
    size = xp.diff(xp.concatenate([first, xp.asarray([values.size])]))
    # atomic additions would come in any order
    for k in range(int(size.max()) if first.size else 0):
        longer = xp.flatnonzero(size > k)
        total[longer] += values[first[longer] + k]
    return total


def _from_codes(graph: Graph, code: Any, weight: Any) -> Graph:
    """Return the graph with these entries, in the index type of the one given."""
    xp = namespace(code)
    starts = xp.arange(graph.indptr.size, dtype=np.int64) * graph.n
    indptr = xp.searchsorted(code, starts).astype(graph.dtype)
    indices = (code % max(graph.n, 1)).astype(graph.dtype)
    return replace(graph, indptr=indptr, indices=indices, weight=weight, nnz=int(code.size))
