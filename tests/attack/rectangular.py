"""Ranks, null spaces and dependences of any shape, against exact ranks modulo a prime.

Integers, thin, of low rank, with dependent rows or columns, edges of graphs, up to 12 x 12; units
over 12 orders, of rows and of columns; a quarter is complex. What fails: another rank; a basis of
rows or columns that is none; a row said to be redundant, or a variable to be undetermined, that is
not, or the other way round; a named set that is not dependent, or with a member to spare; sets that
do not span the null space; a null vector that leaves a residual.
"""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from exact_ranks import exact_rank, in_units, integers
from sparsematch import explain_singularity
from sparsematch.solvers import null_space


def case(rng):
    """Yield what is wrong with one matrix."""
    M = integers(rng)
    A = in_units(M, rng)
    for side, of, exact in (("right", A, M), ("left", A.T, M.T)):
        for words in wrong_basis(null_space(sp.csr_array(A), side=side), of, exact):
            yield f"null_space, {side}: {words}"
    if M.shape[0] == M.shape[1]:
        M, A = M[1:], A[1:]
    if M.size:
        yield from wrong_roles(explain_singularity(sp.csr_array(A), numeric=True).numbers, M)


def wrong_basis(found, A, M):
    """Yield what is wrong with a sparse basis of the right null space of A, whose numbers M are."""
    if (found.rank, found.is_settled) != (exact_rank(M), True):
        yield f"rank {found.rank}, settled {found.is_settled}, instead of {exact_rank(M)}"
    elif exact_rank(M[:, found.independent]) != found.rank:
        yield "dependent ones are said to be independent"
    vectors = found.vectors.toarray()
    if not np.array_equal(vectors[found.free], np.eye(found.nullity)):
        yield "free ones are not those of an identity"
    rows = A / np.maximum(np.abs(A).max(axis=1, initial=0, keepdims=True), np.finfo(float).tiny)
    terms = (np.abs(rows) @ np.abs(vectors)).max(axis=0, initial=np.finfo(float).tiny)
    left = (np.abs(rows @ vectors) / terms).max(initial=0)
    if left > 1e-9 or (A.any() and found.residuals.max(initial=0) > 1e-12):
        yield f"residuals {left:.1e}, {found.residuals.max():.1e} by its own account"
    yield from wrong_circuits(map(np.flatnonzero, vectors.T), M.T)


def wrong_circuits(sets, M):
    """Yield the sets of rows that are not dependent, or stay so without one of their members."""
    for members in sets:
        if exact_rank(M[members]) != members.size - 1:
            yield f"{members} is no circuit"


def wrong_roles(found, M):
    """Yield what is wrong with an explanation."""
    rank = exact_rank(M)
    if (found.rank, found.is_settled, found.is_complete) != (rank, True, True):
        yield f"explained: {found}, complete {found.is_complete}, instead of {rank}"
    sides = (found.redundant_rows, found.basis_rows, found.equations, M)
    for spare, basis, sets, exact in (
        sides,
        (found.undetermined_cols, found.basis_cols, found.variables, M.T),
    ):
        if not basis.size == exact_rank(exact[basis]) == rank:
            yield f"{basis} is no basis"
        without = [exact_rank(np.delete(exact, i, 0)) == rank for i in range(exact.shape[0])]
        if not np.array_equal(np.flatnonzero(without), spare):
            yield f"{spare} can be spared instead of {np.flatnonzero(without)}"
        yield from wrong_circuits([one.indices for one in sets], exact)
        vectors = np.zeros((len(sets), exact.shape[0]), complex)
        for vector, one in zip(vectors, sets, strict=True):
            vector[one.indices] = one.coefficients
        if len(sets) != exact.shape[0] - rank or any(a.size > b.size for a, b in pairwise(sets)):
            yield f"{len(sets)} sets, not {exact.shape[0] - rank}, the smallest first"
        elif sets and np.linalg.matrix_rank(vectors) < len(sets):
            yield "sets that depend on each other"
