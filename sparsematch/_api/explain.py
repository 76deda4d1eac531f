"""Why a matrix is structurally singular, in the user's own names."""

from __future__ import annotations  # readable names in help()

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparsematch._api.arguments import check_share
from sparsematch._api.transversal import maximum_matching
from sparsematch._base.above import above
from sparsematch._base.arrays import IndexArray, IndexPair, inverse
from sparsematch._base.docstrings import documented
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import ByProducts, Run, operations
from sparsematch._input.bipartite import Entries, read_entries
from sparsematch._input.canonical import canonical_columns, pattern_of
from sparsematch._input.names import read_both_names
from sparsematch._text.explanation import Explanation
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import ExactMethod
from sparsematch._types.deficient_pieces import DeficientPieces
from sparsematch._types.matching import Matching
from sparsematch._types.mates import frozen
from sparsematch._types.sparse_like import SparseLike
from sparsematch._types.view import without_view


@documented
def explain_singularity(
    A: SparseLike,
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    *,
    numeric: bool = False,
    tolerance: float = 1e-10,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
) -> Explanation:
    """Explain why a matrix is singular: by its structure, or with `numeric` by its values, too.

    Rows are read as equations, columns as variables. The over-determined part, equations with too
    few variables between them, and the under-determined part, variables in too few equations, are
    each split into connected pieces. For each piece a conflict is given, a minimal Hall violator: a
    set of equations with one variable less than there are equations, such that no smaller choice of
    them has too few. Dropping any one of them resolves it.

    With `numeric`, a square matrix is factorised, with entries that it lacks if it is structurally
    singular. If its values make it singular, combinations of equations that vanish are given, and
    combinations along which variables may change and no equation notices: of few members, none of
    which can be left out. None is given that vanishes in one system of units only. Of a matrix that
    is not square the rank is found, and besides which rows are redundant, which critical, and which
    variables are undetermined, whatever its structure.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        Square or not. Every stored entry counts, and the text says if some are zero, and what the
        rank is without, unless `view` drops them. With `numeric` values are finite numbers, and in
        host memory.
    row_names, col_names : iterable of length n_rows, n_cols, optional
        What the equations and variables are called in the text. Made strings.
    numeric : bool, optional
        Look at the values as well. Stored zeros are dropped.
    tolerance : float, optional
        Up to which a combination vanishes: its largest entry, relative to the largest of its terms,
        with columns scaled by `NumericalDefects.col_scale`. For combinations of columns likewise.
    {initial_matching}
    {method}
    {workers}

    Returns
    -------
    Explanation
        ``print`` it to read it; ``overdetermined`` and ``underdetermined`` list the pieces, those
        with the shortest conflict first. Both are empty if `A` is square and structurally
        nonsingular. ``numbers`` is there with `numeric`.

    {raises_of_patterns}
        Also if there are more or fewer names than rows or columns; with `numeric`, if a value is
        not finite.

    See Also
    --------
    is_structurally_singular : Only whether it is.
    block_triangular_form :
        The over-determined part is its vertical, the under-determined its horizontal part.
    sparsematch.plot.spy_conflicts : A picture of the conflicts, or of what depends on each other.

    Notes
    -----
    Hall, On representatives of subsets (J. London Math. Soc. 10, 1935). A conflict is what
    alternating paths reach from one unmatched row: its other rows are matched to all columns they
    have. That makes it minimal, not the smallest of all. Time: that of `maximum_transversal`, and
    nearly O(n_rows + n_cols + nnz); with `numeric` that of two factorisations, and of solutions for
    each combination.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import explain_singularity
    >>> A = csr_array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]])
    >>> print(explain_singularity(A, ["mass", "heat", "balance", "valve"], ["T", "p", "q1", "q2"]))
    Structurally singular: 4 equations, 4 variables, but rank 3 at most, whatever the values.
    The values were not looked at: numeric=True looks at them, too.
    <BLANKLINE>
    Over-determined: 3 equations with only 2 variables between them
      equations: mass, heat, balance
      variables: T, p
      to do: drop one of these equations (any will do), or bring another variable into one of them
    <BLANKLINE>
    Under-determined: 2 variables in only 1 equation
      variables: q1, q2
      equations: valve
      to do: fix one of these variables (any will do), or write another equation with one of them
    <BLANKLINE>
    To raise the rank by one, put a variable of the under-determined part (2)
    into an equation of the over-determined part (3); no other new entry helps.
    For full rank it takes 1, for example q2 in balance.
    """
    check_share("tolerance", tolerance)
    A, drops_zeros = without_view(A)
    entries = read_entries(A, valued=numeric, in_host=numeric)
    settings: Any = {"matching": matching, "method": method, "workers": workers}
    return explain(entries, row_names, col_names, numeric, tolerance, drops_zeros, **settings)


