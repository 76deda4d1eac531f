"""Block triangular form, coarse parts, reducibility and connected components of a matrix."""

from __future__ import annotations  # readable names in help()

from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from sparsematch._api.arguments import check_flags
from sparsematch._api.ranks import over_ranks
from sparsematch._api.runs import report
from sparsematch._api.transversal import maximum_matching
from sparsematch._api.workers import one_team, resolve_workers
from sparsematch._base.arrays import advising, n_set, namespace
from sparsematch._base.docstrings import documented
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import Run, operations, plan_exact
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.block_form import BlockForm
from sparsematch._types.choices import ExactMethod, Settings
from sparsematch._types.labels import HORIZONTAL, SQUARE, VERTICAL, CoarseParts, Components
from sparsematch._types.matching import Matching
from sparsematch._types.mates import frozen
from sparsematch._types.run_info import RunInfo, StepInfo
from sparsematch._types.sparse_like import Local, SparseLike

if TYPE_CHECKING:
    from sparsematch._types.labels import BlockLabels
    from sparsematch._types.over_ranks.block_form import DistributedBlockForm
    from sparsematch._types.over_ranks.matrix import DistributedCSR, OverRanks


class _Settings(Settings, total=False):
    matching: Any
    method: ExactMethod
    options: Mapping[str, Any] | None


@overload
def block_triangular_form(
    A: Local, *, return_info: Literal[False] = ..., **settings: Unpack[_Settings]
) -> BlockForm: ...
@overload
def block_triangular_form(
    A: Local, *, return_info: Literal[True], **settings: Unpack[_Settings]
) -> tuple[BlockForm, RunInfo]: ...
@overload
def block_triangular_form(
    A: OverRanks, *, return_info: Literal[False] = ..., **settings: Unpack[_Settings]
) -> DistributedBlockForm: ...
@overload
def block_triangular_form(
    A: OverRanks, *, return_info: Literal[True], **settings: Unpack[_Settings]
) -> tuple[DistributedBlockForm, RunInfo]: ...


