"""Weighted transversals and matchings, and their proof: entries that are large, or cost least."""

from __future__ import annotations  # readable names in help()

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args, overload

from numpy.typing import ArrayLike

from sparsematch._api.arguments import check_flags, check_tolerance, read_capacities
from sparsematch._api.check import matching_of
from sparsematch._api.ranks import over_ranks
from sparsematch._api.runs import run_weighted
from sparsematch._api.weighted_sides import GivenDuals, UnmatchedCost, read_costs, read_start
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import FloatArray
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import check_choice, wrong_type
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.mates import copied
from sparsematch._input.weighted import as_signed, as_weighted
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import Cardinality, Settings
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import RunInfo
from sparsematch._types.sparse_like import Local, SparseLike
from sparsematch._types.weighted import SignedCSR, WeightedMatching, WeightedTransversal
from sparsematch._types.weighted_proof import Proof, as_matching, has_its_factors

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matching import DistributedTransversal
    from sparsematch._types.over_ranks.matrix import DistributedCSR, OverRanks


class _Settings(Settings, total=False):
    scaling: bool
    approximate: bool
    tolerance: float


class _SumSettings(Settings, total=False):
    start: WeightedTransversal | GivenDuals
    tolerance: float


@overload
def maximum_product_transversal(
    A: Local, *, return_info: Literal[False] = ..., **settings: Unpack[_Settings]
) -> WeightedTransversal: ...
@overload
def maximum_product_transversal(
    A: Local, *, return_info: Literal[True], **settings: Unpack[_Settings]
) -> tuple[WeightedTransversal, RunInfo]: ...
@overload
def maximum_product_transversal(
    A: OverRanks, *, return_info: Literal[False] = ..., **settings: Unpack[_Settings]
) -> DistributedTransversal: ...
@overload
def maximum_product_transversal(
    A: OverRanks, *, return_info: Literal[True], **settings: Unpack[_Settings]
) -> tuple[DistributedTransversal, RunInfo]: ...


@documented
def maximum_product_transversal(
    A: SparseLike | DistributedCSR,
    *,
    scaling: bool = True,
    approximate: bool = False,
    tolerance: float = 0.0,
    workers: int | None = None,
    return_info: bool = False,
) -> (
    WeightedTransversal
    | DistributedTransversal
    | tuple[WeightedTransversal | DistributedTransversal, RunInfo]
):
    """Find the transversal with the largest product of magnitudes, and factors that scale it to 1.

    Among all maximum transversals: MC64's job 5. With its entries on the diagonal a matrix needs
    less pivoting, and incomplete factorisations and iterative solvers are more robust.

    Parameters
    ----------
    {A_of_numbers}
        On a GPU, results are CuPy arrays. A `DistributedCSR` is processed by all its ranks, each of
        which calls this.
    {scaling}
    approximate : bool, optional
        Whether absolute values are rounded to powers of 2 before the search, as factors are then:
        scaled entries are still at most 1, and matched ones above 1/2. Over ranks this is ignored.
    tolerance : float, optional
        On a GPU, by how much the logarithm of a pair may be below what its factors allow: scaled
        entries are at most 1, matched ones at least ``exp(-tolerance)``, and ``gap`` says how far
        the whole can be from the largest. Elsewhere this is ignored: the result is optimal.
    {workers}
    {return_info}

    Returns
    -------
    transversal : WeightedTransversal
        With ``matching``, ``objective`` (the sum of the logarithms), ``row_dual``, ``col_dual``,
        ``row_scale`` and ``col_scale``; by several workers any of several optima. Factors hold what
        they promise where rows or columns stay unmatched, too. Over ranks a
        `DistributedTransversal`: as many pairs, and a large product, of which ``gap`` says how far
        it can be from the largest.
    {info}

    {raises_of_numbers}

    Warns
    -----
    RuntimeWarning
        If factors are beyond the range of doubles. They are then cut off in ``row_scale`` and
        ``col_scale``, but not in ``scale`` and ``scale_parts``.

    See Also
    --------
    is_optimal_transversal : The proof, in linear time.
    bottleneck_transversal, maximum_sum_transversal : Other measures of large.
    maximum_transversal : When values do not matter.

    Notes
    -----
    Shortest augmenting paths over the costs ``-log(abs(a))``, and an auction first where they are
    long: Duff, Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix
    (SIAM J. Matrix Anal. Appl. 22, 2001); Olschowka, Neumaier, A new pivoting strategy for Gaussian
    elimination (Linear Algebra Appl. 240, 1996), for the scaling. In the worst case time is
    O(n nnz log n); on most matrices it is a few passes over the entries. Over ranks: Azad, Buluc,
    Li, Wang, Langguth, A distributed-memory algorithm for computing a heavy-weight perfect matching
    on bipartite graphs (SIAM J. Sci. Comput. 42, 2020); in time O(nnz log(degree)) beside that of
    `maximum_transversal`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximum_product_transversal
    >>> A = csr_array([[1., 100., 0.], [2., 10., 4.], [0., 8., 2.]])
    >>> best = maximum_product_transversal(A)
    >>> best.matching.row_mate.tolist()
    [1, 0, 2]
    >>> best.scale(A).toarray().round(3)
    array([[0.5 , 1.  , 0.  ],
           [1.  , 0.1 , 1.  ],
           [0.  , 0.16, 1.  ]])
    """
    check_flags(scaling=scaling, approximate=approximate, return_info=return_info)
    if ranks := over_ranks(A, "weighted"):
        same = {"scaling": scaling, "approximate": approximate, "return_info": return_info}
        return ranks.maximum_product_transversal(A, same, workers)
    check_tolerance("tolerance", tolerance, finite=True)
    run = Run(resolve_workers(workers, A), detailed=bool(return_info))
    weighted = run.timed("reading", as_weighted, A, run.workers)
    product = operations(WeightedOps, weighted.graph.backend).maximum_product
    how = bool(scaling), bool(approximate), run, float(tolerance)
    return run_weighted("product", product, run, weighted, *how)


