"""Sparse matrices of cupyx.scipy.sparse, and arrays of CuPy, which is looked up and never imported.

They are checked on their GPU, by one kernel of its back-end.
"""

from typing import Any

from sparsematch._base.arrays import advising, import_cupy, namespace, refuse_other_gpu
from sparsematch._base.compressed import as_one_type, check_compressed, check_values
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import operations
from sparsematch._input.assembled import as_cupyx_holds
from sparsematch._input.scipy import warn_of_conversion
from sparsematch._types.bipartite import BipartiteCSR


@advising
def view(A: Any, name: str) -> BipartiteCSR:
    """View a matrix that `compress` returned; one synchronisation, to check its arrays."""
    if A.format != "coo":
        return view_of_arrays(A.indptr, A.indices, A.shape, A.format == "csc", name)
    refuse_other_gpu(A.row, name)
    arrays = _sort_coo(*as_one_type(A.row, A.col, A.shape, name, ("row", "col")), A.shape, name)
    return view_of_arrays(*arrays, A.shape, False, name)


def compress(A: Any, name: str) -> Any:
    """Return a CSR, CSC or COO matrix as it is; convert others, saying so, or raise TypeError."""
    if not hasattr(A, "format"):
        raise wrong_type(name, A, "a sparse array or matrix of SciPy or CuPy")
    if A.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
    if A.format in ("csr", "csc", "coo"):
        return A
    warn_of_conversion()
    return A.tocsr()


@advising
def values(A: Any, name: str) -> Any:
    """Return the values of a matrix that `compress` returned, in the order of its view."""
    if A.format != "coo":
        return A.data
    check_values(A.data, A.row.size, name)
    return A.data[namespace(A.row).argsort(A.row, kind="stable")]


@advising
def view_of_arrays(
    indptr: Any, indices: Any, shape: tuple[int, int], flipped: bool, name: str
) -> BipartiteCSR:
    """Return the view of index arrays, which it checks: what is wrong is sought on the host."""
    refuse_other_gpu(indptr, name)
    arrays = as_one_type(indptr, indices, shape, name)
    indptr, indices = map(namespace(indptr).ascontiguousarray, arrays)
    graph = BipartiteCSR(*shape, indptr, indices, "cupy", flipped)
    fits = indptr.ndim == indices.ndim == 1 and indptr.size == graph.n_major + 1
    if fits and (nnz := operations(CertificateOps, "cupy").count_entries(graph)) >= 0:
        return graph._replace(known_nnz=nnz)
    here, major = indptr.get(), "column" if flipped else "row"
    check_compressed(here, indices.get(), (graph.n_major, graph.n_minor), name, major=major)
    return graph._replace(known_nnz=int(here[-1]))


@advising
def copy_to_gpu(graph: BipartiteCSR, data: Any) -> tuple[BipartiteCSR, Any]:
    """Copy a view in host memory to the current GPU, and its values if there are some."""
    cupy, nnz = import_cupy(), graph.nnz
    arrays = cupy.asarray(graph.indptr), cupy.asarray(graph.indices[:nnz])
    there = BipartiteCSR(graph.n_rows, graph.n_cols, *arrays, "cupy", graph.flipped, nnz, True)
    return there, data if data is None else cupy.asarray(as_cupyx_holds(data))


def _sort_coo(rows: Any, cols: Any, shape: tuple[int, int], name: str) -> tuple[Any, Any]:
    """Return indptr and indices of entries in any order, duplicates and all."""
    xp, (n_rows, _) = namespace(rows), shape
    if rows.ndim != 1 or rows.shape != cols.shape:
        text = f"{name}.row has shape {rows.shape}, but {name}.col has shape {cols.shape}"
        raise ValueError(text)
    if rows.size and (int(rows.min()) < 0 or int(rows.max()) >= n_rows):
        p = int(xp.flatnonzero((rows < 0) | (rows >= n_rows))[0])
        raise ValueError(f"{name}.row[{p}] is {int(rows[p])}, but the matrix has {n_rows} rows")
    order = xp.argsort(rows, kind="stable")
    indptr = xp.searchsorted(rows[order], xp.arange(n_rows + 1, dtype=rows.dtype))
    return indptr.astype(rows.dtype), cols[order]
