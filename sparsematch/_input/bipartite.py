"""A matrix of any library as the one view that engines see: checked here, once.

`as_bipartite` leaves what is particular to a library to its adapter: the modules beside this one.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from sparsematch._input import cupy
from sparsematch._input.compressed import as_one_type, check_compressed
from sparsematch._input.dlpack import pair_of_arrays
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import compress
from sparsematch._input.zeros import check_choice, count_zeros, drop_zeros, no_values
from sparsematch._types.arrays import on_gpu
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.errors import not_sparse, unknown_choice, wrong_type


def as_bipartite(
    A: Any,
    *,
    name: str = "A",
    device: str | None = None,
    threads: int = 1,
    explicit_zeros: str = "keep",
) -> BipartiteCSR:
    """View a sparse matrix as a bipartite graph; its indices are int32 if both arrays of `A` are.

    CSR and CSC are viewed without a copy, COO is converted, other formats are converted with a
    `SparseEfficiencyWarning`; what is on a GPU stays there. A view is checked again. Messages call
    the matrix `name`; ``device="cuda"`` copies to the current GPU what is in host memory; `threads`
    check the indices of a large matrix there. ``explicit_zeros="drop"`` views the entries that are
    not zero, whose arrays are new; see `sparsematch._input.zeros`.

    Raises TypeError if `A` is no sparse matrix, or its index arrays do not hold integers;
    ValueError if they are inconsistent, there are not two dimensions, it is on another GPU than the
    current one, or zeros are to be dropped and there are no values; ImportError, RuntimeError if a
    GPU is asked for and CuPy, the driver or the GPU is missing.
    """
    if device is not None and device != "cuda":
        raise unknown_choice("device", device, ("cuda",))
    if not issparse(A):
        A = from_other_library(A)
    if issparse(A):
        A = compress(A, name)
        graph = _view(A.indptr, A.indices, A.shape, A.format == "csc", name, threads)
    elif isinstance(A, BipartiteCSR):
        graph = _view(A.indptr, A.indices, A.shape, A.flipped, name, threads)
    elif on_gpu(A):
        A = cupy.compress(A, name)
        graph = cupy.view(A, name)
    else:
        raise not_sparse(name, A, "a sparse array or matrix of SciPy or CuPy")
    if explicit_zeros != "keep":
        check_choice(explicit_zeros)
        graph = drop_zeros(graph, _values(A, name), name, threads)
    return graph if device is None or graph.backend == "cupy" else cupy.copy_to_gpu(graph)


def count_stored_zeros(A: Any, *, name: str = "A") -> int:
    """Count the entries of a sparse matrix whose value is zero: 0 where there are no values.

    Errors are those of `as_bipartite`. Time: O(nnz).
    """
    if not issparse(A):
        A = from_other_library(A)
    if issparse(A):
        A = compress(A, name)
    elif on_gpu(A):
        A = cupy.compress(A, name)
    graph = as_bipartite(A, name=name)
    return 0 if isinstance(A, BipartiteCSR) else count_zeros(graph, _values(A, name), name)


def _values(A: Any, name: str) -> Any:
    """Return the values of what has been viewed, in the order of the view."""
    if isinstance(A, BipartiteCSR):
        raise no_values(name)
    return np.asarray(A.data) if issparse(A) else cupy.values(A, name)


def of_arrays(indptr: Any, indices: Any, shape: tuple[int, int], layout: str) -> BipartiteCSR:
    """View index arrays of any library; see `BipartiteCSR.from_arrays`."""
    if layout not in ("csr", "csc"):
        raise unknown_choice("layout", layout, ("csr", "csc"))
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"shape is {shape}, but must be two numbers, none of them negative")
    arrays = pair_of_arrays(indptr, indices)
    n_rows, n_cols = (int(n) for n in shape)
    return _view(*arrays, (n_rows, n_cols), layout == "csc", "the matrix")


def _view(
    indptr: Any, indices: Any, shape: tuple[int, int], flipped: bool, name: str, threads: int = 1
) -> BipartiteCSR:
    """Return the view of index arrays of NumPy or CuPy, which it checks."""
    for field, array in (("indptr", indptr), ("indices", indices)):
        if not isinstance(array, np.ndarray) and not on_gpu(array):
            raise wrong_type(f"{name}.{field}", array, "an array")
    if not isinstance(indptr, np.ndarray):
        return cupy.view_of_arrays(indptr, indices, shape, flipped, name)
    indptr, indices = map(np.ascontiguousarray, as_one_type(indptr, indices, shape, name))
    sides, major = (shape[::-1], "column") if flipped else (shape, "row")
    check_compressed(indptr, indices, sides, name, major=major, threads=threads)
    return BipartiteCSR(*shape, indptr, indices, "numpy", flipped)
