"""Block triangular form, reducibility and connected components of a matrix."""

from __future__ import annotations  # readable names in help()

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from sparsematch._api.ranks import over_ranks
from sparsematch._api.transversal import maximum_matching
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import advising, namespace
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockForm
from sparsematch._types.choices import ExactMethod, ExplicitZeros
from sparsematch._types.labels import BlockLabels, Components
from sparsematch._types.matching import Matching
from sparsematch._types.sparse_like import Local, SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.block_form import DistributedBlockForm
    from sparsematch._types.over_ranks.matrix import DistributedCSR, OverRanks


class _Settings(TypedDict, total=False):
    """The arguments of `block_triangular_form`."""

    matching: Any
    method: ExactMethod
    workers: int | None
    device: str | None
    options: Mapping[str, Any] | None
    explicit_zeros: ExplicitZeros


@overload
def block_triangular_form(A: Local, **settings: Unpack[_Settings]) -> BlockForm: ...
@overload
def block_triangular_form(A: OverRanks, **settings: Unpack[_Settings]) -> DistributedBlockForm: ...


def block_triangular_form(
    A: SparseLike | DistributedCSR,
    *,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
    device: str | None = None,
    options: Mapping[str, Any] | None = None,
    explicit_zeros: ExplicitZeros = "keep",
) -> BlockForm | DistributedBlockForm:
    """Permute rows and columns to block upper triangular form.

    This is the Dulmage-Mendelsohn decomposition, coarse and fine.

    The coarse decomposition separates where a matrix has more columns than rows can be matched with
    (horizontal part), where more rows than columns (vertical part), and the rest (square part). The
    fine one splits the square part into the smallest diagonal blocks that there can be. A linear
    system then decomposes into a sequence of smaller ones.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Square or not, structurally singular or not. Every stored entry counts, whatever its value:
        see `explicit_zeros`. A `DistributedCSR` is processed by all its ranks, each of which calls
        this.
    matching : Matching, (row_mate, col_mate) or row_mate, optional
        A matching of `A` to start from. One that is maximum already is kept.
    method : str, optional
        The engine that finds the matching: ``"auto"``, or a name from ``engines("exact")``.
    workers : int, optional
        Number of threads, -1 for all cores. By default that of `set_workers`, which is 1.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy a matrix in host memory to the current GPU, `matching` with it, and work
        there. By default the work is done where the matrix is.
    options : dict, optional
        Options of the engine. On a GPU, ``{"host": False}`` keeps ``"auto"``, and the rest of the
        work, from leaving deep and narrow searches to the host.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    BlockForm
        Permutations and boundaries of the blocks, with the layout of MATLAB's ``dmperm``, counted
        from 0; CuPy arrays if the work was done on a GPU. Over ranks a `DistributedBlockForm`:
        places and blocks of the own rows and columns.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, an argument is of the wrong type, or only one of `A` and
        `matching` is on a GPU.
    ValueError
        If the index arrays of `A` are inconsistent, `matching` is not a matching of `A`, or a name
        or number is none of the choices.

    See Also
    --------
    is_reducible : Only whether there is more than one block.
    connected_components : Blocks with no entries between them at all.

    Notes
    -----
    Pothen, Fan, Computing the block triangular form of a sparse matrix (ACM TOMS 16, 1990). Which
    rows and columns belong to each part and block does not depend on the matching, but the order
    may. Time: that of `maximum_transversal`, and O(n_rows + n_cols + nnz) for the rest; over ranks
    that of O(log n) passes over the entries, expected.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import block_triangular_form
    >>> A = csr_array([[0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [0, 1, 1, 0]])
    >>> form = block_triangular_form(A)
    >>> form.permute(A).toarray()
    array([[1, 1, 1, 0],
           [0, 0, 1, 1],
           [0, 0, 0, 1],
           [0, 0, 0, 1]])
    >>> sorted(form.horizontal.cols.tolist()), sorted(form.vertical.rows.tolist())
    ([0, 3], [0, 2])
    """
    if ranks := over_ranks(A, "decomposition"):
        A = ranks.entries_of(A, explicit_zeros)
        return ranks.block_triangular_form(
            A, matching, method=method, workers=workers, device=device, options=options
        )
    threads = resolve_workers(workers)
    graph = as_bipartite(A, device=device, threads=threads, explicit_zeros=explicit_zeros)
    return block_form(
        graph, matching, method=method, workers=workers, device=device, options=options
    )


