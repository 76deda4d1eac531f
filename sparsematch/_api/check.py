"""Is this a matching, maximal, maximum, a block form, and how can one see it."""

from __future__ import annotations  # readable names in help()

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sparsematch._api.ranks import over_ranks
from sparsematch._base.arrays import on_gpu
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import CertificateOps, DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.mates import copied
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockForm, block_layout
from sparsematch._types.labels import VertexCover
from sparsematch._types.matching import Matching, not_a_matching
from sparsematch._types.sparse_like import SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matrix import DistributedCSR


@documented
def is_matching(A: SparseLike | DistributedCSR, matching: Any) -> bool:
    """Tell whether mates form a matching of a matrix.

    Time: O(n_rows + n_cols + nnz).

    Parameters
    ----------
    {A_over_ranks}
    {matching}

    Returns
    -------
    bool
        False if lengths do not fit, mates are out of range, contradict each other, or are not
        entries of the matrix.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or `matching` does not hold integers.
    ValueError
        If the index arrays of `A` are inconsistent.

    See Also
    --------
    is_maximal, is_maximum, vertex_cover

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_matching
    >>> A = csr_array([[1, 1, 0], [0, 1, 1]])
    >>> is_matching(A, [1, 2]), is_matching(A, [1, 1]), is_matching(A, [2, 1])
    (True, False, False)
    """
    _, read = _reader(A, "is_matching")
    try:
        read(matching)
    except ValueError:
        return False
    return True


@documented
def is_maximal(A: SparseLike | DistributedCSR, matching: Any) -> bool:
    """Tell whether a matching is maximal: no entry can be added to it.

    Time: O(n_rows + n_cols + nnz).

    Parameters
    ----------
    {A_over_ranks}
    {matching}

    Returns
    -------
    bool
        Whether no entry has both its row and its column unmatched. The matching then has at least
        half as many pairs as a maximum one.

    {raises_of_patterns}

    See Also
    --------
    is_matching, is_maximum

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_maximal
    >>> A = csr_array([[1, 1], [1, 0]])
    >>> is_maximal(A, [0, -1]), is_maximal(A, [1, -1])
    (True, False)
    """
    graph, read = _reader(A, "is_maximal")
    return operations(CertificateOps, graph.backend).free_pair(graph, read(matching)) is None


@documented
def is_maximum(A: SparseLike | DistributedCSR, matching: Any) -> bool:
    """Tell whether a matching is maximum: no other one has more pairs.

    Nothing is matched again: one search decides. Time: O(n_rows + n_cols + nnz).

    Parameters
    ----------
    {A_over_ranks}
    {matching}

    Returns
    -------
    bool
        Whether there is no augmenting path.

    {raises_of_patterns}

    See Also
    --------
    vertex_cover : The proof that it is.
    is_maximal

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_maximum
    >>> A = csr_array([[1, 1], [1, 0]])
    >>> is_maximum(A, [0, -1]), is_maximum(A, [1, 0])
    (False, True)
    """
    graph, read = _reader(A, "is_maximum")
    return operations(CertificateOps, graph.backend).vertex_cover(graph, read(matching)) is not None


@documented
def vertex_cover(A: SparseLike | DistributedCSR, matching: Any) -> VertexCover:
    """Find rows and columns that contain every entry, as many as a maximum matching has pairs.

    No cover can be smaller than a matching, since each pair needs a row or column of its own. So a
    cover of the same size proves that the matching is maximum and the cover minimum.

    Parameters
    ----------
    {A_over_ranks}
    {matching}

    Returns
    -------
    VertexCover
        ``rows`` and ``cols``, two ascending arrays of indices, of the index type of `A`.

    {raises_of_patterns}
        Also if the matching is not maximum.

    See Also
    --------
    maximum_transversal, is_maximum

    Notes
    -----
    The cover of D. Koenig, Graphok es matrixok (Matematikai es Fizikai Lapok 38, 1931), by a search
    for alternating paths. Time: O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximum_transversal, vertex_cover
    >>> A = csr_array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    >>> rows, cols = vertex_cover(A, maximum_transversal(A))
    >>> rows.tolist(), cols.tolist()
    ([1], [1])
    """
    graph, read = _reader(A, "vertex_cover")
    given = read(matching)
    if (cover := operations(CertificateOps, graph.backend).vertex_cover(graph, given)) is None:
        why = f"there is an augmenting path, so {given.cardinality} pairs are too few"
        raise ValueError(f"matching is not maximum: {why}")
    return cover


