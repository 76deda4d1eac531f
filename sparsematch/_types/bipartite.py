"""The one view of a matrix that engines see, and the only reader of matrices.

A sparse matrix is a bipartite graph: a vertex for each row and each column, an edge for each stored
entry, its value ignored. The matrix is checked here, once; what lies below does no bounds checks.
CSC is not converted: its arrays are the CSR of the transpose, so the view keeps them and says that
it is flipped.
"""

import warnings
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import SparseEfficiencyWarning, issparse

from sparsematch._input import as_int64, check_sparse
from sparsematch._types.arrays import IndexArray, advising, import_cupy, namespace, on_gpu
from sparsematch._types.consistency import check, check_on_gpu
from sparsematch._types.errors import not_sparse, stack_level, unknown_choice, wrong_type
from sparsematch._types.interchange import compressed_matrix, from_other_library, pair_of_arrays

_T = TypeVar("_T")

_INT32 = np.dtype(np.int32)
# vertices of a side: numbers of blocks go on from there, the largest have other meanings
_INT32_MAX = 2**31 - 8


@dataclass(frozen=True, slots=True)
class BipartiteCSR:
    """A pattern in compressed rows, or in compressed columns if `flipped`.

    Every call that reads patterns alone takes one in place of a sparse matrix. `from_arrays` makes
    it from arrays of any library.

    Attributes
    ----------
    n_rows, n_cols : int
        The shape of the user's matrix, flipped or not.
    indptr, indices : ndarray of int32 or int64, C-contiguous
        Entries ``indptr[k]:indptr[k + 1]`` of `indices` belong to the k-th row (column if
        `flipped`). Unsorted and duplicate indices are legal. `indices` may be longer than
        ``indptr[-1]``.
    backend : str
        Where the arrays live: ``"numpy"`` for host memory, ``"cupy"`` for that of a GPU, ``"mpi"``
        for that of several ranks, each of which has its rows (`DistributedCSR`), ``"nccl"`` for the
        GPUs of several ranks.
    flipped : bool
        Whether `indptr` runs over the columns.
    known_nnz : int
        The number of entries where `indptr` is on a device, so that no thread waits for it; -1: to
        be read there.
    """

    n_rows: int
    n_cols: int
    indptr: IndexArray
    indices: IndexArray
    backend: str = "numpy"
    flipped: bool = False
    known_nnz: int = -1

    @classmethod
    def from_arrays(
        cls, indptr: Any, indices: Any, shape: tuple[int, int], *, layout: str = "csr"
    ) -> "BipartiteCSR":
        """View index arrays of any library as a pattern, without values.

        Parameters
        ----------
        indptr, indices : array of integers
            As in SciPy's CSR format; of NumPy, CuPy, or any library that has the DLPack protocol
            (PyTorch, JAX, TensorFlow, Numba). They are read where they are, in host memory or on an
            NVIDIA GPU, and copied only if they are not contiguous, or neither both int32 nor both
            int64.
        shape : (int, int)
            Rows and columns.
        layout : {"csr", "csc"}, optional
            ``"csc"``: `indptr` runs over the columns, and `indices` are rows.

        Returns
        -------
        BipartiteCSR
            To be given to `maximum_transversal`, `block_triangular_form` and the like.

        Raises
        ------
        TypeError
            If the arrays do not hold integers, or are not in the same memory.
        ValueError
            If they are inconsistent, the shape is none, or `layout` is none of the choices.

        Notes
        -----
        Time: O(n_rows + nnz), for the check.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsematch import BipartiteCSR, maximum_transversal
        >>> indptr, indices = np.array([0, 2, 3, 5]), np.array([0, 2, 0, 1, 2])
        >>> A = BipartiteCSR.from_arrays(indptr, indices, (3, 3))
        >>> maximum_transversal(A).row_mate.tolist()
        [2, 0, 1]
        """
        if layout not in ("csr", "csc"):
            raise unknown_choice("layout", layout, ("csr", "csc"))
        if len(shape) != 2 or min(shape) < 0:
            raise ValueError(f"shape is {shape}, but must be two numbers, none of them negative")
        arrays = pair_of_arrays(indptr, indices)
        n_rows, n_cols = (int(n) for n in shape)
        return _view(*arrays, (n_rows, n_cols), layout == "csc", "the matrix")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, as the user counts them."""
        return self.n_rows, self.n_cols

    @property
    def n_major(self) -> int:
        """What `indptr` runs over: the columns if flipped, else the rows."""
        return self.n_cols if self.flipped else self.n_rows

    @property
    def n_minor(self) -> int:
        """What `indices` names: the rows if flipped, else the columns."""
        return self.n_rows if self.flipped else self.n_cols

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return int(self.indptr[-1]) if self.known_nnz < 0 else self.known_nnz

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the indices, hence of the mates."""
        return self.indptr.dtype

    def orient(self, row_like: _T, col_like: _T) -> tuple[_T, _T]:
        """Return the pair as (major, minor); given such a pair, return it as (row, column)."""
        return (col_like, row_like) if self.flipped else (row_like, col_like)


