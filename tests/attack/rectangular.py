"""Ranks, null spaces and dependences of any shape, against exact ranks modulo a prime.

Integers, thin, of low rank, with dependent rows or columns, edges of graphs, up to 12 x 12; units
over 12 orders, of rows and of columns; a quarter is complex. What fails: another rank; a basis of
rows or columns that is none; a row said to be redundant, or a variable to be undetermined, that is
not, or the other way round; a named set that is not dependent, or with a member to spare.
"""

import numpy as np
import scipy.sparse as sp

from exact_ranks import exact_rank, in_units, integers
from sparsematch import explain_singularity
from sparsematch.solvers import null_space


def case(rng):
    """Yield what is wrong with one matrix."""
    M = integers(rng)
    A, rank = sp.csr_array(in_units(M, rng)), exact_rank(M)
    for side, exact in (("right", M), ("left", M.T)):
        found = null_space(A, side=side)
        if found.rank != rank:
            yield f"null_space, {side}: rank {found.rank} instead of {rank}"
        elif exact_rank(exact[:, found.independent]) != rank:
            yield f"null_space, {side}: dependent ones are said to be independent"
        for vector in found.vectors.toarray().T:
            members = np.flatnonzero(vector)
            if exact_rank(exact[:, members]) != members.size - 1:
                yield f"null_space, {side}: {members} is no circuit"
    if M.shape[0] != M.shape[1]:
        yield from wrong_roles(explain_singularity(A, numeric=True).numbers, M, rank)


def wrong_roles(found, M, rank):
    """Yield what is wrong with an explanation."""
    if (found.rank, found.is_complete) != (rank, True):
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
        for one in sets:
            if exact_rank(exact[one.indices]) != one.size - 1:
                yield f"{one.indices}: no minimal set of {one.side}"
