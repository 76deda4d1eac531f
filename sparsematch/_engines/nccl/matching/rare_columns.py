"""A maximum matching of the columns of fewest entries, found on one GPU before all others.

If their few rows were matched to other columns, only long augmenting paths would match them. It
also gives an upper bound: no matching has more of these columns. All their entries are gathered on
rank 0, where the engines for one GPU match them. An exact engine can start from that, as augmenting
paths keep matched columns matched.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.cuda.core.thresholds import RARE
from sparsematch._engines.nccl.matching.gathered import GATHERED
from sparsematch._engines.nccl.matching.proposals import Proposals
from sparsematch._engines.registry import Run, match_alone
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Most entries of rare columns; entries; if there are more, the largest degree is lowered.
LISTED = GATHERED // 8


def match_rare_columns(A: DistributedCSR, proposals: Proposals, run: Run) -> int | None:
    """Match the columns of fewest entries; return an upper bound on matched columns. Collective."""
    # None, and no pair matched, if approximate degrees were wrong. No vertex may be matched before.
    # Reads: matrix, degrees. Writes: both mates, bits of `proposals`. Workspace: a bit a column;
    # two indices an entry of rare ones, on rank 0 that of the engines. Time: O(own entries).
    xp, n_cols, nnz = namespace(A.indptr), np.int64(A.n_cols), A.local_nnz
    exchange, kernels, degree = proposals.exchange, proposals.kernels, proposals.degree
    columns, rare = xp.zeros(RARE + 1, np.int64), bit_set(xp, A.n_cols)
    kernels.launch("tally", compile.FILLING, n_cols, degree, columns)
    having = np.array(columns.tolist())
    entries = np.cumsum(having * np.arange(RARE + 1))
    fit = np.flatnonzero(entries <= LISTED)[-1]  # at least those without entries
    upto = min(int(fit), A.nnz // (4 * max(A.n_cols, 1)))
    kernels.launch("find_rare", rare.size, n_cols, degree, np.int32(upto), rare)
    capacity, found = min(int(entries[upto]), nnz) + 1, xp.zeros(1, np.int64)
    listed, state = xp.empty(2 * capacity, A.dtype), proposals.state(0)
    given = state, np.int64(nnz), rare, listed, np.int64(capacity), found
    kernels.launch("list_rare", -(-nnz // 8), *given)
    sizes = exchange.allgather_numbers([int(found[0]), capacity])
    if (sizes[:, 0] > sizes[:, 1]).any():
        return None  # degrees were wrong
    whole = exchange.gatherv(listed[: 2 * sizes[exchange.rank, 0]], 2 * sizes[:, 0])
    pairs = listed[:0]
    if whole is not None and whole.size:
        pairs = _match(A, whole, xp.flatnonzero(degree <= upto), run)
    sizes = exchange.allgather_numbers([pairs.size])[:, 0]  # all but that of rank 0 are zero
    arrived = exchange.allgather_others(pairs, sizes)
    pairs, size = arrived if exchange.rank else pairs, int(sizes[0])
    kernels.launch("adopt", size // 2, state, pairs, np.int64(size // 2))
    return A.n_cols - int(having[: upto + 1].sum()) + size // 2


def _match(A: DistributedCSR, entries: Any, cols: Any, run: Run) -> Any:
    """Return the pairs of a maximum matching of some columns, given all their entries."""
    xp, n_cols = namespace(entries), int(cols.size)
    number = xp.searchsorted(cols, entries[1::2])
    ends = xp.zeros(n_cols + 1, A.dtype)
    ends[1:] = xp.cumsum(xp.bincount(number, minlength=n_cols))
    rows = xp.ascontiguousarray(entries[0::2][xp.argsort(number)])
    graph = BipartiteCSR(n_cols, A.n_rows, ends, rows, "cupy", False, int(rows.size))
    mates = Matching(*(xp.full(n, -1, A.dtype) for n in (n_cols, A.n_rows)))
    match_alone(graph, mates, run, options={"host": False})
    matched = xp.flatnonzero(mates.row_mate >= 0)
    pairs = xp.empty(2 * matched.size, A.dtype)
    pairs[0::2] = mates.row_mate[matched]
    pairs[1::2] = cols[matched]
    return pairs
