"""Maximal matching by proposals: free rows propose to columns, a free column accepts one proposal.

Rounds as in Azad, Buluc, Distributed-memory algorithms for maximal cardinality matching using
matrix algebra (IEEE Cluster 2015). In a round a free row proposes to the next columns of its list,
twice as many as in the round before; a free column grants one proposal, drawn by a hash of the
round and the seed; a row is matched to the first column that grants, and skips matched ones.

Invariant: the columns that a row has skipped are matched, and stay matched.
"""

import numpy as np

from sparsematch._base.arrays import Array
from sparsematch._engines.mpi.core.sides import Side, first_of_each
from sparsematch._engines.mpi.core.steps import Account, step
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Free rows propose to free columns, in rounds of one grant a column."

_MATCHED, _DENIED, _GRANTED = 0, 1, 2

#: Most proposals of a row in one round; columns.
_WIDEST = 1 << 10

_Pair = tuple[Array, Array]


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run, _: object = None) -> None:
    """Make the matching maximal. Collective."""
    # Reads: the matrix. Writes: both mates. Workspace: a place per free row, and slices. Time:
    # O(nnz / ranks), expected; the rounds are about the logarithm of the longest list.
    with step("cheap", A, matching.row_mate, run) as (exchange, account):
        mates = matching.row_mate, matching.col_mate
        propose(Side.of_rows(A, exchange), mates, run.seed, account)


def propose(
    side: Side, mates: _Pair, seed: int, account: Account, majors: Array | None = None
) -> None:
    """Propose until no free major has a free minor. Collective."""
    # `mates`: of majors, of minors; `majors`: the own free ones that may have one, if known.
    if majors is None:
        majors = np.flatnonzero((mates[0] < 0) & (np.diff(side.indptr) > 0))
    begin = side.indptr[majors]
    width = 1
    while side.exchange.any(majors.size > 0):
        account.rounds += 1
        end = np.minimum(begin + width, side.indptr[majors + 1])
        left = np.empty(majors.size, bool)
        for part in side.cut(end - begin, together=True):
            window, drawn = (begin[part], end[part]), seed + account.rounds
            begin[part], left[part] = _round(side, majors[part], window, mates, drawn, account)
        keep = left & (begin < side.indptr[majors + 1])
        majors, begin = majors[keep], begin[keep]
        width = min(2 * width, _WIDEST)


def _round(
    side: Side, majors: Array, window: _Pair, mates: _Pair, seed: int, account: Account
) -> _Pair:
    """Propose once; return the next place in the list of each major, and which are still free."""
    (begin, end), (major_mate, minor_mate) = window, mates
    exchange, counts = side.exchange, end - begin
    entries = np.repeat(begin - (np.cumsum(counts) - counts), counts)
    entries += np.arange(entries.size)
    account.edges += entries.size
    proposer = np.repeat(np.arange(majors.size), counts)
    minors = side.indices[entries]

    def grant(keys: Array) -> Array:
        own = keys - side.first_minor
        answers = np.where(minor_mate[own] >= 0, _MATCHED, _DENIED).astype(np.int8)
        free = np.flatnonzero(answers)
        free = free[np.argsort(mixed(free, seed), kind="stable")]
        answers[free[first_of_each(own[free], np.empty(side.n_minors, np.int32))]] = _GRANTED
        return answers

    answers = exchange.query(side.minor_starts, minors, grant)
    granted = np.flatnonzero(answers == _GRANTED)
    granted = granted[first_of_each(proposer[granted], np.empty(majors.size, np.int32))]
    winners = majors[proposer[granted]]
    major_mate[winners] = minors[granted]
    numbers = (winners + side.first_major).astype(side.dtype)
    keys, values = exchange.alltoallv(side.minor_starts, minors[granted], numbers)
    minor_mate[keys - side.first_minor] = values
    # each list continues at its first minor that was free
    next_ = end.copy()
    free = np.flatnonzero(answers)
    np.minimum.at(next_, proposer[free], entries[free])
    return next_, major_mate[majors] < 0


def mixed(numbers: Array, seed: int) -> Array:
    """Return a hash of numbers and a seed: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        x = numbers.astype(np.uint64) + np.uint64(seed % 2**64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
