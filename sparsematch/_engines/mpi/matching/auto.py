"""The default over ranks: alone if there is one, gathered if the matrix is small, else together.

See `core/cases.py`. The features are the number of ranks, the size of the matrix, and the share of
entries near the diagonal, by an allreduce.
"""

from sparsematch._engines.mpi.core.cases import Cases
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.host import GATHERED, is_small
from sparsematch._engines.mpi.core.sides import Before, Side
from sparsematch._engines.mpi.matching import by_rank, karp_sipser, ms_bfs
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = (
    "One rank alone, a small matrix on one of them; else a heuristic, then one search over all."
)

#: Least (share - 1/ranks) / (1 - 1/ranks) for `by_rank`; share: entries in the columns lent to
#: their rank. 0 is a random numbering, 1 a block diagonal one.
NEAR = 0.5


def _start(A: DistributedCSR, matching: DistributedMatching, run: Run, before: Before) -> Before:
    """Match rank by rank if most entries are near the diagonal, else by Karp-Sipser."""
    near = by_rank.share_of_lent(Side.of_rows(A, Exchange(A.comm)))
    by_chance = 1 / A.n_ranks
    start = by_rank if near >= by_chance + NEAR * (1 - by_chance) else karp_sipser
    found = start.improve(A, matching, run, before)
    why = f"{near:.0%} of the entries are in columns with the numbers of the rows"
    run.steps.amend_last(reason=why)
    return found


improve = Cases(
    fits_alone=lambda _: True,
    is_small=is_small,
    small=f"at most {GATHERED:,} rows, columns and entries: gathered on rank 0",
    start=_start,
    search=ms_bfs.improve,
    together="the remaining augmenting paths may lead through several ranks",
).improve