@documented
def is_block_form(A: SparseLike, form: BlockForm) -> bool:
    """Tell whether a block form is the block triangular form of a matrix, by the form alone.

    Nothing is matched again, and none of the searches is used that find block forms.

    Parameters
    ----------
    {A}
        Not over ranks: a `DistributedBlockForm` can be gathered, and checked with the whole matrix.
    form : BlockForm
        What `block_triangular_form` returned, or `BlockForm.from_matlab` has read.

    Returns
    -------
    bool
        True if all of this holds. ``row_perm`` and ``col_perm`` are permutations, and the
        boundaries are those of blocks and parts as `BlockForm` describes them. No entry is below
        the diagonal blocks. The matching stands on the diagonals of A12, A23 and A34, all its pairs
        are entries, and it is maximum. No block can be split: those of the square part are
        irreducible, alternating paths lead from a free column to all of the horizontal part, and
        from a free row to all of the vertical part. So the parts and blocks are the only right
        ones; of their order, others may be right as well.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix or `form` not a `BlockForm`, or only one of them is on a GPU.
    ValueError
        If the index arrays of `A` are inconsistent, or `form` is of a matrix of another shape.

    See Also
    --------
    block_triangular_form
    is_maximum : Of a matching alone.

    Notes
    -----
    Koenig's theorem for the matching; Dulmage, Mendelsohn, Coverings of bipartite graphs (Canadian
    J. Math. 10, 1958), for the parts; Tarjan's algorithm (SIAM J. Comput. 1, 1972) for the blocks.
    What is on a GPU is checked in host memory. Time: O(n_rows + n_cols + nnz), by one thread.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import block_triangular_form, is_block_form
    >>> A = csr_array([[1, 1, 1], [0, 1, 0], [1, 1, 1]])
    >>> form = block_triangular_form(A)
    >>> is_block_form(A, form), is_block_form(csr_array([[1, 1, 1]] * 3), form)
    (True, False)
    """
    graph = as_bipartite(A)
    if not isinstance(form, BlockForm):
        raise wrong_type("form", form, "a BlockForm")
    if on_gpu(form.row_perm) != (graph.backend == "cupy"):
        raise TypeError("A and form must both be on a GPU, or both in host memory")
    if form.shape != graph.shape:
        text = f"form is of a matrix of shape {form.shape}, but A has shape {graph.shape}"
        raise ValueError(text)
    check = operations(DecompositionOps, graph.backend).is_block_form
    return (layout := block_layout(form)) is not None and check(graph, layout)


def _reader(A: Any, call: str) -> tuple[Any, Callable[[Any], Any]]:
    """Return the view of a matrix, or one over ranks, and what reads a matching of it."""
    if ranks := over_ranks(A, "check"):
        return A, lambda given: ranks.read_matching(A, given, "matching", call)
    graph = as_bipartite(A)
    return graph, lambda given: read_matching(graph, given, "matching")


def read_matching(graph: BipartiteCSR, given: Any, name: str) -> Matching:
    """Copy what a caller gave as a matching, once it is known to be one."""
    matching = copied(graph, given, name)
    if flaw := operations(CertificateOps, graph.backend).wrong_pair(graph, matching):
        raise not_a_matching(name, flaw)
    return matching


def matching_of(
    graph: BipartiteCSR,
    result: Any,
    name: str,
    *sides: tuple[Any, Any],
    is_maximum: bool = True,
    threads: int = 1,
    read: Callable[[BipartiteCSR, Any, str], Matching | None] = read_matching,
) -> Matching | None:
    """Return a copy of the matching of a result if it is one of this matrix, and maximum."""
    # None if it is not, or `sides` are no pairs of None or an array for all rows, and for all
    # columns. Raises ValueError if the result is of a matrix of another shape.
    if graph.shape != result.shape:
        raise ValueError(f"A has shape {graph.shape}, but {result.shape} was matched")
    arrays = [pair for side in sides for pair in zip(side, graph.shape, strict=True)]
    if not all(array is None or array.shape == (size,) for array, size in arrays):
        return None
    try:
        given = read(graph, result.matching, f"{name}.matching")
    except ValueError:
        return None
    more = (threads,) if graph.backend == "numpy" else ()
    cover = operations(CertificateOps, graph.backend).vertex_cover
    return None if is_maximum and cover(graph, given, *more) is None else given