def explain(
    entries: Entries,
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    numeric: bool = False,
    tolerance: float = 1e-10,
    drops_zeros: bool = False,
    matching: Any = None,
    **settings: Any,
) -> Explanation:
    """Explain why a matrix that has been read is singular."""
    rank = numbers = columns = None
    names = read_both_names(row_names, col_names, entries.graph.shape)
    if numeric:
        columns, zeros = canonical_columns(entries, names)
        graph = dropped = pattern_of(columns)
    else:
        dropped, zeros = _without_zeros(entries, drops_zeros)
        graph = dropped if drops_zeros else entries.graph
    found = maximum_matching(graph, matching, name="matching", **settings)
    over, under = (_pieces(graph, *found, side) for side in ("rows", "columns"))
    if numeric and graph.n_rows == graph.n_cols:
        unmatched = (np.flatnonzero(mate < 0) for mate in (found[0].row_mate, found[0].col_mate))
        numbers = above("numerical_defects")(columns, tuple(unmatched), tolerance=tolerance)
    if numeric and (numbers is None or not numbers.is_complete):
        by_qr = above("numerical_rank")(columns, tolerance=tolerance)
        if numbers is None or by_qr.is_settled or not numbers.is_singular:
            numbers = by_qr
    elif zeros and graph is not dropped:
        rank = maximum_matching(dropped, None, **settings)[0].cardinality
    return Explanation(over, under, found[0], *names, numeric, numbers, zeros, rank)


def _without_zeros(entries: Entries, drops_zeros: bool) -> tuple[BipartiteCSR, int]:
    """Return the pattern without zeros, and how many; none is known of what is no number."""
    try:
        return entries.without_zeros()[:2]
    except (TypeError, ValueError):
        if drops_zeros:
            raise
        return entries.graph, 0


def _pieces(
    graph: BipartiteCSR, matching: Matching, run: Run, by_products: ByProducts | None, side: str
) -> DeficientPieces:
    """Group the rows and columns of one part by its pieces: a search, and sorts by counting."""
    none = np.empty(0, graph.dtype)
    if np.all((matching.row_mate if side == "rows" else matching.col_mate) >= 0):
        return DeficientPieces(side, none, none, (none,) * 4, (np.zeros(1, graph.dtype),) * 4)
    hall_violators = operations(DecompositionOps, graph.backend).hall_violators
    found = hall_violators(graph, matching, run, by_products, side == "columns")
    sizes, by_rows = np.diff(found.starts), side == "rows"
    listed = _listed(found.row_piece), _listed(found.col_piece)
    totals = np.bincount(listed[0 if by_rows else 1][1], minlength=sizes.size)
    rank = _rank_pieces(graph, sizes, totals)
    pieces, matched = np.repeat(np.arange(sizes.size), sizes), found.partners >= 0
    pairs = (found.members, pieces), (found.partners[matched], pieces[matched])
    members = *listed, *(pairs if by_rows else pairs[::-1])
    sort = operations(DecompositionOps, graph.backend).order_by_label
    orders, starts = zip(*(sort(rank[of], rank.size) for _, of in members), strict=True)
    grouped = tuple(of[order] for (of, _), order in zip(members, orders, strict=True))
    return frozen(DeficientPieces(side, listed[0][0], listed[1][0], grouped, starts))


def _rank_pieces(graph: BipartiteCSR, sizes: IndexArray, totals: Any) -> IndexArray:
    """Return the place of each piece: shortest conflict first, of these the smallest piece."""
    # `sizes` are those of the conflicts, `totals` those of the pieces.
    order = np.arange(sizes.size, dtype=graph.dtype)
    order_by_label = operations(DecompositionOps, graph.backend).order_by_label
    for key in totals.astype(graph.dtype), sizes:
        order = order[order_by_label(key[order], int(key.max()) + 1)[0]]
    return inverse(order)


def _listed(labels: IndexArray) -> IndexPair:
    """Return the vertices of the part, and their pieces."""
    vertices = np.flatnonzero(labels >= 0)
    return vertices.astype(labels.dtype, copy=False), labels[vertices]
