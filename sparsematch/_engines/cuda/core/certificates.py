"""Certificates on the device: consistent arrays, a matching, a maximal one, a maximum one."""

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.alternating_bfs import reached_from_free
from sparsematch._engines.cuda.core.device import HostNumbers
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import VertexCover
from sparsematch._types.matching import FLAWS, Matching

_ROW, _COLUMN, _ENTRY = FLAWS

_load = compile.declare("core/certificates")


def count_entries(graph: BipartiteCSR) -> int:
    """Return the number of entries, -1 if arrays, whose lengths fit, are inconsistent; waits."""
    report = HostNumbers(namespace(graph.indptr), 2)
    sizes = (graph.dtype.type(n) for n in (graph.n_major, graph.n_minor, graph.indices.size))
    threads = min(max(graph.n_major, graph.indices.size), compile.FILLING)
    arrays = graph.indptr, graph.indices, report.pointer
    _load(graph.dtype).launch("check", threads, *sizes, *arrays)
    wrong, nnz = report.read()
    return -1 if wrong else int(nnz)


def wrong_pair(graph: BipartiteCSR, matching: Matching) -> tuple[str, int, int] | None:
    """Return the first thing wrong with a matching whose mates are within range."""
    n_major, n_minor = graph.n_major, graph.n_minor
    if not n_major + n_minor:
        return None
    mates = graph.orient(matching.row_mate, matching.col_mate)
    none = np.iinfo(np.int64).max
    first = namespace(graph.indptr).full(1, none, np.int64)
    sizes = graph.dtype.type(n_major), graph.dtype.type(n_minor)
    arrays = graph.indptr, graph.indices, *mates, first
    _load(graph.dtype).launch("wrong_pair", n_major + n_minor, *sizes, *arrays)
    place = int(first[0])
    if place == none:
        return None
    of_major, of_minor = graph.orient(_ROW, _COLUMN)
    if place >= 2 * n_major:
        minor = place - 2 * n_major
        return (of_minor, *graph.orient(int(mates[1][minor]), minor))
    major = place // 2
    return (_ENTRY if place % 2 else of_major, *graph.orient(major, int(mates[0][major])))


def free_pair(graph: BipartiteCSR, matching: Matching) -> tuple[int, int] | None:
    """Return an entry whose row and column are both unmatched. Time: O(n_major + nnz)."""
    if not graph.n_major:
        return None
    pair = namespace(graph.indptr).full(2, -1, graph.dtype)
    arrays = graph.indptr, graph.indices, *graph.orient(matching.row_mate, matching.col_mate), pair
    _load(graph.dtype).launch("free_pair", graph.n_major, graph.dtype.type(graph.n_major), *arrays)
    major, minor = (int(v) for v in pair.tolist())
    return None if major < 0 else graph.orient(major, minor)


def vertex_cover(graph: BipartiteCSR, matching: Matching) -> VertexCover | None:
    """Return Koenig's cover, or None if the matching is not maximum."""
    mates = graph.orient(matching.row_mate, matching.col_mate)
    majors, minors, found = reached_from_free(graph, *mates)
    if int(found[0]):
        return None
    in_cover = (namespace(side).flatnonzero(side) for side in graph.orient(~majors, minors))
    return VertexCover(*(side.astype(graph.dtype, copy=False) for side in in_cover))