@overload
def maximum_sum_transversal(
    A: SparseLike, *, return_info: Literal[False] = ..., **settings: Unpack[_SumSettings]
) -> WeightedTransversal: ...
@overload
def maximum_sum_transversal(
    A: SparseLike, *, return_info: Literal[True], **settings: Unpack[_SumSettings]
) -> tuple[WeightedTransversal, RunInfo]: ...


@documented
def maximum_sum_transversal(
    A: SparseLike,
    *,
    start: WeightedTransversal | GivenDuals = None,
    tolerance: float = 0.0,
    workers: int | None = None,
    return_info: bool = False,
) -> WeightedTransversal | tuple[WeightedTransversal, RunInfo]:
    """Find the transversal with the largest sum of absolute values.

    Among all maximum transversals: MC64's job 4.

    Parameters
    ----------
    {A_of_numbers}
        On a GPU, results are CuPy arrays.
    {start}
        On a GPU this is ignored.
    tolerance : float, optional
        On a GPU, by how much a pair may be below what its duals allow, in the unit of the entries;
        ``gap`` of the result says how far the sum can be from the largest. Elsewhere this is
        ignored: the result is optimal.
    {workers}
    {return_info}

    Returns
    -------
    transversal : WeightedTransversal
        With ``matching``, ``objective`` (the sum; infinite where that is beyond the range of
        doubles), ``row_dual`` and ``col_dual``, which are finite whatever the entries are (see
        ``dual_unit``); by several workers any of several optima.
    {info}

    {raises_of_numbers}

    See Also
    --------
    maximum_product_transversal : Independent of how rows and columns are scaled; scales them.
    scipy.sparse.csgraph.min_weight_full_bipartite_matching :
        Signed weights, for matrices of full rank.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximum_sum_transversal
    >>> best = maximum_sum_transversal(csr_array([[5, -7], [1, 2]]))
    >>> best.objective, best.matching.row_mate.tolist()
    (8.0, [1, 0])
    """
    check_flags(return_info=return_info)
    check_tolerance("tolerance", tolerance, finite=True)
    run = Run(resolve_workers(workers, A), detailed=bool(return_info))
    weighted = run.timed("reading", as_weighted, A, run.workers)
    graph = weighted.graph
    given = start if graph.backend == "numpy" else None
    first = read_start(given, graph.shape, WeightedTransversal, "sum")
    maximum_sum = operations(WeightedOps, graph.backend).maximum_sum
    return run_weighted("sum", maximum_sum, run, weighted, run, float(tolerance), first)


