"""Approximate matchings of general graphs."""

from __future__ import annotations  # readable names in help()

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack, overload

from sparsematch._api.arguments import Rng, check_flags, read_seed
from sparsematch._api.ranks import over_ranks
from sparsematch._api.runs import checked, matched
from sparsematch._api.workers import resolve_workers
from sparsematch._base.docstrings import documented
from sparsematch._engines.registry import Run, read_options, select
from sparsematch._input.graph import as_graph
from sparsematch._types.choices import ApproximateMethod, Settings
from sparsematch._types.matching import GraphMatching
from sparsematch._types.sparse_like import Local, SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matching import DistributedGraphMatching
    from sparsematch._types.over_ranks.matrix import DistributedCSR, OverRanks


class _Settings(Settings, total=False):
    method: ApproximateMethod
    rng: Rng
    symmetrize: bool


class _Weighted(_Settings, total=False):
    weights: bool
    options: Mapping[str, Any] | None
    return_info: bool


@overload
def approximate_matching(G: Local, **settings: Unpack[_Weighted]) -> GraphMatching: ...
@overload
def approximate_matching(
    G: OverRanks, **settings: Unpack[_Weighted]
) -> DistributedGraphMatching: ...


@documented
def approximate_matching(
    G: SparseLike | DistributedCSR,
    *,
    method: ApproximateMethod = "auto",
    weights: bool = True,
    rng: Rng = None,
    workers: int | None = None,
    symmetrize: bool = False,
    options: Mapping[str, Any] | None = None,
    return_info: bool = False,
) -> GraphMatching | DistributedGraphMatching:
    """Find a heavy matching of a graph.

    Its edges have a great total weight, no two share a vertex, and none can be added.

    Parameters
    ----------
    G : sparse array or matrix, shape (n, n)
        A symmetric matrix: each off-diagonal entry is half of an edge, whose weight is the absolute
        value of the entry. Entries in the same place are added up. Stored zeros are edges of weight
        zero, matched last. On a GPU, results are CuPy arrays. A `DistributedCSR` is processed by
        all its ranks, each of which calls this. It is not modified.
    method : str, optional
        ``"auto"``, or a name from ``engines("approximate")``. ``"greedy"``, ``"suitor"`` and
        ``"local_max"`` find the same matching, at least half as heavy as the heaviest; ``"gpa"``
        finds a heavier one in more time, ``"hem"`` and ``"red_blue"`` a lighter one. A GPU has
        engines of its own: ``engines("approximate", backend="cupy")``. Ranks have ``"local_max"``.
    weights : bool, optional
        False: all edges weigh the same, and values are ignored.
    rng : int or numpy.random.Generator, optional
        Seeds the order among edges of equal weight, and the random choices of ``"hem"`` and
        ``"red_blue"``. By default a fixed seed. The same seed gives the same matching with any
        number of workers, on a GPU and on any number of ranks too.
    {workers}
        On a GPU this is ignored.
    symmetrize : bool, optional
        Whether a matrix that is not symmetric is accepted: an edge then weighs the larger of
        its two entries, of which one may be absent.
    options : dict, optional
        Options of the engine; ``engines("approximate")`` lists them with their defaults.
    return_info : bool, optional
        Whether ``info`` is to report what each round matched and left, which takes another pass
        over the edges for each. Over ranks, it reports what was matched between two exchanges.

    Returns
    -------
    GraphMatching
        With ``mate``, of the index type of `G`, where -1 means unmatched; ``weight``, ``guarantee``
        and ``info``. Over ranks a `DistributedGraphMatching`, with the mates of the own vertices.

    Raises
    ------
    TypeError, ValueError
        If `G` is not a sparse matrix of numbers, its index arrays are inconsistent, it is not
        square or not symmetric, or a weight is NaN or infinite, naming the first; or an argument is
        of the wrong type, or none of the choices. Over ranks: if weights count and `G` has no
        values, or the ranks have other arguments; on all of them.

    See Also
    --------
    maximal_matching : When weights do not matter.
    maximum_transversal : The exact matching of rows with columns.

    Notes
    -----
    Birn, Osipov, Sanders, Schulz, Sitchinava, Efficient parallel and external matching (Euro-Par
    2013), for ``"local_max"``; Fagginger Auer, Bisseling, A GPU algorithm for greedy graph matching
    (Facing the Multicore-Challenge II, 2012), for ``"red_blue"``. Time: O(nnz), expected, for
    ``"local_max"``; the pages of the engines give that of the others.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import approximate_matching
    >>> G = csr_array([[0, 5, 1, 0], [5, 0, 3, 0], [1, 3, 0, 2], [0, 0, 2, 0]])
    >>> matching = approximate_matching(G)
    >>> matching.mate.tolist(), matching.weight
    ([1, 0, 3, 2], 7.0)
    """
    flags = {"weights": weights, "symmetrize": symmetrize, "return_info": return_info}
    if ranks := over_ranks(G, "general"):
        return ranks.approximate_matching(G, method, flags, rng, workers, options)
    check_flags(**flags)
    graph = as_graph(G, weights=bool(weights))
    engine = select(method, graph.backend, "approximate", also=("auto",))
    settings = read_options(options, engine)
    run = Run(resolve_workers(workers), read_seed(rng), settings, bool(return_info))
    mate, rest = matched(checked(graph, run, symmetrize), engine, method, run)
    return GraphMatching(mate, mate, *rest).freeze()


@overload
def maximal_matching(G: Local, **settings: Unpack[_Settings]) -> GraphMatching: ...
@overload
def maximal_matching(G: OverRanks, **settings: Unpack[_Settings]) -> DistributedGraphMatching: ...


def maximal_matching(
    G: SparseLike | DistributedCSR,
    *,
    method: ApproximateMethod = "auto",
    rng: Rng = None,
    workers: int | None = None,
    symmetrize: bool = False,
) -> GraphMatching | DistributedGraphMatching:
    """Find a maximal matching of a graph: none of its edges can be added.

    It has at least half as many pairs as a maximum one, and usually nine tenths. Values are
    ignored: every entry off the diagonal counts. Time: O(nnz), expected, with the default engine.

    Parameters
    ----------
    G : sparse array or matrix, shape (n, n)
        With a symmetric pattern, as in `approximate_matching`; over ranks without values, too.
    method, rng, workers, symmetrize : optional
        As in `approximate_matching`.

    Returns
    -------
    GraphMatching
        Whose ``weight`` is the number of pairs. Over ranks a `DistributedGraphMatching`.

    Raises
    ------
    TypeError, ValueError
        As `approximate_matching`.

    See Also
    --------
    approximate_matching : The same with weights.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximal_matching
    >>> path = csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> maximal_matching(path).cardinality
    1
    """
    how: Any = {"method": method, "rng": rng, "workers": workers, "symmetrize": symmetrize}
    return approximate_matching(G, weights=False, **how)
