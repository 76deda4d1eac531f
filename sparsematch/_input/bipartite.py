"""A matrix of any library as the one view that engines see, and its values: read here, once.

The reader leaves what is particular to a library to its adapter: the modules beside this one.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from sparsematch._base.arrays import on_gpu
from sparsematch._base.compressed import as_one_type, check_compressed, check_values
from sparsematch._base.dlpack import pair_of_arrays
from sparsematch._base.errors import check_choice, not_sparse, wrong_type
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import operations
from sparsematch._input import cupy
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.duplicates import no_values, split_zeros
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import compress
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.view import MatrixView

_SPARSE = "a sparse array or matrix of SciPy or CuPy"


class Entries(NamedTuple):
    """A sparse matrix, read once: its pattern, checked, and on demand the values of its entries."""

    graph: BipartiteCSR
    matrix: Any  #: Whose values these are, by rows, columns, or on a GPU coordinates; or a pattern.
    name: str  #: What messages call it.

    @property
    def values(self) -> Any:
        """The numbers, one for each entry; TypeError of others, ValueError of too few."""
        if isinstance(self.matrix, BipartiteCSR):
            raise no_values(self.name)
        host, nnz = issparse(self.matrix), self.graph.nnz
        data = np.asarray(self.matrix.data) if host else cupy.values(self.matrix, self.name)
        check_values(data, nnz, self.name)
        return data if data.size == nnz else data[:nnz]

    def without_zeros(self) -> tuple[BipartiteCSR, int, Any]:
        """Return the pattern without zeros, how many there are, and the other values; O(nnz)."""
        return split_zeros(self.graph, self.values)


def read_entries(
    A: Any, *, name: str = "A", threads: int = 1, valued: bool = False, in_host: bool = False
) -> Entries:
    """Read a sparse matrix of any library; what is on a GPU stays there."""
    # CSR and CSC are viewed without a copy, COO is converted, other formats are converted with a
    # `SparseEfficiencyWarning`. A view is checked again, and refused if the matrix is to be
    # `valued`, as is a matrix on a GPU if it is to be `in_host` memory.
    if isinstance(A, MatrixView):
        if in_host and A.device:
            raise TypeError(f"{name} is viewed on a GPU, but this is done in host memory only")
        how: Any = {"name": name, "threads": threads, "valued": valued, "in_host": in_host}
        return _viewed(A, read_entries(A.matrix, **how), valued)
    if issparse(A) or issparse(A := from_other_library(A)):
        A = compress(A, name)
        graph = _view(A.indptr, A.indices, A.shape, A.format == "csc", name, threads)
    elif isinstance(A, BipartiteCSR) and not valued:
        graph = _view(A.indptr, A.indices, A.shape, A.flipped, name, threads)
    elif not on_gpu(A):
        raise not_sparse(name, A, "a SciPy sparse array or matrix" if in_host else _SPARSE)
    elif in_host:
        raise TypeError(
            f"{name} is on a GPU, but this is done in host memory only; {name}.get() copies it "
            "there"
        )
    else:
        A = cupy.compress(A, name)
        graph = cupy.view(A, name)
    return Entries(graph, A, name)


def as_bipartite(A: Any, *, name: str = "A", threads: int = 1) -> BipartiteCSR:
    """View a sparse matrix as a bipartite graph; indices are int32 if both arrays of `A` are."""
    # Messages call the matrix `name`; `threads` check the indices of a large one in host memory.
    return read_entries(A, name=name, threads=threads).graph


def fields_of_view(A: Any) -> tuple[Any, ...] | None:
    """Return the fields of the view of a compressed matrix of SciPy, unchecked; None of others."""
    if not issparse(A) or A.format not in ("csr", "csc") or A.ndim != 2 or min(A.shape) < 0:
        return None
    is_host = isinstance(A.indptr, np.ndarray)
    return (*A.shape, A.indptr, A.indices, "numpy", A.format == "csc") if is_host else None


def _viewed(view: MatrixView, entries: Entries, valued: bool) -> Entries:
    """Return what is viewed of the entries of a matrix, with values if they are wanted."""
    graph, data = entries.graph, entries.values if valued else None
    if view.zeros == "drop":
        graph, _, data = entries.without_zeros()
    if view.device and graph.backend == "numpy":
        graph, data = cupy.copy_to_gpu(graph, data if valued else None)
    if graph is entries.graph:
        return entries
    matrix: Any = graph
    if valued:
        form, arrays = "csc" if graph.flipped else "csr", (graph.indptr, graph.indices, data)
        matrix = compressed_matrix(form, graph.shape, *arrays)
    return Entries(graph, matrix, entries.name)


def of_arrays(indptr: Any, indices: Any, shape: tuple[int, int], layout: str) -> BipartiteCSR:
    """View index arrays of any library; see `BipartiteCSR.from_arrays`."""
    check_choice("layout", layout, ("csr", "csc"))
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"shape is {shape}, but must be two numbers, none of them negative")
    arrays = pair_of_arrays(indptr, indices)
    n_rows, n_cols = (int(n) for n in shape)
    return _view(*arrays, (n_rows, n_cols), layout == "csc", "the matrix")


def _view(
    indptr: Any, indices: Any, shape: tuple[int, int], flipped: bool, name: str, threads: int = 1
) -> BipartiteCSR:
    """Return the view of index arrays of NumPy or CuPy, which it checks."""
    if not (isinstance(indptr, np.ndarray) and isinstance(indices, np.ndarray)):
        for field, array in (("indptr", indptr), ("indices", indices)):
            if not isinstance(array, np.ndarray) and not on_gpu(array):
                raise wrong_type(f"{name}.{field}", array, "an array")
        return cupy.view_of_arrays(indptr, indices, shape, flipped, name)
    graph = BipartiteCSR(*shape, indptr, indices, "numpy", flipped)
    if operations(CertificateOps, "numpy").count_entries(graph, threads) >= 0:
        return graph
    indptr, indices = map(np.ascontiguousarray, as_one_type(indptr, indices, shape, name))
    major = "column" if flipped else "row"
    check_compressed(indptr, indices, (graph.n_major, graph.n_minor), name, major=major)
    return BipartiteCSR(*shape, indptr, indices, "numpy", flipped)
