"""Maximum transversals, and what follows from the number of their pairs."""

from __future__ import annotations  # readable names in help()

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np

from sparsematch._api.arguments import Rng, check_flags, read_seed
from sparsematch._api.check import read_matching
from sparsematch._api.ranks import over_ranks
from sparsematch._api.runs import improve, report
from sparsematch._api.workers import one_team, resolve_workers
from sparsematch._base.docstrings import documented
from sparsematch._engines import registry
from sparsematch._engines.operations import MatchingOps
from sparsematch._engines.registry import ByProducts, Run, operations, plan, plan_exact
from sparsematch._input.bipartite import as_bipartite, fields_of_view
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import ExactMethod, Heuristic, Settings
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import RunInfo
from sparsematch._types.sparse_like import Local, SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matching import DistributedMatching
    from sparsematch._types.over_ranks.matrix import DistributedCSR, OverRanks


class _Settings(Settings, total=False):
    method: ExactMethod | Literal["none"]
    init: Heuristic
    initial: Any
    rng: Rng
    options: Mapping[str, Any] | None


@overload
def maximum_transversal(
    A: Local, *, return_info: Literal[False] = ..., **settings: Unpack[_Settings]
) -> Matching: ...
@overload
def maximum_transversal(
    A: Local, *, return_info: Literal[True], **settings: Unpack[_Settings]
) -> tuple[Matching, RunInfo]: ...
@overload
def maximum_transversal(
    A: OverRanks, *, return_info: Literal[False] = ..., **settings: Unpack[_Settings]
) -> DistributedMatching: ...
@overload
def maximum_transversal(
    A: OverRanks, *, return_info: Literal[True], **settings: Unpack[_Settings]
) -> tuple[DistributedMatching, RunInfo]: ...


@documented
def maximum_transversal(
    A: SparseLike | DistributedCSR,
    *,
    method: ExactMethod | Literal["none"] = "auto",
    init: Heuristic = "auto",
    initial: Any = None,
    workers: int | None = None,
    rng: Rng = None,
    options: Mapping[str, Any] | None = None,
    return_info: bool = False,
) -> Matching | DistributedMatching | tuple[Matching | DistributedMatching, RunInfo]:
    """Find a maximum transversal: as many entries as possible, no two in the same row or column.

    In other words a maximum matching of the rows and columns of a sparse matrix.

    Parameters
    ----------
    {A_over_ranks}
        CSR and CSC are read in place, COO is converted, other formats are converted with a warning.
        A matrix of ``cupyx.scipy.sparse`` is processed on its GPU.
    method : str, optional
        The exact engine: ``"auto"``, or a name from ``engines("exact")``. ``"none"`` leaves out the
        exact algorithm; the result is then what `init` makes of `initial`, and only maximal. A GPU
        has engines of its own: ``engines("exact", backend="cupy")``.
    init : str, optional
        The heuristic that goes first: a name from ``engines("heuristic")``, ``"none"``, or
        ``"auto"``, which is what suits the exact engine.
    initial : Matching, (row_mate, col_mate) or row_mate, optional
        A matching of `A` to start from, such as that of an earlier version of the matrix or the
        result of SciPy's ``maximum_bipartite_matching(A, perm_type="column")``. It is copied.
    {workers}
        With one thread the result is always the same; with more only its cardinality is. On a GPU
        this is ignored: all of it is used.
    rng : int or numpy.random.Generator, optional
        Seeds the choices of an initialisation with the option ``random``. By default a fixed seed.
    options : dict, optional
        Options of the engines named by `init` and `method`; ``engines()`` lists them with their
        defaults.
    return_info : bool, optional
        Whether to return how the matching was found, with time per step and width per level.

    Returns
    -------
    matching : Matching
        With ``row_mate`` and ``col_mate`` of the index type of `A`, int32 or int64; -1 means
        unmatched. CuPy arrays on the same GPU if that is where the work was done. Over ranks a
        `DistributedMatching`.
    {info}

    {raises_of_patterns}
    MemoryError
        If the memory, of the host or of the GPU, does not suffice. `A` is as it was.

    See Also
    --------
    structural_rank : Only the number of pairs.
    vertex_cover : The proof that there are no more.
    block_triangular_form : What the matching says about the structure of the matrix.
    sparsematch.csgraph.maximum_bipartite_matching : The same with SciPy's signature.

    Notes
    -----
    Duff, Kaya, Ucar, Design, implementation, and analysis of maximum transversal algorithms (ACM
    TOMS 38, 2011), compares most of the engines. In the worst case time is O(sqrt(n) nnz) for
    ``"hopcroft_karp"`` and O(n nnz) for the others; on most matrices it is a few passes over the
    entries. Ctrl-C stops a run.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximum_transversal
    >>> A = csr_array([[1, 0, 1], [1, 0, 0], [0, 1, 1]])
    >>> matching = maximum_transversal(A)
    >>> matching.row_mate.tolist()
    [2, 0, 1]
    >>> A[matching.as_permutation()].diagonal().tolist()
    [1, 1, 1]
    """
    check_flags(return_info=return_info)
    if ranks := over_ranks(A, "transversal"):
        same = {"method": method, "init": init, "return_info": return_info}
        return ranks.maximum_transversal(A, same, initial, workers, rng, options)
    found, given = None, not (initial is None and options is None and rng is None)
    if not (given or return_info) and isinstance(init, str) and init == "auto":
        found, matching = _match_small(A, method, workers)
        if found and found[1]:
            return matching.freeze()
    threads = resolve_workers(workers, A)
    with one_team(threads, A):
        graph = as_bipartite(A, threads=threads)
        chosen = plan(graph.backend, method, init)
        settings = registry.read_options(options, *chosen)
        how: Any = {"warm": initial is not None, "handed_over": found is not None}
        run = Run(threads, read_seed(rng), settings, bool(return_info), **how)
        matching = _start(graph, initial, "initial")
        improve(graph, matching, chosen, run)
    return (matching, report(chosen, run, matching.cardinality)) if return_info else matching


