"""A matrix of any library with its values, by columns, as numerical work wants it."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.bipartite import read_entries


def canonical_columns(A: Any, name: str) -> tuple[Any, int]:
    """Return a copy of a matrix in CSC format, without duplicates and zeros; how many zeros it had.

    Its values are float64, or complex128 if those of `A` are complex; rows ascend in each column.
    Raises TypeError if `A` is no sparse matrix of numbers in host memory; ValueError if its arrays
    are inconsistent, or a value is not finite.
    """
    entries = read_entries(A, name=name, valued=True, in_host=True)
    graph, values = entries.graph, entries.values
    dtype = np.complex128 if values.dtype.kind == "c" else np.float64
    form, arrays = "csc" if graph.flipped else "csr", (graph.indptr, graph.indices[: graph.nnz])
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = compressed_matrix(form, graph.shape, *arrays, values)
        columns = sp.csc_array(matrix, copy=True).astype(dtype, copy=False)
        columns.sum_duplicates()
    _refuse_infinite(columns, name)
    stored = columns.nnz
    columns.eliminate_zeros()
    return columns, stored - columns.nnz


def _refuse_infinite(columns: Any, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(columns.data))
    if bad.size:
        p = int(bad[0])
        j = int(np.searchsorted(columns.indptr, p, side="right")) - 1
        value = columns.data[p]
        raise ValueError(f"{name}[{columns.indices[p]}, {j}] is {value}, but values must be finite")