@overload
def bottleneck_transversal(
    A: SparseLike, *, workers: int | None = ..., return_info: Literal[False] = ...
) -> WeightedTransversal: ...
@overload
def bottleneck_transversal(
    A: SparseLike, *, workers: int | None = ..., return_info: Literal[True]
) -> tuple[WeightedTransversal, RunInfo]: ...


@documented
def bottleneck_transversal(
    A: SparseLike, *, workers: int | None = None, return_info: bool = False
) -> WeightedTransversal | tuple[WeightedTransversal, RunInfo]:
    """Find the transversal whose smallest absolute value is largest.

    Among all maximum transversals. MC64's jobs 2 and 3.

    Parameters
    ----------
    {A_of_numbers}
    {workers}
    {return_info}

    Returns
    -------
    transversal : WeightedTransversal
        With ``matching``, ``objective`` (the smallest absolute value of a matched entry), and in
        ``row_dual`` and ``col_dual`` ones for the rows and columns of a cover of all larger
        entries: there are fewer of these than pairs, so any other maximum transversal has an entry
        that is not larger either.
    {info}

    {raises_of_numbers}

    See Also
    --------
    maximum_product_transversal, maximum_sum_transversal

    Notes
    -----
    Bisection, each maximum matching starting from the last one that fits: time O(log nnz) times
    that of `maximum_transversal`. Several workers may find another matching of the same objective.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import bottleneck_transversal
    >>> best = bottleneck_transversal(csr_array([[9, 3], [4, 1]]))
    >>> best.objective, best.matching.row_mate.tolist()
    (3.0, [1, 0])
    """
    check_flags(return_info=return_info)
    run = Run(resolve_workers(workers, A), detailed=bool(return_info))
    weighted = run.timed("reading", as_weighted, A, run.workers)
    bottleneck = operations(WeightedOps, weighted.graph.backend).bottleneck
    return run_weighted("bottleneck", bottleneck, run, weighted, run)


@documented
def is_optimal_transversal(
    A: SparseLike,
    transversal: WeightedTransversal,
    *,
    tolerance: float | None = None,
    workers: int | None = None,
) -> bool:
    """Tell whether a weighted transversal is what it says, by its duals alone.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        The matrix.
    transversal : WeightedTransversal
        What one of the functions below returned.
    {tolerance}
        ``0.7``, above log(2), suits an approximate result.
    {workers}

    Returns
    -------
    bool
        Whether the pairs are a maximum transversal of the entries that are not zero, the duals
        prove that no other one has a greater weight than it by more than the tolerance for each
        pair, the objective is that of the pairs, and factors are those of the duals.

    {raises_of_proofs}

    See Also
    --------
    maximum_product_transversal, maximum_sum_transversal, bottleneck_transversal

    Notes
    -----
    Nothing is matched again. No dual exceeds that of an unmatched vertex of its side, so the duals
    at the ends of any maximum transversal add up to no less than at the ends of this one; its
    entries cost no less than their duals, those of this one as much. Time: O(n_rows + n_cols +
    nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_optimal_transversal, maximum_sum_transversal
    >>> A = csr_array([[5, -7], [1, 2]])
    >>> best = maximum_sum_transversal(A)
    >>> is_optimal_transversal(A, best), is_optimal_transversal(2 * A, best)
    (True, False)
    """
    if not isinstance(transversal, WeightedTransversal):
        raise wrong_type("transversal", transversal, "a WeightedTransversal")
    check_tolerance("tolerance", tolerance)
    threads = resolve_workers(workers)
    if transversal.job != "bottleneck":
        return proved(A, transversal, tolerance, threads, "transversal") is not None
    weighted = as_weighted(A, threads=threads)
    duals = transversal.row_dual, transversal.col_dual
    scales = transversal.row_scale, transversal.col_scale
    given = matching_of(weighted.graph, transversal, "transversal", duals, scales, threads=threads)
    is_bottleneck = operations(WeightedOps, weighted.graph.backend).is_bottleneck
    return given is not None and is_bottleneck(weighted, replace(transversal, matching=given))


