"""Maximum transversals, and what follows from the number of their pairs."""

from __future__ import annotations  # readable names in help()

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from sparsematch._api.arguments import Rng, read_seed
from sparsematch._api.check import read_matching
from sparsematch._api.ranks import over_ranks
from sparsematch._api.runs import improve, report
from sparsematch._api.workers import resolve_workers
from sparsematch._engines.registry import ByProducts, Run, plan, plan_exact, read_options
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.mates import copy_to_gpu
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import ExactMethod, ExplicitZeros, Heuristic
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import RunInfo
from sparsematch._types.sparse_like import Local, SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matching import DistributedMatching
    from sparsematch._types.over_ranks.matrix import DistributedCSR, OverRanks


class _Settings(TypedDict, total=False):
    """The arguments of `maximum_transversal` that do not determine what it returns."""

    method: ExactMethod | Literal["none"]
    init: Heuristic
    initial: Any
    workers: int | None
    device: str | None
    rng: Rng
    options: Mapping[str, Any] | None
    explicit_zeros: ExplicitZeros


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


def maximum_transversal(
    A: SparseLike | DistributedCSR,
    *,
    method: ExactMethod | Literal["none"] = "auto",
    init: Heuristic = "auto",
    initial: Any = None,
    workers: int | None = None,
    device: str | None = None,
    rng: Rng = None,
    options: Mapping[str, Any] | None = None,
    return_info: bool = False,
    explicit_zeros: ExplicitZeros = "keep",
) -> Matching | DistributedMatching | tuple[Matching | DistributedMatching, RunInfo]:
    """Find a maximum transversal: as many entries as possible, no two in the same row or column.

    In other words a maximum matching of the rows and columns of a sparse matrix. Values are
    ignored: every stored entry counts, duplicates too, and explicit zeros unless they are to be
    dropped. The matrix is not modified.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        CSR and CSC are read in place, COO is converted, other formats are converted with a warning.
        A matrix of ``cupyx.scipy.sparse`` is processed on its GPU; results are CuPy arrays. A
        `DistributedCSR` is processed by all its ranks, each of which calls this; the result is a
        `DistributedMatching`.
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
    workers : int, optional
        Number of threads, -1 for all cores. By default that of `set_workers`, which is 1. With one
        thread the result is always the same; with more only its cardinality is. On a GPU this is
        ignored: all of it is used.
    device : {None, "cuda"}, optional
        ``"cuda"``: copy a matrix in host memory to the current GPU, `initial` with it, and work
        there. By default the work is done where the matrix is.
    rng : int or numpy.random.Generator, optional
        Seeds the choices of an initialisation with the option ``random``. By default a fixed seed.
    options : dict, optional
        Options of the engines named by `init` and `method`; ``engines()`` lists them with their
        defaults.
    return_info : bool, optional
        Whether to return how the matching was found, with time per step and width per level.
    explicit_zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy; a pattern without values is then a ValueError. By
        default every stored entry counts.

    Returns
    -------
    matching : Matching
        With ``row_mate`` and ``col_mate`` of the index type of `A`, int32 or int64; -1 means
        unmatched. CuPy arrays on the same GPU if that is where the work was done.
    info : RunInfo
        Only if `return_info` is set.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, an argument is of the wrong type, or only one of `A` and
        `initial` is on a GPU.
    ValueError
        If the index arrays of `A` are inconsistent, `initial` is not a matching of `A`, or a name
        or number is none of the choices.
    ImportError, RuntimeError
        If `device` asks for a GPU, and CuPy, the driver or the GPU is missing.
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

    The steps of a run:

    >>> _, info = maximum_transversal(A, method="hopcroft_karp", init="cheap", return_info=True)
    >>> [step.engine for step in info.steps]
    ['cheap', 'hopcroft_karp']
    """
    if ranks := over_ranks(A, "transversal"):
        return ranks.maximum_transversal(
            ranks.entries_of(A, explicit_zeros),
            method=method,
            init=init,
            initial=initial,
            workers=workers,
            device=device,
            rng=rng,
            options=options,
            return_info=return_info,
        )
    threads = resolve_workers(workers)
    graph = as_bipartite(A, device=device, threads=threads, explicit_zeros=explicit_zeros)
    chosen = plan(graph.backend, method, init)
    settings, warm = read_options(options, *chosen), initial is not None
    run = Run(threads, read_seed(rng), settings, return_info, warm=warm)
    matching = _start(graph, initial, "initial", device)
    improve(graph, matching, chosen, run)
    return (matching, report(chosen, run, matching.cardinality)) if return_info else matching


