"""A square matrix of any library as a general graph."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import FloatArray, advising, namespace
from sparsematch._input.bipartite import read_entries
from sparsematch._types.graph import Graph


@advising
def as_graph(G: Any, *, weights: bool = True) -> Graph:
    """View a square matrix as a graph; weights are copied if not doubles, on a GPU floats."""
    entries = read_entries(G, name="G", valued=True)
    pattern = entries.graph
    if pattern.n_rows != pattern.n_cols:
        raise ValueError(f"G has shape {pattern.shape}, but the matrix of a graph must be square")
    arrays = pattern.indptr, pattern.indices, read_weights(entries.values) if weights else None
    return Graph(pattern.n_rows, *arrays, pattern.backend, pattern.nnz)


def read_weights(data: Any) -> FloatArray:
    """Return values of the same magnitude as these numbers: themselves if they are doubles."""
    xp = namespace(data)
    with np.errstate(over="ignore", invalid="ignore"):
        if data.dtype.kind == "c":
            data = xp.abs(data)
        kinds: tuple[type, ...] = (np.float64,) if xp is np else (np.float32, np.float64)
        data = data if data.dtype.type in kinds else data.astype(np.float64)
        return xp.ascontiguousarray(data)