@advising
def as_bipartite(
    A: Any,
    *,
    name: str = "A",
    device: str | None = None,
    threads: int = 1,
    distributed: bool = False,
) -> BipartiteCSR:
    """View a sparse matrix as a bipartite graph.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        CSR and CSC are viewed without a copy and COO is converted; other formats are converted with
        a warning. A pydata/sparse array is converted. The same formats of cupyx.scipy.sparse stay
        on their GPU, and so do sparse tensors of PyTorch. A view is checked again.
    name : str, optional
        What messages call the matrix.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy to the current GPU what is in host memory.
    threads : int, optional
        How many check the indices of a large matrix in host memory.
    distributed : bool, optional
        Whether the caller can do with a `DistributedCSR`, which is such a view already.

    Returns
    -------
    BipartiteCSR
        With int32 indices if both arrays of `A` are, otherwise int64.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or its index arrays do not hold integers.
    ValueError
        If `A` does not have two dimensions, its index arrays are inconsistent, it is on another GPU
        than the current one, or `device` is none of the choices.
    ImportError, RuntimeError
        If a GPU is asked for, and CuPy, the driver or the GPU is missing.

    Warns
    -----
    SparseEfficiencyWarning
        If `A` is in none of CSR, CSC and COO.
    """
    if device is not None and device != "cuda":
        raise unknown_choice("device", device, ("cuda",))
    if isinstance(A, BipartiteCSR) and A.backend in ("mpi", "nccl"):
        return _as_distributed(A, name, device, distributed)
    A = from_other_library(A)
    if isinstance(A, BipartiteCSR):
        graph = _view(A.indptr, A.indices, A.shape, A.flipped, name, threads)
    elif not issparse(A) and on_gpu(A):
        return _view_on_gpu(A, name)
    else:
        A = as_compressed(A, name, expected="a sparse array or matrix of SciPy or CuPy")
        if A.ndim != 2:
            raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
        graph = _view(A.indptr, A.indices, A.shape, A.format == "csc", name, threads)
    return graph if device is None or graph.backend == "cupy" else _copy_to_gpu(graph)


def _view(
    indptr: Any, indices: Any, shape: tuple[int, int], flipped: bool, name: str, threads: int = 1
) -> BipartiteCSR:
    """Return the view of index arrays of NumPy or CuPy, which it checks."""
    for field, array in (("indptr", indptr), ("indices", indices)):
        if not isinstance(array, np.ndarray) and not on_gpu(array):
            raise wrong_type(f"{name}.{field}", array, "an array")
    xp = namespace(indptr)
    if xp is not np:
        _refuse_other_gpu(indptr, name)
    if not indptr.dtype == indices.dtype == _INT32 or max(shape) > _INT32_MAX:
        indptr, indices = as_int64(indptr, name, "indptr"), as_int64(indices, name, "indices")
    arrays = xp.ascontiguousarray(indptr), xp.ascontiguousarray(indices)
    if xp is not np:
        return check_on_gpu(BipartiteCSR(*shape, *arrays, "cupy", flipped), name)
    graph = BipartiteCSR(*shape, *arrays, "numpy", flipped)
    check(graph, name, threads)
    return graph


def as_compressed(A: Any, name: str, *, expected: str = "a SciPy sparse array or matrix") -> Any:
    """Return a CSR or CSC matrix as it is, convert other sparse ones, refuse the rest."""
    A = from_other_library(A)
    if isinstance(A, BipartiteCSR) and A.backend in ("mpi", "nccl"):
        _as_distributed(A, name, None, False)
    if not issparse(A):
        if on_gpu(A):
            raise TypeError(
                f"{name} is on a GPU, but this is done in host memory only; {name}.get() copies it "
                "there"
            )
        raise not_sparse(name, A, expected)
    return A if A.format in ("csr", "csc") else compress(A, name)


