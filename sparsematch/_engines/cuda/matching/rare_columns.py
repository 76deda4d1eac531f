"""A maximum matching of the columns of fewest entries, found before all others.

Once their few rows have other mates, only searches that read most of the matrix get them back. And
it bounds every matching: none has more of these columns. An exact engine can start from that, as
augmenting paths leave no column without a mate that has one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core.compile import FILLING, Kernels
from sparsematch._engines.cuda.core.device import bit_set, start_copy
from sparsematch._engines.cuda.core.thresholds import RARE
from sparsematch._engines.cuda.core.transpose import count_entries
from sparsematch._engines.cuda.matching import cheap, ms_bfs
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

#: Entries from which on it pays: it takes thirty launches, as long as a phase that reads these.
LEAST = 1 << 22


def match_rare_columns(
    kernels: Kernels, graph: BipartiteCSR, matching: Matching, degree: Any, matched: Any, run: Run
) -> Callable[[], int] | None:
    """Match the minors of fewest entries; return what tells how many pairs any matching has."""
    # At most; it waits. None, and nothing is matched, if there are none, or degrees were counted
    # wrong. No vertex may be matched before. Reads: the graph, about how many entries each minor
    # has. Writes: both mates, matched. Workspace: a bit for each minor, four indices for each of
    # their entries, an index for each major, and that of the engines. Time: O(nnz).
    xp, n_cols, nnz, index = namespace(degree), graph.n_minor, graph.nnz, graph.dtype.type
    columns, rare = xp.zeros(RARE + 1, np.int64), bit_set(xp, n_cols)
    kernels.launch("tally", FILLING, np.int64(n_cols), degree, columns)
    upto = min(RARE, nnz // (4 * max(n_cols, 1)))
    having = columns.tolist()[: upto + 1]  # waits
    room = min(sum(k * n for k, n in enumerate(having)), nnz)
    if not room:
        return None
    kernels.launch("find_rare", rare.size, np.int64(n_cols), degree, np.int32(upto), rare)
    before = xp.zeros(rare.size + 1, graph.dtype)
    kernels.launch("count_rare", rare.size, index(rare.size), rare, before)
    xp.cumsum(before, dtype=before.dtype, out=before)
    entries, number = xp.empty((2, room), graph.dtype)
    n_found = xp.zeros(1, np.int64)
    lists = {"entries": entries, "number": number, "room": room}
    state = kernels.struct("RareColumns", rare=rare, before=before, found=n_found, **lists)
    kernels.launch("list_rare", -(-nnz // 8), np.int64(nnz), graph.indices, state)
    listed = int(n_found[0])  # waits
    if not 0 < listed <= room:
        return None  # degrees were counted wrong
    place, begin = count_entries(number[:listed], sum(having))
    rows = xp.empty(listed, graph.dtype)
    given = index(listed), index(graph.n_major), graph.indptr, state, place, begin, rows
    kernels.launch("group_rare", listed, *given)
    rest = BipartiteCSR(sum(having), graph.n_major, begin, rows, graph.backend, known_nnz=listed)
    found, alone = Matching.start(rest), Run(run.workers, run.seed)
    cheap.improve(rest, found, alone)
    ms_bfs.search((rest, found, alone, None), None, 0, **ms_bfs.in_place(graph.dtype))
    free = xp.zeros(1, graph.dtype)
    mates = graph.orient(matching.row_mate, matching.col_mate)
    arrays = found.row_mate, *mates, matched, free
    kernels.launch("adopt_rare", rare.size, index(rare.size), state, *arrays)
    left = start_copy(free)
    return lambda: n_cols - int(left()[0])