@documented
def block_triangular_form(
    A: SparseLike | DistributedCSR,
    *,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
    options: Mapping[str, Any] | None = None,
    return_info: bool = False,
) -> BlockForm | DistributedBlockForm | tuple[BlockForm | DistributedBlockForm, RunInfo]:
    """Permute rows and columns to block upper triangular form, as Dulmage and Mendelsohn do.

    The coarse decomposition separates where a matrix has more columns than rows can be matched with
    (horizontal part), where more rows than columns (vertical part), and the rest (square part). The
    fine one splits the square part into the smallest diagonal blocks that there can be.

    Parameters
    ----------
    {A_over_ranks}
    {initial_matching}
    {method}
    {workers}
    options : dict, optional
        Options of the engine. On a GPU, ``{"host": False}`` keeps ``"auto"``, and the rest of the
        work, from leaving deep and narrow searches to the host.
    {return_info}

    Returns
    -------
    form : BlockForm
        Permutations and boundaries of the blocks, with the layout of MATLAB's ``dmperm``, counted
        from 0; CuPy arrays if the work was done on a GPU. Over ranks a `DistributedBlockForm`:
        places and blocks of the own rows and columns.
    {info}

    {raises_of_patterns}

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
    if return_info is not False:
        check_flags(return_info=return_info)
    settings: Any = {"method": method, "workers": workers, "options": options}
    if ranks := over_ranks(A, "transversal"):
        return ranks.block_triangular_form(A, matching, return_info=return_info, **settings)
    threads = resolve_workers(workers, A)
    with one_team(threads, A):
        begin = perf_counter()
        graph = as_bipartite(A, threads=threads)
        read = perf_counter() - begin
        form, run = block_form(graph, matching, detailed=bool(return_info), **settings)
    if not return_info:
        return form
    run.steps.insert(0, StepInfo("reading", read))
    return form, report(plan_exact(graph.backend, method), run, form.matching.cardinality)


@advising
def block_form(graph: BipartiteCSR, matching: Any = None, **settings: Any) -> tuple[BlockForm, Run]:
    """Return the block form of a graph, and the run; `settings`: of `maximum_matching`."""
    # Rows and columns are sorted by their blocks, in time O(n_rows + n_cols).
    maximum, run, labels = _labelled(graph, matching, **settings)
    permute = operations(DecompositionOps, graph.backend).block_permutation
    arrays = run.timed("block permutation", permute, maximum, labels, run.workers)
    first_square, first_vertical, rank = arrays[4:]
    n_free = graph.n_cols - rank
    coarse_rows = [0, first_square, first_vertical, rank, graph.n_rows]
    coarse_cols = [0, n_free, first_square + n_free, first_vertical + n_free, graph.n_cols]
    coarse = namespace(graph.indptr).asarray(coarse_cols + coarse_rows, dtype=graph.dtype)
    return frozen(BlockForm(*arrays[:4], coarse[:5], coarse[5:], maximum)), run


def _labelled(
    graph: BipartiteCSR, matching: Any = None, **settings: Any
) -> tuple[Matching, Run, BlockLabels]:
    """Return a maximum matching, the run that found it, and the block of each row."""
    maximum, run, by_products = maximum_matching(graph, matching, name="matching", **settings)
    block_labels = operations(DecompositionOps, graph.backend).block_labels
    return maximum, run, run.timed("block labels", block_labels, graph, maximum, run, by_products)


@documented
def coarse_dulmage_mendelsohn(
    A: SparseLike | DistributedCSR,
    *,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
) -> CoarseParts:
    """Tell which part of the coarse Dulmage-Mendelsohn decomposition each row and column is in.

    The horizontal part has more columns than rows, the vertical part more rows than columns, and
    the square part can be matched perfectly. `block_triangular_form` also splits the square part,
    and permutes.

    Parameters
    ----------
    {A_over_ranks}
    {initial_matching}
    {method}
    {workers}

    Returns
    -------
    CoarseParts
        ``row_part``, ``col_part`` and ``sizes``. Of a `DistributedCSR` the parts of the own rows
        and columns, and the sizes of the whole; CuPy arrays if the work was done on a GPU.

    {raises_of_patterns}

    See Also
    --------
    block_triangular_form : The fine decomposition too, with permutations.

    Notes
    -----
    Dulmage, Mendelsohn, Coverings of bipartite graphs (Canadian J. Math. 10, 1958). The parts do
    not depend on the matching. Time: that of `maximum_transversal`, and O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import coarse_dulmage_mendelsohn
    >>> A = csr_array([[0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [0, 1, 1, 0]])
    >>> parts = coarse_dulmage_mendelsohn(A)
    >>> parts.row_part.tolist(), parts.col_part.tolist()
    ([2, 0, 2, 1], [0, 2, 1, 0])
    >>> parts.sizes
    ((1, 2), (1, 1), (2, 1))
    """
    if ranks := over_ranks(A, "transversal"):
        return ranks.coarse_dulmage_mendelsohn(A, matching, method=method, workers=workers)
    threads = resolve_workers(workers, A)
    with one_team(threads, A):
        graph = as_bipartite(A, threads=threads)
        maximum, _, labels = _labelled(graph, matching, method=method, workers=workers)
    xp = namespace(graph.indptr)
    row_part = xp.full(graph.n_rows, SQUARE, "int8")
    row_part[labels.row_group == 0] = HORIZONTAL
    row_part[labels.row_group > labels.n_square] = VERTICAL
    col_part = xp.full(graph.n_cols, HORIZONTAL, "int8")
    matched = maximum.col_mate >= 0
    col_part[matched] = row_part[maximum.col_mate[matched]]
    parts = HORIZONTAL, SQUARE, VERTICAL
    sizes = tuple((n_set(row_part == k), n_set(col_part == k)) for k in parts)
    return CoarseParts(row_part, col_part, sizes)


@documented
def is_reducible(A: SparseLike | DistributedCSR, *, workers: int | None = None) -> bool:
    """Tell whether the block triangular form of a matrix has more than one block.

    Time: that of `maximum_transversal`, and O(n_rows + n_cols + nnz).

    Parameters
    ----------
    {A_over_ranks}
    {workers}

    Returns
    -------
    bool
        Whether rows and columns, each permuted by themselves, have a block triangular form.

    {raises_of_patterns}

    See Also
    --------
    block_triangular_form

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_reducible
    >>> is_reducible(csr_array([[1, 1], [0, 1]])), is_reducible(csr_array([[1, 1], [1, 1]]))
    (True, False)
    """
    if ranks := over_ranks(A, "transversal"):
        return ranks.block_triangular_form(A, workers=workers, call="is_reducible").is_reducible
    threads = resolve_workers(workers, A)
    with one_team(threads, A):
        graph = as_bipartite(A, threads=threads)
        matching, _, labels = _labelled(graph, workers=workers)
    rank = matching.cardinality
    return (rank < graph.n_cols) + labels.n_square + (rank < graph.n_rows) > 1


@documented
def connected_components(A: SparseLike) -> Components:
    """Find the connected components of a matrix.

    They are the finest block diagonal form under permutations of rows and columns.

    Parameters
    ----------
    {A}

    Returns
    -------
    Components
        ``n_components``, ``row_labels`` and ``col_labels``, of the index type of `A`; it unpacks in
        that order. An empty row or column is a component by itself.

    {raises_of_patterns}

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
    graph = as_bipartite(A)
    return operations(DecompositionOps, graph.backend).connected_components(graph)
