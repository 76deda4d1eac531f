"""Which rows and columns of a matrix of any shape depend on each other by their numbers."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import IndexArray
from sparsematch._blame.circuits import Circuits, find_circuits, worst_residuals
from sparsematch._blame.null_basis import Lines, sparse_basis
from sparsematch._blame.null_space import NullSpace
from sparsematch._blame.singular_blocks import MOST
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.canonical import pattern_of
from sparsematch._numerics.scaling import scaled
from sparsematch._types.numerical_rank import NumericalRank
from sparsematch._types.singularity import Dependence, members_of

#: Share of the tolerance below which coefficients of scaled rows are nothing.
_SHARE = 0.1
#: Elements of circuits that share members up to which these are chosen anew, to be shorter.
_DENSE = 1 << 20

#: Members of combinations that are made sums, and up to which share coefficients are equal.
_READABLE, _EQUAL = 1000, 1e-9


def numerical_rank(A: Any, *, tolerance: float = 1e-10) -> NumericalRank:
    """Find the rank of a CSC matrix of any shape, and what depends on each other.

    It is of float64 or complex128, without duplicates and stored zeros. Time: that of two QR
    factorisations, and of the combinations.

    >>> from scipy.sparse import csc_array
    >>> found = numerical_rank(csc_array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]]))
    >>> found.rank, found.equations[0].coefficients.tolist(), found.undetermined_cols.tolist()
    (1, [1.0, -0.5], [0, 1, 2])
    """
    m, n = A.shape
    transposed = sp.csc_array(A.T)
    by_row, by_col = (find_circuits(B, tolerance, _SHARE * tolerance) for B in (transposed, A))
    equations, redundant = _named("rows", transposed, by_row, tolerance)
    variables, undetermined = _named("columns", A, by_col, tolerance)
    # what vanishes bounds the rank, whatever else is in doubt
    vanishing = [np.count_nonzero(each.residuals <= tolerance) for each in (by_row, by_col)]
    rank = min(m - vanishing[0], n - vanishing[1])
    agree = m - by_row.free.size == n - by_col.free.size == rank
    return NumericalRank(
        (m, n),
        rank,
        equations,
        variables,
        np.delete(np.arange(m), by_row.free),
        np.delete(np.arange(n), by_col.free),
        redundant,
        undetermined,
        tolerance,
        min(by_row.smallest, by_col.smallest),
        agree and by_row.is_settled and by_col.is_settled,
    )


def _named(
    side: str, A: Any, circuits: Circuits, tolerance: float
) -> tuple[tuple[Dependence, ...], IndexArray]:
    """Return combinations of the columns of a matrix that vanish, and all that are in any."""
    basis = circuits.scaled[:, circuits.residuals <= tolerance]
    row, col = circuits.scaling
    lines = Lines(side, sp.csr_array(scaled(A, row, col).T), col)
    found: list[Dependence] = []
    for members, which in _groups(basis):
        if len(found) >= MOST:
            break
        if members.size == 1:  # nothing is in it
            found.append(Dependence(side, members, np.ones(1, A.dtype), 0.0))
            continue
        some = [which]
        if which.size > MOST or members.size * which.size > _DENSE:
            some = np.split(which[: MOST - len(found)], min(which.size, MOST - len(found)))
        for few in some:
            own = members if few is which else np.sort(basis[:, few].indices)
            dense = basis[:, few][own].toarray()
            named = sparse_basis(lines, NullSpace(own, dense, np.zeros(few.size)), tolerance)
            found += _of_one_sign(A, named)
    checked = _in_both_units(A, circuits, found)
    named = [one for one in checked if one.residual <= tolerance]
    named.sort(key=lambda one: (one.size, one.indices[0]))
    return tuple(named), np.unique(basis.indices)


def _of_one_sign(A: Any, found: list[Dependence]) -> list[Dependence]:
    """Return combinations, sums in the place of differences where others make these no longer.

    What is conserved is a total. Of columns of `A`, and as independent.
    """
    if A.dtype.kind == "c" or sum(one.size for one in found) > _READABLE:
        return found
    members = members_of(one.indices for one in found) if found else np.empty(0, np.intp)
    vectors = np.zeros((len(found), members.size))
    for vector, one in zip(vectors, found, strict=True):
        vector[np.searchsorted(members, one.indices)] = one.coefficients
    changed = list(found)
    for k, l in permutations(range(len(found)), 2):
        shared = np.flatnonzero(vectors[k] * vectors[l])
        for ratio in np.unique(vectors[k, shared] / vectors[l, shared]).tolist():
            one = vectors[k] - ratio * vectors[l]
            one[np.abs(one) <= _EQUAL * np.abs(one).max()] = 0
            size = np.count_nonzero(one)
            sums = [max((x > 0).sum(), (x < 0).sum()) == np.count_nonzero(x) for x in (one, vectors[k])]
            if sums != [True, False] or size > changed[k].size:
                continue
            rows = A[:, members[one != 0]].toarray() * one[one != 0]
            if np.linalg.matrix_rank(rows, _EQUAL) == size - 1:
                vectors[k] = one / one[np.abs(one).argmax()]
                own = np.flatnonzero(one)
                changed[k] = replace(found[k], indices=members[own], coefficients=vectors[k, own])
    return changed


def _groups(basis: Any) -> list[tuple[IndexArray, IndexArray]]:
    """Return circuits that have members in common, and these; the shortest circuits first."""
    k = basis.shape[1]
    _, rows, cols = operations(DecompositionOps, "numpy").connected_components(pattern_of(basis))
    lengths = np.diff(basis.indptr)
    order = np.lexsort((lengths, cols))
    groups = np.split(order, np.flatnonzero(np.diff(cols[order])) + 1) if k else []
    groups.sort(key=lambda which: lengths[which[0]])
    of_rows = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[of_rows], np.arange(rows.size + k + 1))
    labels = [int(cols[which[0]]) for which in groups]
    members = [of_rows[starts[label] : starts[label + 1]] for label in labels]
    return list(zip(members, groups, strict=True))


def _in_both_units(A: Any, circuits: Circuits, found: list[Dependence]) -> list[Dependence]:
    """Return combinations with the worse residual of two units."""
    if not found:
        return []
    indptr = np.cumsum([0, *(one.size for one in found)])
    vectors = sp.csc_array(
        (
            np.concatenate([one.coefficients for one in found]),
            np.concatenate([one.indices for one in found]),
            indptr,
        ),
        shape=(A.shape[1], len(found)),
    )
    worse = worst_residuals(A, circuits.scaling, vectors)
    return [
        replace(one, residual=max(one.residual, float(left)))
        for one, left in zip(found, worse, strict=True)
    ]
