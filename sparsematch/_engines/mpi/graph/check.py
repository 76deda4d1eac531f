"""Entries of a graph over ranks without a partner, and what takes their place."""

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import FloatArray
from sparsematch._engines.edges import merge_larger, places
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._types.over_ranks.graph_part import GraphPart

_Places = NDArray[np.int64]


def first_infinite(part: GraphPart) -> tuple[int, int, float]:
    """Return the first entry off the diagonal that is not finite, and its value. Collective."""
    with abort_on_error(part.layout.comm):
        found = None
        if part.weight is not None:
            rows, cols = places(part)
            rows += part.layout.first_row
            wrong = np.flatnonzero(~np.isfinite(part.weight) & (rows != cols))
            if wrong.size:
                p = int(wrong[0])
                found = int(rows[p]), int(cols[p]), float(part.weight[p])
        entry: tuple[int, int, float] = Exchange(part.layout.comm).first(found)
        return entry


def one_sided_entry(part: GraphPart) -> tuple[int, int] | None:
    """Return the first entry whose partner across the diagonal is absent or differs in magnitude.

    The entries must ascend. Collective.
    """
    with abort_on_error(part.layout.comm):
        exchange = Exchange(part.layout.comm)
        here, (there, weight) = _places(part), _mirrored(part, exchange)
        size, end = max(here.size, there.size), (part.indptr.size - 1) * part.n
        order = np.argsort(there)
        there = np.append(there[order], np.full(size - there.size, end))
        differ = np.append(here, np.full(size - here.size, end)) != there
        if part.weight is not None and weight is not None:
            both = slice(min(here.size, weight.size))
            differ[both] |= np.abs(part.weight[both]) != weight[order][both]
        place = None
        if differ.any():
            p = int(np.flatnonzero(differ)[0])
            mine = int(here[p]) if p < here.size else end
            i, j = divmod(min(mine, int(there[p])), part.n)
            i += part.layout.first_row
            place = (i, j) if mine <= there[p] else (j, i)
        first: tuple[int, int] | None = exchange.first(place)
        return first


def take_larger(part: GraphPart) -> GraphPart:
    """Return the graph whose edges weigh the larger of two entries. Collective.

    Time: O(own entries log(own entries)).
    """
    with abort_on_error(part.layout.comm):
        return merge_larger(part, _places(part), _mirrored(part, Exchange(part.layout.comm)))


def _places(part: GraphPart) -> _Places:
    """Return the places of the own entries as numbers, ascending as the entries do."""
    rows, cols = places(part)
    return rows * part.n + cols


def _mirrored(part: GraphPart, exchange: Exchange) -> tuple[_Places, FloatArray | None]:
    """Return place and magnitude of the entries whose transposed entry is in an own row."""
    starts = part.layout.row_starts
    side = Side(part.layout.indptr, part.indices, (starts, starts), exchange)
    side.indptr = part.indptr.astype(np.int64)
    arrived = []
    for begin, end in side.slices():
        columns = [part.indices[begin:end], side.majors_of_entries(begin, end)]
        if part.weight is not None:
            columns.append(np.abs(part.weight[begin:end]))
        arrived.append(exchange.alltoallv(starts, *columns))
    rows, cols, *weight = (np.concatenate(column) for column in zip(*arrived, strict=True))
    code = (rows - part.layout.first_row).astype(np.int64) * part.n + cols
    return code, weight[0] if weight else None
