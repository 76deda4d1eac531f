"""A matrix of any library with its values, by columns, as numerical work wants it."""

from typing import Any

import numpy as np

from sparsematch._base.compressed import as_one_type
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.bipartite import Entries, read_entries
from sparsematch._input.names import BothNames
from sparsematch._types.bipartite import BipartiteCSR

#: Entries that are not finite that a message names.
_SHOWN = 10


def canonical_columns(entries: Entries, names: BothNames = (None, None)) -> tuple[Any, int]:
    """Return a CSC copy of a matrix, without duplicates and zeros; how many zeros it had."""
    # Its values are float64 or complex128; rows ascend.
    graph, values = entries.graph, entries.values
    dtype = np.complex128 if values.dtype.kind == "c" else np.float64
    form, arrays = "csc" if graph.flipped else "csr", (graph.indptr, graph.indices[: graph.nnz])
    with np.errstate(over="ignore", invalid="ignore"):
        parts = *(array.copy() for array in arrays), values.astype(dtype)
        columns = compressed_matrix(form, graph.shape, *parts)
        columns = columns if graph.flipped else transposed(columns, "csc")
        columns.sum_duplicates()
    stored_entries = columns.indptr, columns.indices, columns.data
    if (found := which_not_finite(entries.name, stored_entries, names)) is not None:
        raise ValueError(found[0])
    stored = columns.nnz
    columns.eliminate_zeros()
    return columns, stored - columns.nnz


def read_columns(A: Any) -> tuple[Any, int]:
    """Return the same of a matrix of any library in host memory, which is checked here."""
    return canonical_columns(read_entries(A, valued=True, in_host=True))


def transposed(A: Any, form: str) -> Any:
    """Return a CSR matrix as CSC, or the other way round, entries in order of the other side."""
    # SciPy takes 30 us beside what the entries take
    sort, n = operations(DecompositionOps, "numpy").order_by_label, A.shape[form == "csc"]
    order, starts = sort(A.indices, n)
    majors = np.arange(A.indptr.size - 1, dtype=starts.dtype).repeat(A.indptr[1:] - A.indptr[:-1])
    return compressed_matrix(form, A.shape, starts, majors[order], A.data[order])


def pattern_of(columns: Any) -> BipartiteCSR:
    """View the pattern of a CSC array that is known to be in order."""
    n_rows, n_cols = columns.shape
    arrays = as_one_type(columns.indptr, columns.indices, columns.shape, "A")
    return BipartiteCSR(n_rows, n_cols, *arrays, "numpy", True)


def which_not_finite(
    name: str, columns: tuple[Any, Any, Any], names: BothNames = (None, None)
) -> tuple[str, int, int] | None:
    """Say which entries of columns (starts, rows, values) are not finite, and the first's place."""
    # None if all are. Of more than a few the first are named, and all are counted.
    indptr, indices, values = columns
    bad = np.flatnonzero(~np.isfinite(values))
    if not bad.size:
        return None
    rows, cols = indices[bad], np.searchsorted(indptr, bad, side="right") - 1
    places = (
        [side[k] if side else str(k) for k in of[:_SHOWN].tolist()]
        for of, side in zip((rows, cols), names, strict=True)
    )
    triples = zip(*places, values[bad[:_SHOWN]], strict=True)
    shown = [f"{name}[{i}, {j}] is {value}" for i, j, value in triples]
    more = f" and {bad.size - len(shown):,} more" if bad.size > len(shown) else ""
    return f"{', '.join(shown)}{more}, but values must be finite", int(rows[0]), int(cols[0])
