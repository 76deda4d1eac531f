"""The pattern of a matrix, read once, so that values can follow in the order of its own entries."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sparsematch._input.bipartite import as_bipartite, read_entries
from sparsematch._input.duplicates import type_of_sums
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._types.arrays import IndexArray
from sparsematch._types.bipartite import BipartiteCSR, with_arrays
from sparsematch._types.errors import wrong_type

_Values = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPattern:
    """A pattern without repeated entries, and how the values of the matrix become its values."""

    graph: BipartiteCSR  #: The arrays are copies.
    layout: str  #: The format that the matrix came in: ``"csr"``, ``"csc"`` or ``"coo"``.
    arrays: tuple[IndexArray, IndexArray]  #: Its index arrays, to know it again.
    #: Entry p of the pattern is entry ``order[p]`` of the matrix; None: they are in order.
    order: IndexArray | None
    starts: IndexArray | None  #: Where each group of repeated entries begins; None: there are none.

    @property
    def nnz(self) -> int:
        """Number of entries of the matrix, repeated ones included."""
        return self.arrays[1].size

    def read(self, values: Any, ndim: int) -> _Values:
        """Return values of a matrix, or of several, in its own order: shape (nnz,) or (k, nnz).

        `values` is an array, or for one matrix a sparse matrix with this pattern. Raises TypeError
        if it is neither, or does not hold numbers; ValueError if its shape or pattern is another.
        """
        if ndim == 1 and issparse(values):
            values = self._read_matrix(values)
        try:
            array = np.asarray(values)
        except ValueError:  # rows of several lengths
            raise wrong_type("values", values, "an array of numbers") from None
        if array.dtype.kind not in "biufc":
            raise TypeError(f"values must be numbers, not {array.dtype}")
        if array.ndim != ndim or array.shape[-1] != self.nnz:
            wanted = f"({self.nnz},)" if ndim == 1 else f"(k, {self.nnz})"
            raise ValueError(f"values has shape {array.shape}, but must have shape {wanted}")
        return array

    def arrange(self, values: _Values) -> _Values:
        """Return values in the order of the pattern, those of repeated entries added up."""
        if self.order is None:
            return values
        values = values[..., self.order]
        if self.starts is None:
            return values
        values = values.astype(type_of_sums(values.dtype))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused later
            sums: _Values = np.add.reduceat(values, self.starts, axis=-1)
        return sums

    def _read_matrix(self, A: Any) -> _Values:
        if A.shape != self.graph.shape:
            raise ValueError(f"A has shape {A.shape}, but {self.graph.shape} was analysed")
        A = check_sparse(A, "A").asformat(self.layout)
        nnz = self.nnz
        first, second = A.coords if self.layout == "coo" else (A.indptr, A.indices[:nnz])
        if not (np.array_equal(first, self.arrays[0]) and np.array_equal(second, self.arrays[1])):
            raise ValueError(
                "A has another pattern than the matrix that was analysed: analyse it, or give it "
                "the same entries, explicit zeros included, in the same order"
            )
        data: _Values = A.data[:nnz]
        return data


def read_pattern(A: Any, *, threads: int = 1) -> WeightedPattern:
    """Read the pattern of a sparse matrix, whose values do not count.

    Raises TypeError if `A` is no sparse matrix in host memory; ValueError if its index arrays are
    inconsistent.
    """
    A = from_other_library(A)
    if issparse(A) and A.format == "coo":
        given = as_bipartite(A, threads=threads)  # checks it
        majors, minors = (np.array(side, given.dtype) for side in A.coords)
        layout, arrays = "coo", (majors, minors)
    else:
        given = read_entries(A, threads=threads, valued=True, in_host=True).graph
        layout = "csc" if given.flipped else "csr"
        arrays = given.indptr.copy(), given.indices[: given.nnz].copy()
        majors = np.repeat(np.arange(given.n_major, dtype=given.dtype), np.diff(arrays[0]))
        minors = arrays[1]
        given = with_arrays(given, *arrays)
    same = majors[1:] == majors[:-1]
    if np.all((majors[1:] > majors[:-1]) | (same & (minors[1:] > minors[:-1]))):
        return WeightedPattern(given, layout, arrays, None, None)
    order = np.lexsort((minors, majors))
    majors, minors = majors[order], minors[order]
    first = np.ones(order.size, bool)
    first[1:] = (majors[1:] != majors[:-1]) | (minors[1:] != minors[:-1])
    starts = None if first.all() else np.flatnonzero(first)
    indptr = np.searchsorted(majors[first], np.arange(given.n_major + 1))
    graph = with_arrays(given, indptr, minors[first])
    return WeightedPattern(graph, layout, arrays, order, starts)
