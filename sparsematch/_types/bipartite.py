"""The one view of a matrix that engines see, and the only reader of matrices.

A sparse matrix is a bipartite graph: a vertex for each row and each column, an edge for each stored
entry, its value ignored. The matrix is checked here, once; what lies below does no bounds checks.
CSC is not converted: its arrays are the CSR of the transpose, so the view keeps them and says that
it is flipped.
"""

import sys
import warnings
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

import numpy as np
from scipy.sparse import SparseEfficiencyWarning, issparse

from sparsematch._types.arrays import IndexArray, advising, import_cupy, namespace, on_gpu
from sparsematch._types.errors import not_sparse, stack_level, unknown_choice, wrong_type

_T = TypeVar("_T")

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)
_UNSIGNED: dict[np.dtype[Any], np.dtype[Any]] = {
    _INT32: np.dtype(np.uint32),
    _INT64: np.dtype(np.uint64),
}
# vertices of a side: numbers of blocks go on from there, the largest have other meanings
_INT32_MAX = 2**31 - 8
_LARGE = 1 << 23  # entries: reading fewer takes one thread little longer than starting others


@dataclass(frozen=True, slots=True)
class BipartiteCSR:
    """A pattern in compressed rows, or in compressed columns if `flipped`.

    Attributes
    ----------
    n_rows, n_cols : int
        The shape of the user's matrix, flipped or not.
    indptr, indices : ndarray of int32 or int64, C-contiguous
        Entries ``indptr[k]:indptr[k + 1]`` of `indices` belong to the k-th row (column if
        `flipped`). Unsorted and duplicate indices are legal. `indices` may be longer than
        ``indptr[-1]``.
    backend : str
        Where the arrays live: ``"numpy"`` for host memory, ``"cupy"`` for that of a GPU.
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
    A: Any, *, name: str = "A", device: str | None = None, threads: int = 1
) -> BipartiteCSR:
    """View a sparse matrix as a bipartite graph.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        CSR and CSC are viewed without a copy and COO is converted; other formats are converted with
        a warning. A pydata/sparse array is converted. The same formats of cupyx.scipy.sparse stay
        on their GPU.
    name : str, optional
        What messages call the matrix.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy to the current GPU what is in host memory.
    threads : int, optional
        How many check the indices of a large matrix in host memory.

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
    if not issparse(A) and on_gpu(A):
        return _view_on_gpu(A, name)
    A = as_compressed(A, name, expected="a sparse array or matrix of SciPy or CuPy")
    layout = A.format
    if A.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
    n_rows, n_cols = A.shape
    indptr, indices = A.indptr, A.indices
    if not indptr.dtype == indices.dtype == _INT32 or n_rows > _INT32_MAX or n_cols > _INT32_MAX:
        indptr, indices = _as_int64(indptr, name, "indptr"), _as_int64(indices, name, "indices")
    indptr, indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
    graph = BipartiteCSR(n_rows, n_cols, indptr, indices, "numpy", layout == "csc")
    _check(graph, name, threads)
    return graph if device is None else _copy_to_gpu(graph)


def as_compressed(A: Any, name: str, *, expected: str = "a SciPy sparse array or matrix") -> Any:
    """Return a CSR or CSC matrix as it is, convert other sparse ones, refuse the rest."""
    if not issparse(A):
        if on_gpu(A):
            raise TypeError(
                f"{name} is on a GPU, but this is done in host memory only; {name}.get() copies it "
                "there"
            )
        A = _from_other_library(A, name, expected)
    return A if A.format in ("csr", "csc") else compress(A, name)


def pydata_to_scipy(A: Any) -> Any:
    """Convert a pydata/sparse array without importing that library; return the rest as it is."""
    kind = getattr(sys.modules.get("sparse"), "SparseArray", None)
    return A.to_scipy_sparse() if kind is not None and isinstance(A, kind) else A


def _from_other_library(A: Any, name: str, expected: str) -> Any:
    """Convert what is not SciPy's but known, refuse the rest."""
    A = pydata_to_scipy(A)
    if issparse(A):
        return A
    raise not_sparse(name, A, expected)


def compress(A: Any, name: str) -> Any:
    """Convert a matrix that is not compressed to CSR, saying so unless that is what COO is for."""
    if A.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, not {A.ndim}")
    if A.format != "coo":
        text = "Input matrix should be in CSC, CSR, or COO matrix format"  # SciPy's words
        warnings.warn(text, SparseEfficiencyWarning, stacklevel=stack_level())
    return A.tocsr()


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
    (n_rows, n_cols), flipped = A.shape, A.format == "csc"
    fields = ("row", "col") if A.format == "coo" else ("indptr", "indices")
    first, second = (getattr(A, field) for field in fields)
    xp = namespace(first)
    here, there = xp.cuda.runtime.getDevice(), first.device.id
    if here != there:
        raise ValueError(
            f"{name} is on GPU {there}, but the current one is {here}: call within "
            f"cupy.cuda.Device({there})"
        )
    if not first.dtype == second.dtype == _INT32 or n_rows > _INT32_MAX or n_cols > _INT32_MAX:
        first, second = _as_int64(first, name, fields[0]), _as_int64(second, name, fields[1])
    if A.format == "coo":
        first, second = _sort_coo(first, second, A.shape, name)
    indptr, indices = xp.ascontiguousarray(first), xp.ascontiguousarray(second)
    return _check_on_gpu(BipartiteCSR(n_rows, n_cols, indptr, indices, "cupy", flipped), name)


