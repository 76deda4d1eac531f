"""Which entries of a matrix can be on the diagonal: those of some maximum matching, or of all."""

from __future__ import annotations  # readable names in help()

from typing import Any

from sparsematch._api.decomposition import block_form
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import IndexArray, advising, namespace
from sparsematch._base.docstrings import documented
from sparsematch._input.bipartite import read_entries
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._types.bipartite import BipartiteCSR, entry_places
from sparsematch._types.block_form import BlockForm
from sparsematch._types.choices import ExactMethod
from sparsematch._types.sparse_like import Local

_NEVER, _SOMETIMES, _ALWAYS = 0, 1, 2


@documented
@advising
def entry_roles(
    A: Local,
    *,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
) -> Any:
    """Tell for each entry whether it is in no, in some or in every maximum matching.

    In terms of equations (rows) and variables (columns): which variable an equation can determine.
    An entry that is in no maximum matching may be deleted, and the structural rank stays; one that
    is in all of them may not.

    Parameters
    ----------
    {A}
    {initial_matching}
    {method}
    {workers}

    Returns
    -------
    ndarray of int8, shape (nnz,)
        0: in no maximum matching, 1: in some, 2: in every one. In the order of ``A.data`` if `A` is
        CSR, CSC or COO, else in that of its CSR form; of a `view` that drops zeros, of the entries
        that are left. Repeated entries have the same role. Where the matrix is.

    {raises_of_patterns}

    See Also
    --------
    block_triangular_form : The entries within diagonal blocks are those of some maximum matching.

    Notes
    -----
    Dulmage, Mendelsohn, Two algorithms for bipartite graphs (J. SIAM 11, 1963). In the square part
    an entry is in some perfect matching if and only if it is within a diagonal block, and in all if
    that is 1 x 1; within the horizontal or the vertical part all are in some, and none in all.
    Time: that of `block_triangular_form`, and O(nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import entry_roles
    >>> A = csr_array([[1, 1, 1], [0, 1, 1], [0, 1, 1]])
    >>> csr_array((entry_roles(A), A.indices, A.indptr), shape=A.shape).toarray()
    array([[2, 0, 0],
           [0, 1, 1],
           [0, 1, 1]], dtype=int8)
    """
    given = from_other_library(A)
    graph = read_entries(given, threads=resolve_workers(workers)).graph
    form = block_form(graph, matching, method=method, workers=workers)
    xp, (row_of, col_of) = namespace(graph.indptr), form.block_labels
    rows, cols = _coordinates(given, graph)
    block = row_of[rows]
    roles = xp.where(block == col_of[cols], xp.int8(_SOMETIMES), xp.int8(_NEVER))
    roles[(roles == _SOMETIMES) & _is_single(form)[block]] = _ALWAYS
    return roles


def _coordinates(A: Any, graph: BipartiteCSR) -> tuple[IndexArray, IndexArray]:
    """Return the rows and columns of the entries, in the order in which they are stored."""
    if getattr(A, "format", None) == "coo":
        coordinates = check_sparse(A, "A") if graph.backend == "numpy" else A
        return coordinates.row, coordinates.col
    return entry_places(graph)


def _is_single(form: BlockForm) -> Any:
    """Tell for each block whether it is one row and one column of the square part."""
    rows, cols = form.row_blocks, form.col_blocks
    within = (rows[:-1] >= form.coarse_rows[1]) & (rows[:-1] < form.coarse_rows[2])
    return within & (rows[1:] - rows[:-1] == 1) & (cols[1:] - cols[:-1] == 1)
