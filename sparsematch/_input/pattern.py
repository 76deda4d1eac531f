"""The pattern of a matrix, read once, so that values can follow in the order of its own entries."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import Array, IndexArray, groups
from sparsematch._base.compressed import INT32_MAX, check_values
from sparsematch._base.dlpack import as_array
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import read_entries
from sparsematch._input.duplicates import has_duplicates, type_of_sums
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._types.bipartite import BipartiteCSR, list_of_each


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A pattern without repeated entries, and how the values of the matrix become its values."""

    #: Its rows, or columns if it is flipped, ascend. The arrays are copies.
    graph: BipartiteCSR
    layout: str  #: The format that the matrix came in: ``"csr"``, ``"csc"`` or ``"coo"``.
    arrays: tuple[IndexArray, ...]  #: Its index arrays, to know it again.
    #: Entry p of the pattern is entry ``order[p]`` of the matrix; None: the entries are in order.
    order: IndexArray | None
    starts: IndexArray | None  #: Where each group of duplicates begins; None: there are none.

    @property
    def nnz(self) -> int:
        """Number of entries of the matrix, repeated ones included."""
        return self.arrays[-1].size

    def is_of(self, A: Any) -> bool:
        """Tell whether a SciPy matrix by rows, columns or coordinates has this pattern."""
        # Its index arrays are compared, whoever they are: sorting indices changes them in place.
        if A.format != self.layout or A.shape != self.graph.shape:
            return False
        equal = operations(LuOps, self.graph.backend).equal_indices
        return all(map(equal, _index_arrays(A), self.arrays))

    def data_of(self, A: Any) -> Array:
        """Return the data of a SciPy matrix; raise ValueError if its pattern is another one."""
        A = compress(A)
        if A.shape != (shape := self.graph.shape):
            text = f"A has shape {A.shape}, but the matrix that was analysed has shape {shape}"
            raise ValueError(text)
        if A.format != self.layout:
            A = check_sparse(A, "A").asformat(self.layout)
        if not self.is_of(A):
            raise ValueError(
                "A has another pattern than the matrix that was analysed: analyse it, or give "
                "it the same entries, explicit zeros included, in the same order"
            )
        return self.entries_of(A.data)

    def entries_of(self, data: Any) -> Array:
        """Return the data of the entries of a matrix, without what SciPy may keep behind them."""
        check_values(data := np.asarray(data), self.nnz, "A")
        return data[: self.nnz]

    def read(self, values: Any, ndim: int, name: str = "values") -> Array:
        """Return values of a matrix, or of several, in its own order: shape (nnz,) or (k, nnz)."""
        # `values` is an array, or for one matrix a sparse matrix with this pattern.
        values = from_other_library(values)
        if ndim == 1 and sp.issparse(values):
            return self.data_of(values)
        try:
            array = np.asarray(as_array(values, name))
        except ValueError:  # rows of several lengths
            raise wrong_type(name, values, "an array of numbers") from None
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{name} must be numbers, not {array.dtype}")
        if array.ndim != ndim or array.shape[-1] != self.nnz:
            wanted = f"({self.nnz},)" if ndim == 1 else f"(k, {self.nnz})"
            raise ValueError(f"{name} has shape {array.shape}, but must have shape {wanted}")
        return array

    def arrange(self, values: Array) -> Array:
        """Return values in the order of the pattern, those of repeated entries added up."""
        if self.order is None:
            return values
        values = values[..., self.order]
        if self.starts is None:
            return values
        values = values.astype(type_of_sums(values.dtype))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused later
            return np.add.reduceat(values, self.starts, axis=-1)


def read_pattern(
    A: Any, by_columns: bool | None = None, triangle: str | None = None, threads: int = 1
) -> Pattern:
    """Read the pattern of a sparse matrix by columns or rows, or of a triangle and its mirror."""
    # If `by_columns` is None by the side of which there are fewer, which is what matchings of least
    # cost search from, and as it comes if it is square. Entries in one place stay in the order in
    # which they come. SciPy's conversions sort by counting, with the places as values.
    A = from_other_library(A)
    if sp.issparse(A) and A.format == "coo":
        A = check_sparse(A, "A")
    else:
        A = read_entries(A, threads=threads, valued=True, in_host=True).matrix
    arrays = tuple(array.copy() for array in _index_arrays(A))
    shape: tuple[int, int] = A.shape
    if by_columns is None:
        by_columns = shape[0] > shape[1] or (shape[0] == shape[1] and A.format == "csc")
    places = np.arange(arrays[-1].size)
    if A.format == "coo":
        entries: Any = sp.coo_array((places, arrays), shape=shape)
        entries.has_canonical_format = True  # or SciPy adds up what is in one place
    else:
        kind = sp.csr_array if A.format == "csr" else sp.csc_array
        entries = kind((places, arrays[1], arrays[0]), shape=shape)
    if triangle is not None:
        entries = mirrored(entries, triangle == "lower")
    lists = entries.tocsr().tocsc() if by_columns else entries.tocsc().tocsr()
    small = all(array.dtype == np.int32 for array in arrays) and max(shape) <= INT32_MAX
    dtype = np.int32 if small else np.int64
    indptr, minors = (x.astype(dtype, copy=False) for x in (lists.indptr, lists.indices))
    graph = BipartiteCSR(*shape, indptr, minors, "numpy", by_columns)
    if not has_duplicates(graph):
        is_sorted = np.array_equal(lists.data, places)
        return Pattern(graph, A.format, arrays, None if is_sorted else lists.data, None)
    starts, _ = groups(minors, list_of_each(indptr, minors.size))
    indptr = np.searchsorted(starts, indptr).astype(dtype)
    graph = BipartiteCSR(*shape, indptr, minors[starts], "numpy", by_columns)
    return Pattern(graph, A.format, arrays, lists.data, starts)


def mirrored(S: Any, lower: bool) -> Any:
    """Return the lower or upper triangle of a square matrix together with its mirror image."""
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"A must be square, but its shape is {S.shape}")
    T = (sp.tril if lower else sp.triu)(S, format="coo")
    off = T.row != T.col
    rows, cols = np.append(T.row, T.col[off]), np.append(T.col, T.row[off])
    both = sp.coo_array((np.append(T.data, T.data[off]), (rows, cols)), shape=S.shape)
    both.has_canonical_format = True  # or SciPy adds up what is in one place
    return both


def compress(A: Any) -> Any:
    """Return a matrix by rows, columns or coordinates as it is, another one by rows."""
    if A.ndim != 2:
        raise ValueError(f"A must have two dimensions, not {A.ndim}")
    return A if A.format in ("csr", "csc", "coo") else check_sparse(A, "A").tocsr()


def _index_arrays(A: Any) -> tuple[IndexArray, ...]:
    """Return the arrays that make the pattern; the last has an element for each entry."""
    arrays = A.coords if A.format == "coo" else (A.indptr, A.indices)
    plain = [isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "iu" for x in arrays]
    if plain != [True, True] or not arrays[0].size:
        check_sparse(A, "A")  # says what they are
    first, second = arrays
    return (first, second) if A.format == "coo" else (first, second[: first[-1]])
