"""A square matrix of any library as a general graph."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._input import cupy
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.compressed import check_values
from sparsematch._input.foreign import from_other_library
from sparsematch._input.matrix import as_compressed
from sparsematch._types.arrays import FloatArray, advising, namespace, on_gpu
from sparsematch._types.graph import Graph


@advising
def as_graph(G: Any, *, weights: bool = True, name: str = "G", device: str | None = None) -> Graph:
    """View a square sparse matrix as a graph, without reading its values.

    CSR and CSC are viewed without a copy where their values are doubles (on a GPU also floats);
    without `weights`, values are not wanted. `name` and `device` are those of `as_bipartite`, as
    are the errors; a matrix that is not square is a ValueError.
    """
    G = from_other_library(G)
    if sp.issparse(G) or not on_gpu(G):
        G = as_compressed(G, name, expected="a sparse array or matrix of SciPy or CuPy")
    else:
        G = cupy.compress(G, name)
    pattern = as_bipartite(G, name=name, device=device)
    if pattern.n_rows != pattern.n_cols:
        raise ValueError(
            f"{name} has shape {pattern.shape}, but the matrix of a graph must be square"
        )
    # on a GPU: in the order in which the view has put the entries
    data = cupy.values(G, name) if weights else None
    weight = read_weights(data, pattern.nnz, name) if weights else None
    if weight is not None and device is not None:
        weight = namespace(pattern.indptr).asarray(weight)
    arrays = pattern.indptr, pattern.indices, weight
    return Graph(pattern.n_rows, *arrays, pattern.backend, pattern.nnz)


def read_weights(data: Any, nnz: int, name: str) -> FloatArray:
    """Return values of the same magnitude as these: themselves if they are doubles."""
    check_values(data, nnz, name)
    xp, data = namespace(data), data[:nnz]
    with np.errstate(over="ignore", invalid="ignore"):
        if data.dtype.kind == "c":
            data = xp.abs(data)
        kinds: tuple[type, ...] = (np.float64,) if xp is np else (np.float32, np.float64)
        weight: FloatArray = xp.ascontiguousarray(
            data if data.dtype.type in kinds else data.astype(np.float64)
        )
    return weight
