"""Which rows and columns of a matrix of any shape depend on each other by their numbers."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import FloatArray, IndexArray, IndexPair
from sparsematch._blame.circuits import Circuits, find_circuits
from sparsematch._blame.defects import lines_of
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
#: Elements of circuits that share members up to which these are exchanged, to be shorter.
_DENSE = 1 << 20

#: Members of combinations that are made sums, the least coefficient beside 1, and by what share
#: of the largest coefficients that are equal differ.
_READABLE, _ALIKE, _EQUAL = 1000, 1e-3, 1e-9


def numerical_rank(A: Any, *, tolerance: float = 1e-10) -> NumericalRank:
    """Find the rank of a CSC matrix of any shape, and what depends on each other."""
    # Float64 or complex128, no repeats or stored zeros. Time: two QR factorisations, combinations.
    m, n = A.shape
    transposed = sp.csc_array(A.T)
    by_row, by_col = (find_circuits(B, tolerance, _SHARE * tolerance) for B in (transposed, A))
    scaling = by_col.scaling
    lines = lines_of(A, scaled(A, *scaling), *scaling)
    equations, redundant = _named(transposed, lines["rows"], by_row, tolerance)
    variables, undetermined = _named(A, lines["columns"], by_col, tolerance)
    # what vanishes bounds the rank, whatever else is in doubt
    vanishing = [np.count_nonzero(each.residuals <= tolerance) for each in (by_row, by_col)]
    rank = int(min(m - vanishing[0], n - vanishing[1]))
    agree = m - by_row.free.size == n - by_col.free.size == rank
    is_settled = bool(agree and by_row.is_settled and by_col.is_settled)
    rows, cols = (np.delete(np.arange(size), of.free) for size, of in ((m, by_row), (n, by_col)))
    dependent = equations, variables, rows, cols, redundant, undetermined
    smallest = float(min(by_row.smallest, by_col.smallest))
    return NumericalRank((m, n), rank, *dependent, tolerance, smallest, is_settled)


def _named(
    A: Any, lines: Lines, circuits: Circuits, tolerance: float
) -> tuple[tuple[Dependence, ...], IndexArray]:
    """Return combinations of the columns of a matrix that vanish, and all that are in any."""
    basis = circuits.scaled[:, circuits.residuals <= tolerance]
    nothing: list[Dependence] = []  # is in these, which cost nothing and need no words
    found: list[Dependence] = []
    alone: list[IndexPair] = []  # circuits that need no exchange with others

    def named(own: IndexArray, which: IndexArray) -> list[Dependence]:
        space = NullSpace(own, basis[:, which][own].toarray(), np.zeros(which.size))
        return sparse_basis(lines, space, tolerance)

    left = MOST
    for members, which in _groups(basis):
        if members.size == 1:
            nothing.append(Dependence(lines.side, members, np.ones(1, A.dtype), 0.0))
            continue
        some = which[:left]
        left -= some.size
        if which.size > MOST or members.size * which.size > _DENSE:
            alone += [(np.sort(basis[:, [k]].indices), some[[i]]) for i, k in enumerate(some)]
        elif which.size == 1:
            alone += [(members, some)] * some.size
        elif some.size:
            found += _of_one_sign(A, named(members, which))
    if alone:  # all at once, unless they are large
        own, which = (np.unique(np.concatenate(part)) for part in zip(*alone, strict=True))
        for each in [(own, which)] if own.size * which.size <= _DENSE else alone:
            found += named(*each)
    found.sort(key=lambda one: (one.size, one.indices[0]))
    return (*nothing, *found), np.flatnonzero(np.bincount(basis.indices, minlength=basis.shape[0]))


def _of_one_sign(A: Any, found: list[Dependence]) -> list[Dependence]:
    """Return combinations, sums in the place of differences where others make these no longer."""
    # What is conserved is a total. Of columns of `A`, and as independent.
    least = min((np.abs(one.coefficients).min() for one in found), default=0)
    if A.dtype.kind == "c" or sum(one.size for one in found) > _READABLE or least < _ALIKE:
        return found
    members = members_of(one.indices for one in found)
    vectors = np.zeros((len(found), members.size))
    for vector, one in zip(vectors, found, strict=True):
        vector[np.searchsorted(members, one.indices)] = one.coefficients
    changed = list(found)
    for k, other in permutations(range(len(found)), 2):
        if (sum_of := _as_sum(A, members, vectors[k], vectors[other])) is not None:
            vectors[k], own = sum_of, np.flatnonzero(sum_of)
            changed[k] = replace(found[k], indices=members[own], coefficients=sum_of[own])
    return changed


def _as_sum(A: Any, members: IndexArray, vector: FloatArray, other: FloatArray) -> Any:
    """Return a vector, the other one so often added that it has one sign and no more members."""
    # None if it has one already, or that cannot be.
    if _has_one_sign(vector):
        return None
    shared = np.flatnonzero(vector * other)
    for ratio in np.unique(vector[shared] / other[shared]).tolist():
        one = vector - ratio * other
        one[np.abs(one) <= _EQUAL * np.abs(one).max()] = 0
        own = np.flatnonzero(one)
        if not _has_one_sign(one) or own.size > np.count_nonzero(vector):
            continue
        if np.linalg.matrix_rank(A[:, members[own]].toarray() * one[own], _EQUAL) == own.size - 1:
            return one / one[np.abs(one).argmax()]
    return None


def _has_one_sign(vector: FloatArray) -> bool:
    return not ((vector > 0).any() and (vector < 0).any())


def _groups(basis: Any) -> list[IndexPair]:
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