def _sort_coo(rows: Any, cols: Any, shape: tuple[int, int], name: str) -> tuple[Any, Any]:
    """Return indptr and indices of entries in any order, duplicates and all."""
    xp, (n_rows, _) = namespace(rows), shape
    if rows.size and (int(rows.min()) < 0 or int(rows.max()) >= n_rows):
        p = int(xp.flatnonzero((rows < 0) | (rows >= n_rows))[0])
        raise ValueError(f"{name}.row[{p}] is {int(rows[p])}, but the matrix has {n_rows} rows")
    order = xp.argsort(rows, kind="stable")
    indptr = xp.searchsorted(rows[order], xp.arange(n_rows + 1, dtype=rows.dtype)).astype(
        rows.dtype
    )
    return indptr, cols[order]


def _as_int64(index_array: Any, name: str, field: str) -> IndexArray:
    if index_array.dtype.kind not in "iu":
        raise TypeError(f"{name}.{field} must hold integers, not {index_array.dtype}")
    return index_array.astype(np.int64, copy=False)


def _check(graph: BipartiteCSR, name: str, threads: int = 1) -> None:
    """Raise ValueError unless every entry lies in the matrix.

    Time: O(n_major + nnz), two passes.
    """
    indptr, indices = graph.indptr, graph.indices
    if indptr.ndim != 1 or indices.ndim != 1 or indptr.size != graph.n_major + 1:
        _refuse_lengths(graph, name)
    nnz = graph.nnz
    if indptr[0] != 0 or nnz > indices.size or np.count_nonzero(indptr[1:] < indptr[:-1]):
        _refuse_indptr(graph, name)
    # Read as unsigned, a negative index is a very large one: the largest bounds both ends of
    # the range.
    if nnz and _largest(indices[:nnz].view(_UNSIGNED[graph.dtype]), threads) >= graph.n_minor:
        _refuse_indices(graph, name)


def _largest(values: np.ndarray[Any, Any], threads: int) -> int:
    """Return the largest value.

    NumPy lets other threads run meanwhile; two read memory faster than one.
    """
    if threads == 1 or values.size < _LARGE:
        return int(values[values.argmax()])  # which NumPy finds faster than by max()
    from concurrent.futures import ThreadPoolExecutor

    first, *rest = np.array_split(values, threads)
    with ThreadPoolExecutor(threads - 1) as pool:
        others = pool.map(lambda part: int(part[part.argmax()]), rest)
        return max(int(first[first.argmax()]), *others)


def _check_on_gpu(graph: BipartiteCSR, name: str) -> BipartiteCSR:
    """Return the graph, with the number of its entries known.

    What is wrong is looked for on a copy in host memory.
    """
    indptr: Any = graph.indptr
    indices: Any = graph.indices
    nnz = -1
    if indptr.ndim == indices.ndim == 1 and indptr.size == graph.n_major + 1:
        xp = namespace(indptr)
        falls = (indptr[1:] < indptr[:-1]).any().astype(graph.dtype).reshape(1)
        largest = indices.view(_UNSIGNED[graph.dtype]).max().reshape(1) if indices.size else indices
        facts = xp.concatenate([indptr[:1], indptr[-1:], falls, largest.view(graph.dtype)])
        begin, nnz, decreases, *last = facts.tolist()
        if (
            begin == 0 <= nnz <= indices.size
            and not decreases
            and all(0 <= j < graph.n_minor for j in last)
        ):
            return replace(graph, known_nnz=nnz)
    _check(replace(graph, indptr=indptr.get(), indices=indices.get()), name)
    return replace(graph, known_nnz=nnz)  # what lies behind the last entry may be anything


def _refuse_lengths(graph: BipartiteCSR, name: str) -> NoReturn:
    if graph.indptr.ndim != 1 or graph.indices.ndim != 1:
        raise ValueError(f"{name}.indptr and {name}.indices must have one dimension")
    majors, _ = graph.orient("rows", "columns")
    raise ValueError(
        f"{name}.indptr has length {graph.indptr.size}, but a matrix with {graph.n_major} {majors} "
        f"needs length {graph.n_major + 1}"
    )


def _refuse_indptr(graph: BipartiteCSR, name: str) -> NoReturn:
    indptr = graph.indptr
    major, _ = graph.orient("row", "column")
    if indptr[0] != 0:
        raise ValueError(f"{name}.indptr[0] is {indptr[0]}, but must be 0")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        k = falls[0]
        raise ValueError(
            f"{name}.indptr decreases at {major} {k}: from {indptr[k]} to {indptr[k + 1]}"
        )
    raise ValueError(
        f"{name}.indptr[-1] is {indptr[-1]}, but {name}.indices holds {graph.indices.size} entries "
        "only"
    )


def _refuse_indices(graph: BipartiteCSR, name: str) -> NoReturn:
    used = graph.indices[: graph.nnz]
    p = np.flatnonzero((used < 0) | (used >= graph.n_minor))[0]
    k = np.searchsorted(graph.indptr, p, side="right") - 1
    major, _ = graph.orient("row", "column")
    _, minors = graph.orient("rows", "columns")
    raise ValueError(
        f"{name}.indices[{p}] is {used[p]}, in {major} {k}, but the matrix has {graph.n_minor} "
        f"{minors}"
    )
