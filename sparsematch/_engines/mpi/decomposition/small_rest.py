"""What is left of a search for strong components, gathered on one rank and ordered there."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.host import local_pattern
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.mpi.decomposition.places import Places
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.arrays import IndexArray
from sparsematch._types.matching import Matching

_Array = NDArray[Any]

#: Vertices and edges, up to which the rest is gathered: some 30 MB of workspace.
SMALL = 1_000_000


def order_on_one(
    side: Side, here: IndexArray, low: IndexArray, places: Places
) -> tuple[IndexArray, IndexArray]:
    """Return the place of each vertex that is left, and where its component begins. Collective.

    `here` are these vertices, `low` is where the class of each row begins. Time: on one rank,
    O(n log n + edges) of what is left.
    """
    exchange = side.exchange
    vertices = exchange.gather(here + side.first_major)
    classes = exchange.gather(low[here])
    degrees = exchange.gather(np.diff(side.indptr)[here])
    ends = exchange.gather(side.indices)
    counts = exchange.everywhere(np.array([here.size]))
    place = start = None
    if vertices is not None and classes is not None and degrees is not None:
        graph = _with_diagonal(vertices, degrees, ends, side.dtype)
        place, start = _order(graph, classes)
    starts = np.concatenate([[0], np.cumsum(counts)])
    own_place = exchange.scatter(starts, place, side.dtype)
    return own_place, exchange.scatter(starts, start, side.dtype)


def _with_diagonal(vertices: _Array, degrees: _Array, ends: Any, dtype: Any) -> Any:
    """Return the pattern of the vertices, numbered as they stand, with a full diagonal."""
    n = vertices.size
    indptr = np.concatenate([[0], np.cumsum(degrees + 1)])
    indices = np.empty(int(indptr[-1]), dtype)
    is_diagonal = np.zeros(indices.size, bool)
    is_diagonal[indptr[:-1]] = True
    indices[is_diagonal] = np.arange(n, dtype=dtype)
    # they ascend, since ranks have consecutive rows
    indices[~is_diagonal] = np.searchsorted(vertices, ends)
    return local_pattern(indptr, indices, (n, n))


def _order(graph: Any, classes: _Array) -> tuple[_Array, _Array]:
    """Return places and starts by class, then by block of the block form of a full diagonal."""
    n = classes.size
    diagonal = np.arange(n, dtype=graph.dtype)
    labels = operations(DecompositionOps, "numpy").block_labels(
        graph, Matching(diagonal, diagonal.copy()), Run(), None
    )
    order = np.lexsort((labels.row_group, classes))
    group, low = labels.row_group[order], classes[order]
    begins = np.flatnonzero(np.diff(low, prepend=-1))
    sorted_place = low + np.arange(n) - np.repeat(begins, np.diff(begins, append=n))
    is_start = np.diff(low, prepend=-1).astype(bool) | np.diff(group, prepend=-1).astype(bool)
    starts = np.flatnonzero(is_start)
    place, start = np.empty(n, graph.dtype), np.empty(n, graph.dtype)
    place[order] = sorted_place
    start[order] = np.repeat(sorted_place[starts], np.diff(starts, append=n))
    return place, start
