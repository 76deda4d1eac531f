"""What can be done about a singular matrix: all that may be fixed or dropped, and what if it is."""

from __future__ import annotations  # readable names in help()

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sparsematch._api.explain import explain
from sparsematch._base.arrays import UNMATCHED, FloatArray, IndexArray
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import wrong_type
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.bipartite import read_entries
from sparsematch._input.mates import copied
from sparsematch._input.names import read_names
from sparsematch._text.explanation import Explanation
from sparsematch._text.name_lists import family
from sparsematch._types.choices import ExactMethod
from sparsematch._types.deficient_pieces import DeficientPieces
from sparsematch._types.matching import Matching
from sparsematch._types.numerical_rank import NumericalRank
from sparsematch._types.singularity import Dependence, NumericalDefects, members_of
from sparsematch._types.sparse_like import Local
from sparsematch._types.view import without_view


class Candidates(NamedTuple):
    """What may be fixed, or dropped, against a singular matrix; made by `candidates`.

    Attributes
    ----------
    fix : ndarray
        Columns: the unknowns any one of which, if it is fixed by an equation of its own, raises the
        rank by one.
    drop : ndarray
        Rows: the equations any one of which may be dropped, and the rank stays.
    """

    fix: IndexArray
    drop: IndexArray

    def __repr__(self) -> str:
        return f"Candidates({self.fix.size} to fix, {self.drop.size} to drop)"


def candidates(why: Explanation) -> Candidates:
    """List every unknown that may be fixed, and every equation that may be dropped.

    Any one of them resolves one deficiency; of two, the second may not help any more: ask `what_if`
    after each.

    Parameters
    ----------
    why : Explanation
        Of `explain_singularity`.

    Returns
    -------
    Candidates
        What the pattern is to blame for comes first. Then the members of dependences, those with
        the largest coefficients first, and with names the members of a family,
        ``flow[1], flow[2]``, together.

    Raises
    ------
    TypeError
        If `why` is no Explanation.

    See Also
    --------
    what_if : Explains the matrix that is left.

    Notes
    -----
    By the pattern these are the rows of the over-determined and the columns of the under-determined
    part: those that some maximum matching leaves out. By the values those in some combination that
    vanishes, hence in one of any basis of them; if `NumericalDefects.is_complete` is false, there
    may be more. Of a matrix explained with its values, those are all, unless they are not complete,
    or the rank is not settled. Time: O(n log n) for n candidates.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import candidates, explain_singularity
    >>> A = csr_array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]])
    >>> why = explain_singularity(A)
    >>> candidates(why)
    Candidates(2 to fix, 3 to drop)
    >>> candidates(why).fix.tolist()
    [2, 3]
    """
    if not isinstance(why, Explanation):
        raise wrong_type("why", why, "an Explanation, as explain_singularity returns")
    numbers = why.numbers
    dependences = ((), ()) if numbers is None else (numbers.variables, numbers.equations)
    only: tuple[Any, Any] = None, None
    if isinstance(numbers, NumericalRank) and numbers.is_settled:
        only = numbers.undetermined_cols, numbers.redundant_rows
    elif isinstance(numbers, NumericalDefects) and numbers.is_complete and all(dependences):
        fix, drop = (members_of(one.indices for one in each) for each in dependences)
        only = fix, drop
    return Candidates(
        _sorted(why.underdetermined, dependences[0], why.col_names, only[0]),
        _sorted(why.overdetermined, dependences[1], why.row_names, only[1]),
    )


