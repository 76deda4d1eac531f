"""Is this a matching, is it maximal, is it maximum, and how can one see it."""

from __future__ import annotations  # readable names in help()

from typing import TYPE_CHECKING, Any

from sparsematch._api.ranks import over_ranks
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.mates import copied
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import ExplicitZeros
from sparsematch._types.labels import VertexCover
from sparsematch._types.matching import Matching, not_a_matching, not_maximum
from sparsematch._types.sparse_like import SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matrix import DistributedCSR


def is_matching(
    A: SparseLike | DistributedCSR, matching: Any, *, explicit_zeros: ExplicitZeros = "keep"
) -> bool:
    """Tell whether mates form a matching of a matrix.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        The matrix; only its pattern is read.
    matching : Matching, (row_mate, col_mate) or row_mate
        The mates of all rows and columns, or of the rows only; -1 means unmatched.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

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

    Notes
    -----
    Time: O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_matching
    >>> A = csr_array([[1, 1, 0], [0, 1, 1]])
    >>> is_matching(A, [1, 2]), is_matching(A, [1, 1]), is_matching(A, [2, 1])
    (True, False, False)
    """
    if ranks := over_ranks(A, "check"):
        return ranks.is_matching(ranks.entries_of(A, explicit_zeros), matching)
    graph = as_bipartite(A, explicit_zeros=explicit_zeros)
    try:
        read_matching(graph, matching, "matching")
    except ValueError:
        return False
    return True


def is_maximal(
    A: SparseLike | DistributedCSR, matching: Any, *, explicit_zeros: ExplicitZeros = "keep"
) -> bool:
    """Tell whether a matching is maximal: no entry can be added to it.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        The matrix; only its pattern is read.
    matching : Matching, (row_mate, col_mate) or row_mate
        A matching of `A`.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    bool
        Whether no entry has both its row and its column unmatched. The matching then has at least
        half as many pairs as a maximum one.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or `matching` does not hold integers.
    ValueError
        If `matching` is not a matching of `A`, naming the first wrong pair.

    See Also
    --------
    is_matching, is_maximum

    Notes
    -----
    Time: O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_maximal
    >>> A = csr_array([[1, 1], [1, 0]])
    >>> is_maximal(A, [0, -1]), is_maximal(A, [1, -1])
    (True, False)
    """
    if ranks := over_ranks(A, "check"):
        return ranks.is_maximal(ranks.entries_of(A, explicit_zeros), matching)
    graph = as_bipartite(A, explicit_zeros=explicit_zeros)
    given = read_matching(graph, matching, "matching")
    return operations(CertificateOps, graph.backend).free_pair(graph, given) is None


def is_maximum(
    A: SparseLike | DistributedCSR, matching: Any, *, explicit_zeros: ExplicitZeros = "keep"
) -> bool:
    """Tell whether a matching is maximum: no other one has more pairs.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        The matrix; only its pattern is read.
    matching : Matching, (row_mate, col_mate) or row_mate
        A matching of `A`.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    bool
        Whether there is no augmenting path.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or `matching` does not hold integers.
    ValueError
        If `matching` is not a matching of `A`, naming the first wrong pair.

    See Also
    --------
    vertex_cover : The proof that it is.
    is_maximal

    Notes
    -----
    Nothing is matched again: one search decides. Time: O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_maximum
    >>> A = csr_array([[1, 1], [1, 0]])
    >>> is_maximum(A, [0, -1]), is_maximum(A, [1, 0])
    (False, True)
    """
    if ranks := over_ranks(A, "check"):
        return ranks.is_maximum(ranks.entries_of(A, explicit_zeros), matching)
    graph = as_bipartite(A, explicit_zeros=explicit_zeros)
    given = read_matching(graph, matching, "matching")
    return operations(CertificateOps, graph.backend).vertex_cover(graph, given) is not None


def vertex_cover(
    A: SparseLike | DistributedCSR, matching: Any, *, explicit_zeros: ExplicitZeros = "keep"
) -> VertexCover:
    """Find rows and columns that contain every entry, as many as a maximum matching has pairs.

    No cover can be smaller than a matching, since each pair needs a row or column of its own. So a
    cover of the same size proves that the matching is maximum and the cover minimum, and anyone can
    check it without knowing how either was found.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        The matrix; only its pattern is read.
    matching : Matching, (row_mate, col_mate) or row_mate
        A maximum matching of `A`.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    VertexCover
        ``rows`` and ``cols``, two ascending arrays of indices, of the index type of `A`.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or `matching` does not hold integers.
    ValueError
        If `matching` is not a matching of `A`, naming the first wrong pair; or if it is not
        maximum.

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
    if ranks := over_ranks(A, "check"):
        return ranks.vertex_cover(ranks.entries_of(A, explicit_zeros), matching)
    graph = as_bipartite(A, explicit_zeros=explicit_zeros)
    given = read_matching(graph, matching, "matching")
    cover = operations(CertificateOps, graph.backend).vertex_cover(graph, given)
    if cover is None:
        raise not_maximum(given.cardinality)
    return cover


def read_matching(graph: BipartiteCSR, given: Any, name: str) -> Matching:
    """Copy what a caller gave as a matching, once it is known to be one."""
    matching = copied(graph, given, name)
    if flaw := operations(CertificateOps, graph.backend).wrong_pair(graph, matching):
        raise not_a_matching(name, flaw)
    return matching


def fit_shape(shape: tuple[int, int], *pairs: tuple[Any, Any]) -> bool:
    """Tell whether each pair has an array for the rows and one for the columns; None fits too."""
    return all(
        array is None or array.shape == (size,)
        for pair in pairs
        for array, size in zip(pair, shape, strict=True)
    )
