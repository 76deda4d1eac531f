"""The end of a search for strong components: the remaining graph, ordered on rank 0."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, IndexArray, IndexPair, groups
from sparsematch._engines.mpi.core.host import local_pattern
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.matching import Matching


def order_on_rank_0(side: Side, active: IndexArray, low: IndexArray) -> IndexPair:
    """Return the place of each active vertex, and where its component begins. Collective."""
    # `active`: the own active vertices; `low`: where the class of each row begins. Time: O(n log n
    # + edges) on rank 0, for n active vertices.
    exchange = side.exchange
    vertices = exchange.gatherv(active + side.first_major)
    classes = exchange.gatherv(low[active])
    degrees = exchange.gatherv(np.diff(side.indptr)[active])
    ends = exchange.gatherv(side.indices)
    place = start = None
    if vertices is not None and classes is not None and degrees is not None:
        place, start = _order(_with_diagonal(vertices, degrees, ends, side.dtype), classes)
    starts = exchange.starts_of(active.size)
    own_place = exchange.scatterv(starts, place, side.dtype)
    return own_place, exchange.scatterv(starts, start, side.dtype)


def _with_diagonal(vertices: Array, degrees: Array, ends: Any, dtype: Any) -> Any:
    """Return the pattern of the vertices, numbered as they stand, with a full diagonal."""
    n = vertices.size
    indptr = np.concatenate([[0], np.cumsum(degrees + 1)])
    indices = np.empty(int(indptr[-1]), dtype)
    is_diagonal = np.zeros(indices.size, bool)
    is_diagonal[indptr[:-1]] = True
    indices[is_diagonal] = np.arange(n, dtype=dtype)
    # vertices ascend, since ranks have consecutive rows
    indices[~is_diagonal] = np.searchsorted(vertices, ends)
    return local_pattern(indptr, indices, (n, n))


def _order(graph: Any, classes: Array) -> tuple[Array, Array]:
    """Return places and starts by class, then by block of the block form for the diagonal."""
    n = classes.size
    diagonal = np.arange(n, dtype=graph.dtype)
    matching = Matching(diagonal, diagonal.copy())
    labels = operations(DecompositionOps, "numpy").block_labels(graph, matching, Run(), None)
    order = np.lexsort((labels.row_group, classes))
    group, low = labels.row_group[order], classes[order]
    begins, of_class = groups(low)
    sorted_place = low + np.arange(n) - begins[of_class]
    starts, of_block = groups(low, group)
    place, start = np.empty(n, graph.dtype), np.empty(n, graph.dtype)
    place[order] = sorted_place
    start[order] = sorted_place[starts[of_block]]
    return place, start
