"""The one view of a matrix that engines see.

A sparse matrix is a bipartite graph: a vertex for each row and each column, an edge for each stored
entry, its value ignored. The view is made, and checked, by `sparsematch._input`; what lies below
does no bounds checks. CSC is not converted: its arrays are the CSR of the transpose, so the view
keeps them and says that it is flipped.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np

from sparsematch._base.above import above
from sparsematch._base.arrays import BoolArray, IndexArray, IndexPair, namespace

_T = TypeVar("_T")


class BipartiteCSR(NamedTuple):
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
        Where the arrays live: ``"numpy"`` for host memory, ``"cupy"`` for that of a GPU.
    flipped : bool
        Whether `indptr` runs over the columns.
    known_nnz : int
        The number of entries where `indptr` is on a device, so that no thread waits for it; -1: to
        be read there.
    from_host : bool
        Whether it was copied from host memory for a `view`: what comes with it is, too, then.
    """

    n_rows: int
    n_cols: int
    indptr: IndexArray
    indices: IndexArray
    backend: str = "numpy"
    flipped: bool = False
    known_nnz: int = -1
    from_host: bool = False

    @classmethod
    def from_arrays(
        cls, indptr: Any, indices: Any, shape: tuple[int, int], *, layout: str = "csr"
    ) -> "BipartiteCSR":
        """View index arrays of any library as a pattern, without values.

        Parameters
        ----------
        indptr, indices : array of integers
            As in SciPy's CSR format; of NumPy, CuPy, or any library that has the DLPack protocol.
            They are read where they are, in host memory or on an NVIDIA GPU, and copied only if
            they are not contiguous, or neither both int32 nor both int64.
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
        TypeError, ValueError
            If the arrays do not hold integers, are not in the same memory, or inconsistent, which
            takes O(n_rows + nnz) to see; or another argument is none of the choices.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsematch import BipartiteCSR, maximum_transversal
        >>> indptr, indices = np.array([0, 2, 3, 5]), np.array([0, 2, 0, 1, 2])
        >>> A = BipartiteCSR.from_arrays(indptr, indices, (3, 3))
        >>> maximum_transversal(A).row_mate.tolist()
        [2, 0, 1]
        """
        return above("of_arrays")(indptr, indices, shape, layout)

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


def keep_entries(graph: BipartiteCSR, keep: BoolArray) -> BipartiteCSR:
    """Return the pattern of those entries that are flagged, its index type kept."""
    xp = namespace(keep)
    before = xp.zeros(keep.size + 1, graph.dtype)
    xp.cumsum(keep, out=before[1:])
    return with_arrays(graph, before[graph.indptr], graph.indices[: graph.nnz][keep])


def entry_place(graph: BipartiteCSR, p: int) -> tuple[int, int]:
    """Return the user's row and column of entry `p`, in host memory. Time: O(log n_major)."""
    major = int(np.searchsorted(graph.indptr, p, side="right")) - 1
    return graph.orient(major, int(graph.indices[p]))


def entry_places(graph: BipartiteCSR) -> IndexPair:
    """Return the user's rows and columns of all entries, where the pattern is."""
    return graph.orient(list_of_each(graph.indptr, graph.nnz), graph.indices[: graph.nnz])


def list_of_each(indptr: IndexArray, n: int) -> Any:
    """Return which of the lists that begin at `indptr` each of their `n` entries is in."""
    xp = namespace(indptr)
    if xp is np:
        return np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    # As many lists have ended before it, also where some are empty. CuPy repeats by no array.
    return xp.searchsorted(indptr[1:], xp.arange(n, dtype=indptr.dtype), side="right")


def with_arrays(graph: BipartiteCSR, indptr: Any, indices: Any) -> BipartiteCSR:
    """Return the pattern with other entries, its index type kept."""
    make = namespace(indptr).ascontiguousarray
    indptr, indices = (make(array, graph.dtype) for array in (indptr, indices))
    return BipartiteCSR(graph.n_rows, graph.n_cols, indptr, indices, graph.backend, graph.flipped)