def full_matching(graph: BipartiteCSR, cost: FloatArray, largest: float | None = None) -> Matching:
    """Find a matching of least cost of all rows, or columns if fewer; ValueError if none exists."""
    # Costs are finite, no entry is repeated; `largest` is a bound of them, if one is known.
    find = operations(WeightedOps, graph.backend).least_cost
    matching = find(graph, cost, Run(), largest).matching
    if matching.cardinality < min(graph.shape):
        raise ValueError("no full matching exists")
    return matching


class _MatchingSettings(Settings, total=False):
    maximize: bool
    unmatched_cost: UnmatchedCost
    cardinality: Cardinality
    capacities: ArrayLike | None
    start: WeightedMatching | GivenDuals


@overload
def maximum_weight_matching(
    A: Local, *, return_info: Literal[False] = ..., **settings: Unpack[_MatchingSettings]
) -> WeightedMatching: ...
@overload
def maximum_weight_matching(
    A: Local, *, return_info: Literal[True], **settings: Unpack[_MatchingSettings]
) -> tuple[WeightedMatching, RunInfo]: ...


@documented
def maximum_weight_matching(
    A: Local,
    *,
    maximize: bool = True,
    unmatched_cost: UnmatchedCost = None,
    cardinality: Cardinality = "any",
    capacities: ArrayLike | None = None,
    start: WeightedMatching | GivenDuals = None,
    workers: int | None = None,
    return_info: bool = False,
) -> WeightedMatching | tuple[WeightedMatching, RunInfo]:
    """Find a matching of rows and columns of greatest or least total weight, full or not.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Of real numbers of either sign, the weights of the pairs that are possible: what is stored,
        zeros included. Entries in the same place are added up. It is not modified. Integers beyond
        2**53 are rounded to doubles.
    maximize : bool, optional
        Whether weights are gains, whose sum is to be greatest; else costs, whose sum is to be
        least.
    unmatched_cost : float or (row costs, col costs), optional
        What each row and each column costs that is left unmatched: one number for all of them, or a
        pair, for rows and for columns, each of which is a number, one for each row or column, or
        None. It is added to what is least, and subtracted from what is greatest; negative ones
        reward. None costs nothing.
    cardinality : {"any", "maximum"}, optional
        ``"any"``: rows and columns are matched where that is better than to leave both unmatched.
        ``"maximum"``: as many pairs as possible, and the best of all such matchings.
    capacities : int or array of integers, shape (n_cols,), optional
        How many rows each column may have. A column is unmatched once for each row that it could
        still have. For capacities of rows give the transpose. None: one row.
    {start}
        At maximum cardinality without `capacities` only. Duals are those of `WeightedMatching`.
    {workers}
    {return_info}

    Returns
    -------
    found : WeightedMatching
        With ``matching``, ``weight`` (the sum over the pairs), ``objective`` (with the costs of
        what is unmatched), ``row_dual`` and ``col_dual``; by several workers any of several optima.
    {info}

    {raises_of_numbers}
        Costs and capacities likewise, and if they have the wrong shape or capacities are negative.

    See Also
    --------
    is_optimal_matching : The proof, in linear time.
    maximum_sum_transversal : Magnitudes, at maximum cardinality.
    sparsematch.csgraph.min_weight_full_bipartite_matching : As SciPy's, for full matchings.

    Notes
    -----
    With ``maximize=False``, ``cardinality="any"`` and no `unmatched_cost`, only negative entries
    are worth a pair: of positive costs, the empty matching is the cheapest. ``unmatched_cost=c`` is
    the ``costUnmatched`` of MATLAB's ``matchpairs``; a pair is that of
    ``assignDetectionsToTracks``. Rounding is relative to the largest weight or cost: a very large
    cost in place of ``cardinality="maximum"`` drowns the others.

    Shortest augmenting paths, as in `maximum_product_transversal`, with a column of its own for
    each row, for its cost if unmatched. Time: in the worst case O(n nnz log n).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import maximum_weight_matching
    >>> A = csr_array([[0.1, 0], [1.0, 0.5]])
    >>> maximum_weight_matching(A).matching.row_mate.tolist()
    [-1, 0]
    >>> maximum_weight_matching(A, cardinality="maximum").weight
    0.6
    """
    check_flags(maximize=maximize, return_info=return_info)
    check_choice("cardinality", cardinality, get_args(Cardinality))
    run = Run(resolve_workers(workers, A), detailed=bool(return_info))
    signed = run.timed("reading", as_signed, A, run.workers)
    unmatched = read_costs(unmatched_cost, signed.graph.shape)
    find = operations(WeightedOps, signed.graph.backend).maximum_weight
    first = read_start(start, signed.graph.shape, WeightedMatching)
    places = None if capacities is None else read_capacities(capacities, unmatched[1])
    how = unmatched, bool(maximize), cardinality == "maximum", run, first, places
    return run_weighted("weight", find, run, signed, *how)