@documented
def what_if(
    A: Local,
    *,
    fix: Iterable[int] = (),
    drop: Iterable[int] = (),
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    numeric: bool = False,
    tolerance: float = 1e-10,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
) -> Explanation:
    """Explain a matrix as it were if some unknowns were fixed and some equations dropped.

    Parameters
    ----------
    A : sparse array or matrix, shape (n_rows, n_cols)
        As for `explain_singularity`, in host memory.
    fix : iterable of int, optional
        Columns: unknowns whose values are given.
    drop : iterable of int, optional
        Rows: equations that are left out.
    row_names, col_names : iterable of length n_rows, n_cols, optional
        What the equations and variables of `A` are called; by default ``row 7``, ``column 7``.
    numeric, tolerance : bool, float, optional
        As for `explain_singularity`.
    {initial_matching}
        With that of an explanation of `A` each row and column that goes costs one search.
    {method}
    {workers}

    Returns
    -------
    Explanation
        That of the smaller matrix: its arrays number the rows and columns that are left, from 0;
        its names are those of `A`.

    {raises_of_patterns}
        Also if a row or column to leave out is out of range.

    See Also
    --------
    candidates : What is worth trying.

    Notes
    -----
    Time: that of copying the pattern, of a search for each row and column that goes, and of the
    pieces. The matching of a smaller matrix is at most as much smaller as rows and columns go.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import explain_singularity, what_if
    >>> A = csr_array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]])
    >>> why = explain_singularity(A)
    >>> what_if(A, fix=[3], drop=[0], matching=why.matching)
    Explanation(3x3, structural rank 3: full)
    """
    A, drops_zeros = without_view(A)
    entries = read_entries(A, valued=numeric, in_host=True)
    graph = entries.graph
    rows, cols = _left(drop, graph.n_rows, "drop"), _left(fix, graph.n_cols, "fix")
    names_of_rows = _names_of(row_names, graph.n_rows, rows, "row")
    names = names_of_rows, _names_of(col_names, graph.n_cols, cols, "column")
    start = None if matching is None else _within(copied(graph, matching, "matching"), rows, cols)
    data = entries.values if numeric else np.ones(graph.nnz, bool)
    arrays = graph.indptr, graph.indices[: graph.nnz], data
    matrix = compressed_matrix("csc" if graph.flipped else "csr", graph.shape, *arrays)
    smaller = read_entries(matrix[rows][:, cols], valued=numeric)
    settings: Any = {"matching": start, "method": method, "workers": workers}
    return explain(smaller, *names, numeric, tolerance, drops_zeros, **settings)


def _sorted(
    pieces: DeficientPieces,
    dependences: tuple[Dependence, ...],
    names: tuple[str, ...] | None,
    only: IndexArray | None,
) -> IndexArray:
    """Return the candidates of one side: by the pattern, then by the size of coefficients."""
    # `only`: what all dependences have, of which not all need be named.
    by_pattern = pieces.rows if pieces.side == "rows" else pieces.cols
    sizes: dict[int, float] = {}
    if only is not None:
        by_pattern, sizes = np.intersect1d(by_pattern, only), dict.fromkeys(only.tolist(), 0.0)
    for each in dependences:
        for k, size in zip(each.indices.tolist(), np.abs(each.coefficients).tolist(), strict=True):
            sizes[k] = max(size, sizes.get(k, 0.0))
    sizes |= dict.fromkeys(by_pattern.tolist(), np.inf)
    members = np.array(sorted(sizes), by_pattern.dtype)
    size = np.array([sizes[k] for k in members.tolist()])
    return members[_order(members, size, names)]


def _order(members: IndexArray, size: FloatArray, names: tuple[str, ...] | None) -> IndexArray:
    """Return the order of candidates: the largest first, each followed by those of its family."""
    if names is None:
        return np.argsort(-size, kind="stable")
    families = [family(names[k]) for k in members.tolist()]
    largest: dict[str, float] = {}
    for name, of in zip(families, size.tolist(), strict=True):
        largest[name] = max(of, largest.get(name, 0.0))
    keys = [(-largest[name], name, -of) for name, of in zip(families, size.tolist(), strict=True)]
    return np.array(sorted(range(members.size), key=keys.__getitem__), np.intp)


def _left(gone: Iterable[int], n: int, name: str) -> IndexArray:
    """Return the rows, or columns, that are left, ascending."""
    indices = np.asarray(gone if isinstance(gone, np.ndarray) else list(gone))
    if indices.size and (indices.dtype.kind not in "iu" or indices.ndim != 1):
        raise TypeError(f"{name} must hold integers, not {indices.dtype}")
    wrong = indices[(indices < 0) | (indices >= n)] if indices.size else indices
    if wrong.size:
        raise ValueError(f"{name} has {wrong[0]}, but must be between 0 and {n - 1}")
    return np.delete(np.arange(n), indices.astype(np.intp))


def _names_of(given: Any, n: int, left: IndexArray, noun: str) -> list[str] | None:
    """Return the names of what is left, as of the whole matrix."""
    names = read_names(given, n, "row_names" if noun == "row" else "col_names", f"{noun}s")
    if names is None and left.size == n:
        return None
    return [names[k] if names else f"{noun} {k}" for k in left.tolist()]


def _within(matching: Matching, rows: IndexArray, cols: IndexArray) -> Matching:
    """Return what is left of a matching, in the numbers of the smaller matrix."""
    mates = []
    for mate, own, other in ((matching.row_mate, rows, cols), (matching.col_mate, cols, rows)):
        number = np.full(max(matching.shape) + 1, UNMATCHED, mate.dtype)  # the last stands for -1
        number[other] = np.arange(other.size)
        mates.append(number[mate[own]])
    return Matching(*mates)
