"""The directed graph of a square part over ranks, whose strong components are the fine blocks.

A vertex is a row of the square part with the column that it is matched to, and has the number of
the row; there is an edge from u to v for each entry of row u in the column of v. Lists of
successors are those of a `Side` whose majors and minors both are rows.
"""

from collections.abc import Callable

import numpy as np

from sparsematch._base.arrays import Array, BoolArray, IndexArray
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Maps majors and minors of entries to the numbers to write, and which entries are kept.
_Rewrite = Callable[[Array, Array], tuple[Array, BoolArray]]


def pair_graph(
    A: DistributedCSR, is_vertex: BoolArray, mate: IndexArray, exchange: Exchange
) -> Side:
    """Return the lists of successors, without loops. Collective."""
    # `is_vertex`: which own rows are in the square part; `mate`: the row of each own column of that
    # part, -1 for the others. Time: O(own entries). Workspace: the result, and slices.

    def translate(majors: Array, cols: Array) -> tuple[Array, BoolArray]:
        to = exchange.lookup(A.col_starts, cols, mate)
        return to, (to >= 0) & (to != majors) & is_vertex[majors - A.first_row]

    return _rewritten(Side.of_rows(A, exchange), np.empty_like(A.indices), translate)


def keep_within(side: Side, label: IndexArray) -> Side:
    """Return the graph with the edges between vertices of equal label, not -1. Collective."""
    # The lists given are overwritten. Time: O(own edges).
    exchange, first = side.exchange, side.first_major

    def judge(majors: Array, ends: Array) -> tuple[Array, BoolArray]:
        here = label[majors - first]
        keep = here >= 0
        own = (ends >= first) & (ends < first + side.n_majors)
        keep[own] &= label[ends[own] - first] == here[own]
        away = np.flatnonzero(keep & ~own)
        keep[away] = exchange.lookup(side.major_starts, ends[away], label) == here[away]
        return ends, keep

    return _rewritten(side, side.indices, judge)


def _rewritten(side: Side, out: IndexArray, rewrite: _Rewrite) -> Side:
    """Return the graph of the entries that are kept, which `out` has room for. Collective."""
    indptr, end_of_kept = np.zeros(side.n_majors + 1, np.int64), 0
    counts = indptr[1:]
    for begin, end in side.slices():
        majors = side.majors_of_entries(begin, end)
        written, keep = rewrite(majors, side.indices[begin:end])
        written = written[keep]
        if majors.size:
            low = int(majors[0])
            kept = np.bincount(majors[keep] - low)
            counts[low - side.first_major :][: kept.size] += kept
        out[end_of_kept : end_of_kept + written.size] = written
        end_of_kept += written.size
    np.cumsum(counts, out=counts)
    out.resize(end_of_kept, refcheck=False)  # in place: a copy would need memory for both
    return Side(indptr, out, (side.major_starts, side.major_starts), side.exchange)