def block_form(
    graph: BipartiteCSR,
    matching: Any = None,
    *,
    method: ExactMethod = "auto",
    workers: int | None = None,
    device: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> BlockForm:
    """Return the block triangular form of a graph."""
    maximum, run, by_products = maximum_matching(
        graph,
        matching,
        name="matching",
        method=method,
        workers=workers,
        device=device,
        options=options,
    )
    block_labels = operations(DecompositionOps, graph.backend).block_labels
    labels = block_labels(graph, maximum, run, by_products)
    del by_products
    return _assemble(graph, maximum, labels, run.workers)


def is_reducible(
    A: SparseLike | DistributedCSR,
    *,
    workers: int | None = None,
    device: str | None = None,
    explicit_zeros: ExplicitZeros = "keep",
) -> bool:
    """Tell whether the block triangular form of a matrix has more than one block.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Every stored entry counts, whatever its value: see `explicit_zeros`.
    workers : int, optional
        Number of threads, -1 for all cores. By default that of `set_workers`, which is 1.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy a matrix in host memory to the current GPU, and work there. By default the
        work is done where the matrix is.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    bool
        Whether rows and columns can be permuted to a block triangular form.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or `workers` is not an integer.
    ValueError
        If the index arrays of `A` are inconsistent, or `workers` is out of range.

    See Also
    --------
    block_triangular_form

    Notes
    -----
    Rows and columns are permuted independently of each other. Time: that of `maximum_transversal`,
    and O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_reducible
    >>> is_reducible(csr_array([[1, 1], [0, 1]])), is_reducible(csr_array([[1, 1], [1, 1]]))
    (True, False)
    """
    if ranks := over_ranks(A, "decomposition"):
        how: Any = {"workers": workers, "device": device, "call": "is_reducible"}
        return ranks.block_triangular_form(ranks.entries_of(A, explicit_zeros), **how).is_reducible
    threads = resolve_workers(workers)
    graph = as_bipartite(A, device=device, threads=threads, explicit_zeros=explicit_zeros)
    matching, run, by_products = maximum_matching(graph, workers=workers)
    rank = matching.cardinality
    block_labels = operations(DecompositionOps, graph.backend).block_labels
    n_square = block_labels(graph, matching, run, by_products).n_square
    return (rank < graph.n_cols) + n_square + (rank < graph.n_rows) > 1


def connected_components(
    A: SparseLike, *, device: str | None = None, explicit_zeros: ExplicitZeros = "keep"
) -> Components:
    """Find the connected components of a matrix.

    They are the finest block diagonal form under permutations of rows and columns.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Every stored entry counts, whatever its value: see `explicit_zeros`.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy a matrix in host memory to the current GPU, and work there. By default the
        work is done where the matrix is.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    Components
        ``n_components``, ``row_labels`` and ``col_labels``, of the index type of `A`; it unpacks in
        that order. An empty row or column is a component by itself.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix.
    ValueError
        If its index arrays are inconsistent.

    See Also
    --------
    block_triangular_form : Splits further, into blocks with entries above the diagonal only.

    Notes
    -----
    These are components of the bipartite graph of rows and columns, so the matrix need not be
    square. Those of SciPy's function of the same name belong to the graph whose adjacency matrix is
    given. Time: nearly O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import connected_components
    >>> n, rows, cols = connected_components(csr_array([[1, 0, 1], [0, 1, 0], [1, 0, 0]]))
    >>> n, rows.tolist(), cols.tolist()
    (2, [0, 1, 0], [0, 1, 0])
    """
    graph = as_bipartite(A, device=device, explicit_zeros=explicit_zeros)
    return operations(DecompositionOps, graph.backend).connected_components(graph)


@advising
def _assemble(
    graph: BipartiteCSR, matching: Matching, labels: BlockLabels, threads: int
) -> BlockForm:
    """Sort rows and columns by group, and say where the blocks begin. Time: O(n_rows + n_cols)."""
    dtype, (n_rows, n_cols) = graph.dtype, graph.shape
    row_perm, col_perm, row_blocks, col_blocks, first_square, first_vertical, rank = operations(
        DecompositionOps, graph.backend
    ).block_permutation(matching, labels, threads)
    n_free = n_cols - rank
    coarse_rows = [0, first_square, first_vertical, rank, n_rows]
    coarse_cols = [0, n_free, first_square + n_free, first_vertical + n_free, n_cols]
    coarse = namespace(graph.indptr).asarray([coarse_cols, coarse_rows], dtype=dtype)

    arrays = row_perm, col_perm, row_blocks, col_blocks, coarse[0], coarse[1]
    if graph.backend == "numpy":  # CuPy knows no read-only arrays
        for array in arrays:
            array.flags.writeable = False
    return BlockForm(*arrays, matching)
