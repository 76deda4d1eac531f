"""Are arrays consistent; is a matching valid, maximal, maximum, in the user's rows and columns."""

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, mates, worthwhile
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import VertexCover
from sparsematch._types.matching import Matching

_EXCHANGED = {"row_disagrees": "col_disagrees", "col_disagrees": "row_disagrees"}


def wrong_pair(graph: BipartiteCSR, matching: Matching) -> tuple[str, int, int] | None:
    """Return the first thing wrong with a matching whose mates are within range."""
    flaw, row, col = _core.check_matching(csr(graph), mates(graph, matching))
    if flaw is None:
        return None
    return (_EXCHANGED.get(flaw, flaw) if graph.flipped else flaw, *graph.orient(row, col))


def free_pair(graph: BipartiteCSR, matching: Matching) -> tuple[int, int] | None:
    """Return an entry whose row and column are both unmatched. Time: O(n_major + nnz)."""
    _, row, col = _core.free_entry(csr(graph), mates(graph, matching))
    return None if row < 0 else graph.orient(row, col)


def vertex_cover(graph: BipartiteCSR, matching: Matching, workers: int = 1) -> VertexCover | None:
    """Return Koenig's cover, or None if the matching is not maximum."""
    in_cover = np.empty(graph.n_rows, bool), np.empty(graph.n_cols, bool)
    sides = mates(graph, matching), *graph.orient(*in_cover)
    if not _core.vertex_cover(csr(graph), *sides, worthwhile(workers, graph.nnz)):
        return None
    rows, cols = (np.flatnonzero(side).astype(graph.dtype, copy=False) for side in in_cover)
    return VertexCover(rows, cols)