@documented
def is_optimal_matching(
    A: Local, found: WeightedMatching, *, tolerance: float | None = None, workers: int | None = None
) -> bool:
    """Tell whether a weighted matching is what it says, by its duals alone.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        The matrix.
    found : WeightedMatching
        What `maximum_weight_matching` returned.
    {tolerance}
        With 0, whole numbers are proved exactly, as long as their sums stay below 2**30.
    {workers}

    Returns
    -------
    bool
        Whether the pairs are entries, no two of the same row or, beyond its capacity, column, and
        as many as possible if ``found.maximum_cardinality``; ``weight`` and ``objective`` are
        theirs; and the duals prove that no other such matching has an objective that is better by
        more than the tolerance for each row and column.

    {raises_of_proofs}

    See Also
    --------
    maximum_weight_matching

    Notes
    -----
    Nothing is matched again. Costs of the pairs and of the unmatched of any matching add up to no
    less than all duals, for each row and column is in one pair or unmatched; those of this one to
    as much. At maximum cardinality as many rows are unmatched in all matchings, so that what their
    duals exceed their costs by is no less in this one than in any other; columns likewise. Time:
    O(n_rows + n_cols + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_optimal_matching, maximum_weight_matching
    >>> A = csr_array([[-5, 2], [1, -1]])
    >>> found = maximum_weight_matching(A)
    >>> found.objective, is_optimal_matching(A, found), is_optimal_matching(2 * A, found)
    (3.0, True, False)
    """
    if not isinstance(found, WeightedMatching):
        raise wrong_type("found", found, "a WeightedMatching")
    check_tolerance("tolerance", tolerance)
    return proved(A, found, tolerance, resolve_workers(workers), "found") is not None


def proved(
    A: Any,
    given: WeightedTransversal | WeightedMatching,
    tolerance: float | None,
    threads: int,
    name: str,
) -> tuple[SignedCSR, WeightedMatching, Proof] | None:
    """Return the weights, the result as a matching, and its proof; None if it has none."""
    # Not of a bottleneck. Raises ValueError if `A` has another shape.
    duals = given.row_dual, given.col_dual
    if isinstance(given, WeightedTransversal):
        weighted = as_weighted(A, threads=threads)
        sides = duals, (given.row_scale, given.col_scale)
        matching = matching_of(weighted.graph, given, name, *sides, threads=threads)
        if matching is None or not has_its_factors(given):
            return None
        signed, found = as_matching(weighted, replace(given, matching=matching))
    else:
        signed = as_signed(A, threads=threads)
        sides = duals, (given.row_unmatched_cost, given.col_unmatched_cost)
        how: Any = {"is_maximum": given.maximum_cardinality, "threads": threads}
        if given.capacities is not None:
            how = {"is_maximum": False, "read": copied}  # prove does the rest
        matching = matching_of(signed.graph, given, name, *sides, (None, given.capacities), **how)
        if matching is None:
            return None
        found = replace(given, matching=matching)
    proof = operations(WeightedOps, signed.graph.backend).prove(signed, found, tolerance)
    return None if proof is None else (signed, found, proof)