@documented
def structural_rank(
    A: SparseLike | DistributedCSR, *, method: ExactMethod = "auto", workers: int | None = None
) -> int:
    """Count the pairs of a maximum transversal.

    It is the largest rank that a matrix with this pattern can have. Time: that of
    `maximum_transversal`.

    Parameters
    ----------
    {A_over_ranks}
    {method}
    {workers}

    Returns
    -------
    int
        At most ``min(A.shape)``.

    {raises_of_patterns}

    See Also
    --------
    maximum_transversal, is_structurally_singular

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import structural_rank
    >>> structural_rank(csr_array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]))
    2
    """
    return _rank(A, "structural_rank", method, workers)[0]


@documented
def is_structurally_singular(A: SparseLike | DistributedCSR, *, workers: int | None = None) -> bool:
    """Tell whether a matrix is rank deficient whatever the values of its entries.

    Time: that of `maximum_transversal`.

    Parameters
    ----------
    {A_over_ranks}
    {workers}

    Returns
    -------
    bool
        Whether the structural rank is smaller than ``min(A.shape)``.

    {raises_of_patterns}

    See Also
    --------
    structural_rank
    block_triangular_form :
        Its horizontal and vertical parts are where a singular matrix has too many columns or rows.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_structurally_singular
    >>> is_structurally_singular(csr_array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]))
    True
    """
    rank, shape = _rank(A, "is_structurally_singular", "auto", workers)
    return rank < min(shape)


def _rank(A: Any, call: str, method: str, workers: int | None) -> tuple[int, tuple[int, int]]:
    """Return structural rank and shape of a matrix, which may be over ranks, for a call."""
    if ranks := over_ranks(A, "transversal"):
        found = ranks.maximum_matching(A, call, method=method, workers=workers)[0]
        return found.cardinality, A.shape
    found, _ = _match_small(A, method, workers)
    if found and found[1]:
        return found[0], A.shape
    settings: Any = {"method": method, "workers": workers, "handed_over": found is not None}
    threads = resolve_workers(workers, A)
    with one_team(threads, A):
        graph = as_bipartite(A, threads=threads)
        return maximum_matching(graph, **settings)[0].cardinality, graph.shape


def _match_small(A: Any, method: str, workers: int | None) -> tuple[Any, Any]:
    """Return what one call of the core finds, which reads, checks and matches a small matrix."""
    # None: it is of another library, an account is kept, or the general way says what is wrong.
    fields = fields_of_view(A)
    if not (fields and isinstance(method, str) and method == "auto") or registry.steps_are_logged():
        return None, None
    resolve_workers(workers)
    n_rows, n_cols, indptr = fields[:3]
    mates = np.empty(n_rows + n_cols, indptr.dtype)
    matching = Matching(mates[:n_rows], mates[n_rows:])
    return operations(MatchingOps, "numpy").match_small(fields, matching), matching


def maximum_matching(
    graph: BipartiteCSR,
    initial: Any = None,
    *,
    name: str = "initial",
    method: str = "auto",
    workers: int | None = None,
    options: Mapping[str, Any] | None = None,
    handed_over: bool = False,
    detailed: bool = False,
) -> tuple[Matching, Run, ByProducts | None]:
    """Find a maximum matching by exact engines only; also return the run and its by-products."""
    chosen = plan_exact(graph.backend, method)
    settings = registry.read_options(options, *chosen)
    run = Run(resolve_workers(workers, graph.indptr), 0, settings, detailed, for_blocks=True)
    run.warm, run.handed_over = initial is not None, handed_over
    matching = _start(graph, initial, name)
    return matching, run, run.timed("choosing", improve, graph, matching, chosen, run)


def _start(graph: BipartiteCSR, initial: Any, name: str) -> Matching:
    """Return the empty matching, or a copy of a given one."""
    return Matching.start(graph) if initial is None else read_matching(graph, initial, name)
