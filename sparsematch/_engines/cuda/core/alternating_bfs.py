"""Alternating breadth-first searches, two at a time: for certificates, coarse parts, blocks."""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import BoolArray, IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set, lanes_of
from sparsematch._engines.cuda.core.host_fallback import Allowance
from sparsematch._types.bipartite import BipartiteCSR

#: Entries from which a list is left to all threads, one level later.
HUB = 4096

#: Numbers that two searches count in, and where those of the second begin.
COUNTS, SECOND = 12, 6

load = compile.declare("core/alternating_bfs", HUB=HUB)


class AlternatingSearch(NamedTuple):
    """One search."""

    graph: BipartiteCSR  #: From its majors to its minors.
    minor_mate: IndexArray  #: The major matched with each minor, or -1.
    #: uint32: a bit for each minor: those not to be visited, to begin with, and those that were.
    seen: Any
    #: Room for one major more than minors and for those to begin with, which stand first.
    queue: IndexArray
    #: The minor matched with each major; whose region each minor belongs to: that of the major from
    #: which it was reached, and of those to begin with, whatever stands there for their mates.
    major_mate: IndexArray | None = None
    owner: IndexArray | None = None


def from_free(
    graph: BipartiteCSR, major_mate: IndexArray, minor_mate: IndexArray, count: IndexArray
) -> AlternatingSearch:
    """Prepare a search from all free majors, whose number is written to the first of the counts."""
    xp, dtype = namespace(graph.indptr), graph.dtype
    queue = xp.empty(graph.n_major, dtype)
    if graph.n_major:
        sizes = dtype.type(graph.n_major)
        load(dtype).launch("seed", -(-graph.n_major // 8), sizes, major_mate, queue, count)
    return AlternatingSearch(graph, minor_mate, bit_set(xp, graph.n_minor), queue)


def reach(
    first: AlternatingSearch,
    second: AlternatingSearch | None,
    count: IndexArray,
    *,
    max_levels: int = 0,
    allowance: Allowance | None = None,
) -> Any:
    """Run one or two searches; the first counts of each are the majors that they begin with."""
    # Returns two int32: whether one of them met a free minor, which ends nothing; whether
    # `max_levels` (0: as many as there are) did. Where the allowance was used up they mean nothing.
    xp, kernels = namespace(count), load(first.graph.dtype)
    flags = xp.zeros(4, np.int32)
    searches = []
    for search, widths in ((first, count), (second or first, count[SECOND:])):
        graph, hubs = search.graph, xp.empty(search.graph.nnz // HUB + 1, first.graph.dtype)
        own = {"hubs": hubs, "widths": widths, "shift": lanes_of(graph)}
        searches.append(kernels.struct("AlternatingSearch", search, graph, **own))
    limits = np.int32(max_levels), (allowance or Allowance(None, 0)).struct(kernels)
    kernels.launch_resident("reach", *searches, *limits, flags[2:], flags)
    return flags[2:]


def reached_from_free(
    graph: BipartiteCSR, major_mate: IndexArray, minor_mate: IndexArray
) -> tuple[BoolArray, BoolArray, Any]:
    """Return which majors and minors are reached from free majors, and what `reach` returns."""
    xp = namespace(graph.indptr)
    count = xp.zeros(COUNTS, graph.dtype)
    search = from_free(graph, major_mate, minor_mate, count)
    flags = reach(search, None, count)
    bits = xp.unpackbits(search.seen.view(np.uint8), bitorder="little")
    minors = bits[: graph.n_minor].view(bool)
    majors = major_mate < 0
    pairs = xp.flatnonzero(major_mate >= 0)
    majors[pairs] = minors[major_mate[pairs]]
    return majors, minors, flags
