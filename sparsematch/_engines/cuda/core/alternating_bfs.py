"""Searches along alternating paths, two at a time: what certificate, coarse parts and strong components are made of."""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.transpose import share
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR

_HUB = 4096  # as in reach.cu


class Search(NamedTuple):
    """One search.

    Attributes
    ----------
    graph : BipartiteCSR
        From its majors to its minors.
    mate : ndarray
        The major matched with each minor, or -1.
    seen : ndarray of uint32
        A bit for each minor: those that are not to be visited, to begin with, and those that were.
    queue : ndarray
        Room for one major more than there are minors and for those that the search begins with,
        which stand first.
    major_mate, owner : ndarray, optional
        The minor matched with each major; whose region each minor belongs to: that of the major
        from which it was reached, and of those to begin with, whatever stands there for their
        mates.
    """

    graph: BipartiteCSR
    mate: IndexArray
    seen: Any
    queue: IndexArray
    major_mate: IndexArray | None = None
    owner: IndexArray | None = None


def from_free(
    graph: BipartiteCSR, major_mate: IndexArray, minor_mate: IndexArray, count: IndexArray
) -> Search:
    """Prepare a search from all majors that are free; how many there are is written to the first of the counts."""
    xp, dtype = namespace(graph.indptr), graph.dtype
    queue = xp.empty(graph.n_major, dtype)
    if graph.n_major:
        sizes = dtype.type(graph.n_major)
        compile.load("core/alternating_bfs", dtype).launch(
            "seed", -(-graph.n_major // 8), sizes, major_mate, queue, count
        )
    return Search(graph, minor_mate, bits(xp, graph.n_minor), queue)


def reach(first: Search, second: Search | None, count: IndexArray, *, max_levels: int = 0) -> Any:
    """Run one or two searches; `count` has twelve numbers, the first and the seventh the majors they begin with.

    Returns
    -------
    ndarray of int32, shape (2,)
        Whether one of them met a free minor, which ends nothing; whether `max_levels` (0: as many
        as there are) did.
    """
    xp, dtype = namespace(count), first.graph.dtype
    flags, owned = xp.zeros(4, np.int32), np.bool_(first.owner is not None)
    arguments: list[Any] = []
    for search in (first, second or first):
        graph = search.graph
        hubs = xp.empty(graph.nnz // _HUB + 1, dtype)
        arguments += [
            graph.indptr,
            graph.indices,
            search.mate,
            search.seen,
            search.queue,
            hubs,
            np.int32(share(graph)),
        ]
        arguments += [
            search.mate if array is None else array for array in (search.major_mate, search.owner)
        ]
    end = owned, np.int32(max_levels), count, flags[2:], flags
    compile.load("core/alternating_bfs", dtype).launch_resident("reach", *arguments, *end)
    return flags[2:]


def bits(xp: Any, n: int) -> Any:
    """Return a set that holds none of n vertices."""
    return xp.zeros(n // 32 + 1, np.uint32)