def structural_rank(
    A: SparseLike | DistributedCSR,
    *,
    method: ExactMethod = "auto",
    workers: int | None = None,
    device: str | None = None,
    explicit_zeros: ExplicitZeros = "keep",
) -> int:
    """Count the pairs of a maximum transversal.

    It is the largest rank that a matrix with this pattern can have.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Every stored entry counts, whatever its value: see `explicit_zeros`.
    method : str, optional
        ``"auto"``, or a name from ``engines("exact")``.
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
    int
        At most ``min(A.shape)``.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or an argument is of the wrong type.
    ValueError
        If the index arrays of `A` are inconsistent, or a name or number is none of the choices.

    See Also
    --------
    maximum_transversal, is_structurally_singular

    Notes
    -----
    Time: that of `maximum_transversal`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import structural_rank
    >>> structural_rank(csr_array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]))
    2

    A stored zero is an entry, until it is dropped:

    >>> A = csr_array(([5.0, 0.0], ([0, 1], [0, 1])))
    >>> structural_rank(A), structural_rank(A, explicit_zeros="drop")
    (2, 1)
    """
    if ranks := over_ranks(A, "transversal"):
        A = ranks.entries_of(A, explicit_zeros)
        return ranks.structural_rank(A, method=method, workers=workers, device=device)
    threads = resolve_workers(workers)
    graph = as_bipartite(A, device=device, threads=threads, explicit_zeros=explicit_zeros)
    return maximum_matching(graph, method=method, workers=workers)[0].cardinality


def is_structurally_singular(
    A: SparseLike | DistributedCSR,
    *,
    workers: int | None = None,
    device: str | None = None,
    explicit_zeros: ExplicitZeros = "keep",
) -> bool:
    """Tell whether a matrix is rank deficient whatever the values of its entries.

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
        Whether the structural rank is smaller than ``min(A.shape)``.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or `workers` is not an integer.
    ValueError
        If the index arrays of `A` are inconsistent, or `workers` is out of range.

    See Also
    --------
    structural_rank
    block_triangular_form :
        Its horizontal and vertical parts are where a singular matrix has too many columns or rows.

    Notes
    -----
    Time: that of `maximum_transversal`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_structurally_singular
    >>> is_structurally_singular(csr_array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]))
    True
    """
    if ranks := over_ranks(A, "transversal"):
        how: Any = {"workers": workers, "device": device, "call": "is_structurally_singular"}
        given = ranks.entries_of(A, explicit_zeros)
        return bool(ranks.structural_rank(given, **how) < min(given.shape))
    threads = resolve_workers(workers)
    graph = as_bipartite(A, device=device, threads=threads, explicit_zeros=explicit_zeros)
    return maximum_matching(graph, workers=workers)[0].cardinality < min(graph.shape)


def maximum_matching(
    graph: BipartiteCSR,
    initial: Any = None,
    *,
    name: str = "initial",
    method: str = "auto",
    workers: int | None = None,
    device: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Matching, Run, ByProducts | None]:
    """Find a maximum matching by exact engines only; also return the run and its by-products."""
    chosen = plan_exact(graph.backend, method)
    settings = read_options(options, *chosen)
    run = Run(resolve_workers(workers), options=settings, warm=initial is not None)
    matching = _start(graph, initial, name, device)
    by_products = improve(graph, matching, chosen, run)
    return matching, run, by_products


def _start(graph: BipartiteCSR, initial: Any, name: str, device: str | None) -> Matching:
    """Return the empty matching, or a copy of a given one."""
    if initial is None:
        return Matching.start(graph)
    return read_matching(graph, initial if device is None else copy_to_gpu(initial), name)
