"""The coarse Dulmage-Mendelsohn parts alone."""

from __future__ import annotations  # readable names in help()

from typing import TYPE_CHECKING, Any

from sparsematch._api.ranks import over_ranks
from sparsematch._api.transversal import maximum_matching
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import namespace
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import ExactMethod, ExplicitZeros
from sparsematch._types.labels import HORIZONTAL, SQUARE, VERTICAL, BlockLabels, CoarseParts
from sparsematch._types.matching import Matching
from sparsematch._types.sparse_like import SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matrix import DistributedCSR


def coarse_dulmage_mendelsohn(
    A: SparseLike | DistributedCSR,
    *,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
    device: str | None = None,
    explicit_zeros: ExplicitZeros = "keep",
) -> CoarseParts:
    """Tell which part of the coarse Dulmage-Mendelsohn decomposition each row and column is in.

    The horizontal part has more columns than rows, the vertical part more rows than columns, and
    the square part can be matched perfectly. `block_triangular_form` also splits the square part,
    and permutes.

    Parameters
    ----------
    A : DistributedCSR, or sparse array or matrix, shape (n_rows, n_cols)
        Every stored entry counts, whatever its value: see `explicit_zeros`.
    matching : Matching, (row_mate, col_mate) or row_mate, optional
        A matching of `A` to start from. One that is maximum already is kept.
    method : str, optional
        The engine that finds the matching: ``"auto"``, or a name from ``engines("exact")``.
    workers : int, optional
        Number of threads, -1 for all cores. By default that of `set_workers`, which is 1.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy a matrix in host memory to the current GPU, and work there.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    CoarseParts
        ``row_part``, ``col_part`` and ``sizes``. Of a `DistributedCSR` the parts of the own rows
        and columns, and the sizes of the whole; CuPy arrays if the work was done on a GPU.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or an argument is of the wrong type.
    ValueError
        If the index arrays of `A` are inconsistent, `matching` is not a matching of `A`, or a name
        or number is none of the choices.

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
    if ranks := over_ranks(A, "decomposition"):
        A = ranks.entries_of(A, explicit_zeros)
        return ranks.coarse_dulmage_mendelsohn(
            A, matching, method=method, workers=workers, device=device
        )
    threads = resolve_workers(workers)
    graph = as_bipartite(A, device=device, threads=threads, explicit_zeros=explicit_zeros)
    return coarse_parts(graph, matching, method=method, workers=workers, device=device)


def coarse_parts(graph: BipartiteCSR, matching: Any = None, **settings: Any) -> CoarseParts:
    """Return the parts of a graph; `settings` are those of `maximum_matching`."""
    maximum, run, by_products = maximum_matching(graph, matching, name="matching", **settings)
    block_labels = operations(DecompositionOps, graph.backend).block_labels
    return _from_blocks(graph, maximum, block_labels(graph, maximum, run, by_products))


def _from_blocks(graph: BipartiteCSR, matching: Matching, labels: BlockLabels) -> CoarseParts:
    """Read the parts off the groups of the rows."""
    xp = namespace(graph.indptr)
    row_part = xp.full(graph.n_rows, SQUARE, "int8")
    row_part[labels.row_group == 0] = HORIZONTAL
    row_part[labels.row_group > labels.n_square] = VERTICAL
    col_part = xp.full(graph.n_cols, HORIZONTAL, "int8")
    matched = matching.col_mate >= 0
    col_part[matched] = row_part[matching.col_mate[matched]]
    sizes = tuple(
        (int((row_part == part).sum()), int((col_part == part).sum()))
        for part in (HORIZONTAL, SQUARE, VERTICAL)
    )
    return CoarseParts(row_part, col_part, sizes)