def _as_distributed(A: BipartiteCSR, name: str, device: str | None, accepted: bool) -> BipartiteCSR:
    """Return a matrix over ranks, which was checked when it was made, where it is accepted."""
    if not accepted:
        raise TypeError(
            f"{name} is distributed over ranks, but this is done in one process only; "
            f"{name}.to_local() returns the own rows"
        )
    if device is not None:
        raise TypeError(f"{name} is distributed over ranks, so device must be None")
    return A


def compress(A: Any, name: str) -> Any:
    """Convert a matrix that is not compressed to CSR, saying so unless that is what COO is for."""
    if A.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
    if A.format != "coo":
        text = "Input matrix should be in CSC, CSR, or COO matrix format"  # SciPy's words
        warnings.warn(text, SparseEfficiencyWarning, stacklevel=stack_level())
    return (check_sparse(A, name) if issparse(A) else A).tocsr()


def checked(A: Any, name: str) -> Any:
    """Return a sparse matrix that code of SciPy or CuPy may read, values and all.

    It is `A`, or shares its arrays where these hold more than its entries.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or its index arrays do not hold integers.
    ValueError
        If its arrays are inconsistent.
    """
    A = from_other_library(A)
    if issparse(A):
        return check_sparse(A, name)
    nnz = as_bipartite(A, name=name).nnz  # on a GPU, or refused
    if isinstance(A, BipartiteCSR):
        raise not_sparse(name, A, "a sparse array or matrix of SciPy or CuPy")
    if A.format not in ("csr", "csc", "coo"):
        return A
    if A.data.ndim != 1 or A.data.size < nnz:
        raise ValueError(f"{name}.data has shape {A.data.shape}, but there are {nnz} entries")
    if A.format == "coo" or A.data.size == A.indices.size == nnz:
        return A
    return compressed_matrix(A.format, A.shape, A.indptr, A.indices[:nnz], A.data[:nnz])


def _copy_to_gpu(graph: BipartiteCSR) -> BipartiteCSR:
    cupy, nnz = import_cupy(), graph.nnz
    arrays = cupy.asarray(graph.indptr), cupy.asarray(graph.indices[:nnz])
    return BipartiteCSR(graph.n_rows, graph.n_cols, *arrays, "cupy", graph.flipped, nnz)


def _view_on_gpu(A: Any, name: str) -> BipartiteCSR:
    """View a matrix of cupyx.scipy.sparse; one synchronisation, to check its arrays."""
    if not hasattr(A, "format"):
        raise wrong_type(name, A, "a sparse array or matrix of SciPy or CuPy")
    if A.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
    if A.format not in ("csr", "csc", "coo"):
        A = compress(A, name)
    n_rows, n_cols = A.shape
    fields = ("row", "col") if A.format == "coo" else ("indptr", "indices")
    first, second = (getattr(A, field) for field in fields)
    if A.format == "coo":
        _refuse_other_gpu(first, name)
        if not first.dtype == second.dtype == _INT32 or max(n_rows, n_cols) > _INT32_MAX:
            first, second = as_int64(first, name, "row"), as_int64(second, name, "col")
        first, second = _sort_coo(first, second, A.shape, name)
    return _view(first, second, (n_rows, n_cols), A.format == "csc", name)


def _refuse_other_gpu(array: Any, name: str) -> None:
    here, there = namespace(array).cuda.runtime.getDevice(), array.device.id
    if here != there:
        raise ValueError(
            f"{name} is on GPU {there}, but the current one is {here}: call within "
            f"cupy.cuda.Device({there})"
        )


def _sort_coo(rows: Any, cols: Any, shape: tuple[int, int], name: str) -> tuple[Any, Any]:
    """Return indptr and indices of entries in any order, duplicates and all."""
    xp, (n_rows, _) = namespace(rows), shape
    if rows.ndim != 1 or rows.shape != cols.shape:
        raise ValueError(
            f"{name}.row has shape {rows.shape}, but {name}.col has shape {cols.shape}"
        )
    if rows.size and (int(rows.min()) < 0 or int(rows.max()) >= n_rows):
        p = int(xp.flatnonzero((rows < 0) | (rows >= n_rows))[0])
        raise ValueError(f"{name}.row[{p}] is {int(rows[p])}, but the matrix has {n_rows} rows")
    order = xp.argsort(rows, kind="stable")
    indptr = xp.searchsorted(rows[order], xp.arange(n_rows + 1, dtype=rows.dtype)).astype(
        rows.dtype
    )
    return indptr, cols[order]
