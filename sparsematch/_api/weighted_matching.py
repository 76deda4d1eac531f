"""Matchings of greatest or least weight that need not be full, and their proof."""

from __future__ import annotations  # readable names in help()

from typing import get_args

from numpy.typing import ArrayLike

from sparsematch._api.arguments import check_flags, check_tolerance, read_capacities
from sparsematch._api.weighted_proof import proved
from sparsematch._api.weighted_sides import GivenDuals, UnmatchedCost, read_costs, read_start
from sparsematch._api.workers import resolve_workers
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import check_choice, wrong_type
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.weighted import as_signed
from sparsematch._types.choices import Cardinality
from sparsematch._types.sparse_like import Local
from sparsematch._types.weighted import WeightedMatching


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
) -> WeightedMatching:
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

    Returns
    -------
    WeightedMatching
        With ``matching``, ``weight`` (the sum over the pairs), ``objective`` (with the costs of
        what is unmatched), ``row_dual`` and ``col_dual``; by several workers any of several optima.

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
    check_flags(maximize=maximize)
    check_choice("cardinality", cardinality, get_args(Cardinality))
    threads = resolve_workers(workers, A)
    signed = as_signed(A, threads=threads)
    unmatched = read_costs(unmatched_cost, signed.graph.shape)
    find = operations(WeightedOps, signed.graph.backend).maximum_weight
    first = read_start(start, signed.graph.shape, WeightedMatching)
    places = None if capacities is None else read_capacities(capacities, unmatched[1])
    return find(signed, unmatched, bool(maximize), cardinality == "maximum", threads, first, places)


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
