"""A maximum matching of the columns of fewest entries, found on one GPU before all others.

Once their few rows have other mates, only searches that read most of the matrix get them back. And
it bounds every matching: of these columns, no other has more. All their entries are gathered on
rank 0, where the engines for one GPU do the work. That some maximum matching of the whole has all
the columns that this one has is a theorem of Dulmage and Mendelsohn (Canad. J. Math. 10, 1958).
"""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching.entries import list_entries
from sparsematch._engines.nccl.matching.gathered import GATHERED, gather
from sparsematch._engines.registry import Run, select
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.matching import Matching

#: Columns of at most so many entries, and of a quarter of the mean, and as many as have this number
#: of entries together.
RARE, LISTED = 6, GATHERED // 8


class RareMatching(NamedTuple):
    """A maximum matching of the rare columns, on all ranks.

    Attributes
    ----------
    cols : int
        How many there are.
    n : int
        How many are matched.
    pairs : array
        A row and a column for each.
    """

    cols: int
    n: int
    pairs: Any


def match_rare_columns(
    A: DistributedCSR, exchange: Exchange, kernels: Kernels, degree: Any, run: Run
) -> RareMatching | None:
    """Match the columns of fewest entries; None if they have too many of them. Collective.

    Reads: the matrix, and about how many entries each column has. Workspace: a bit for each column;
    two indices for each of their entries, on rank 0 that of the engines. Time: O(own entries).
    """
    xp, n_cols = namespace(A.indptr), np.int64(A.n_cols)
    columns, rare = xp.zeros(RARE + 1, np.int64), bit_set(xp, A.n_cols)
    kernels.launch("tally", 1 << 18, n_cols, degree, columns)
    having = np.array(columns.tolist())
    entries = np.cumsum(having * np.arange(RARE + 1))
    fit = np.flatnonzero(entries <= LISTED)[-1]  # at least those without entries
    upto = min(int(fit), A.nnz // (4 * max(A.n_cols, 1)))
    kernels.launch("find_rare", rare.size, n_cols, degree, np.int32(upto), rare)
    listed = list_entries(kernels, A, rare, min(int(entries[upto]), A.local_nnz) + 1)
    sizes = exchange.share([int(listed.found[0]), listed.room])
    if (sizes[:, 0] > sizes[:, 1]).any():
        return None  # degrees were counted wrong
    whole = gather(exchange, listed.entries[: 2 * sizes[exchange.rank, 0]], 2 * sizes[:, 0])
    pairs = whole[:0]
    if exchange.rank == 0:
        pairs = _match(A, whole, xp.flatnonzero(degree <= upto), run)
    n = int(exchange.share([pairs.size])[0, 0])
    arriving = np.zeros(exchange.size, np.int64)
    if exchange.rank:
        arriving[0] = n
    arrived = exchange.swap([pairs] * exchange.size, arriving)
    return RareMatching(int(having[: upto + 1].sum()), n // 2, arrived if exchange.rank else pairs)


def _match(A: DistributedCSR, entries: Any, cols: Any, run: Run) -> Any:
    """Return the pairs of a maximum matching of some columns, of which all entries are given."""
    xp, n_cols = namespace(entries), int(cols.size)
    number = xp.searchsorted(cols, entries[1::2])
    ends = xp.zeros(n_cols + 1, A.dtype)
    ends[1:] = xp.cumsum(xp.bincount(number, minlength=n_cols))
    rows = xp.ascontiguousarray(entries[0::2][xp.argsort(number)])
    graph = BipartiteCSR(n_cols, A.n_rows, ends, rows, "cupy", False, int(rows.size))
    mates = Matching(*(xp.full(n, -1, A.dtype) for n in (n_cols, A.n_rows)))
    alone = Run(run.workers, run.seed, options={"host": False})
    select("auto", "cupy", "exact", argument="method").improve(graph, mates, alone)
    matched = xp.flatnonzero(mates.row_mate >= 0)
    pairs = xp.empty(2 * matched.size, A.dtype)
    pairs[0::2] = mates.row_mate[matched]
    pairs[1::2] = cols[matched]
    return pairs
