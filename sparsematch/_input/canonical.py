"""A matrix of any library with its values, by columns, as numerical work wants it."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.compressed import as_one_type
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.bipartite import Entries, read_entries
from sparsematch._types.bipartite import BipartiteCSR


def canonical_columns(entries: Entries) -> tuple[Any, int]:
    """Return a copy of a matrix in CSC format, without duplicates and zeros; how many zeros it had.

    Its values are float64, or complex128 if they are complex; rows ascend in each column.
    Raises TypeError if values are no numbers, ValueError if one is not finite.
    """
    graph, values = entries.graph, entries.values
    dtype = np.complex128 if values.dtype.kind == "c" else np.float64
    form, arrays = "csc" if graph.flipped else "csr", (graph.indptr, graph.indices[: graph.nnz])
    with np.errstate(over="ignore", invalid="ignore"):
        matrix = compressed_matrix(form, graph.shape, *arrays, values)
        columns = sp.csc_array(matrix, copy=True).astype(dtype, copy=False)
        columns.sum_duplicates()
    _refuse_infinite(columns, entries.name)
    stored = columns.nnz
    columns.eliminate_zeros()
    return columns, stored - columns.nnz


def read_columns(A: Any) -> tuple[Any, int]:
    """Return the same of a matrix of any library in host memory, which is checked here."""
    return canonical_columns(read_entries(A, valued=True, in_host=True))


def pattern_of(columns: Any) -> BipartiteCSR:
    """View the pattern of a CSC array that is known to be in order."""
    n_rows, n_cols = columns.shape
    arrays = as_one_type(columns.indptr, columns.indices, columns.shape, "A")
    return BipartiteCSR(n_rows, n_cols, *arrays, "numpy", True)


def _refuse_infinite(columns: Any, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(columns.data))
    if bad.size:
        p = int(bad[0])
        j = int(np.searchsorted(columns.indptr, p, side="right")) - 1
        value = columns.data[p]
        raise ValueError(f"{name}[{columns.indices[p]}, {j}] is {value}, but values must be finite")
