"""Where the duals of an assignment begin, and the auction that improves them, on the device."""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import lane_shift
from sparsematch._engines.cuda.core.layout import layout

#: Free rows up to which one block goes on alone.
NARROW = 512

#: Rounds of one launch, between which Ctrl-C is noticed, of matrices with up to ENTRIES entries;
#: with more, as a round may scan them all, fewer in proportion; 0.2 s on an H100.
ROUNDS, ENTRIES = 2_000, 20_000_000

load = compile.declare("weighted/auction", NARROW=NARROW)


class Assignment(NamedTuple):
    """A square matrix of costs whose rows can all be matched, and what is known of it, on a GPU."""

    indptr: IndexArray
    indices: IndexArray
    cost: FloatArray  #: One for each index, finite.
    row_mate: IndexArray
    col_mate: IndexArray
    row_dual: FloatArray
    col_dual: FloatArray

    @property
    def n(self) -> int:
        """Rows, and columns."""
        return self.row_mate.size

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the indices."""
        return self.indptr.dtype

    @property
    def rounds(self) -> int:
        """Rounds of one launch."""
        return max(ROUNDS * ENTRIES // max(self.indices.size, ENTRIES), 1)

    @property
    def shift(self) -> np.int32:
        """Lanes that share a row, as a power of two."""
        return np.int32(lane_shift(self.indices.size, self.n, each=4))


def initialise(problem: Assignment) -> None:
    """Write the least cost of each column to its dual. Time: O(nnz)."""
    kernels, n, nnz = load(problem.dtype), problem.n, problem.indices.size
    least = problem.col_dual.view(np.int64)
    least.fill(np.iinfo(np.int64).max)
    arrays = problem.indices, problem.cost.view(np.int64), least
    kernels.launch("column_minima", nnz, np.uint64(nnz), *arrays)
    kernels.launch("column_duals", n, problem.dtype.type(n), least)


def bid(problem: Assignment, eps: float, most: float, enough: int, limit: int) -> tuple[int, int]:
    """Let free rows bid until `enough` are left, or for `limit` rounds; return rounds and scans."""
    # A bid is `eps` at least and `most` at most. Waits.
    xp, n, dtype = namespace(problem.indptr), problem.n, problem.dtype
    kernels = load(dtype)
    free = xp.flatnonzero(problem.row_mate < 0)
    queue = xp.empty(2 * n, dtype)
    queue[: free.size] = free
    words = np.zeros(1, layout("weighted/auction", dtype, "Rounds"))
    words["count"][0, 0] = free.size
    control = xp.asarray(words.view(np.uint8))
    bids = {"to": xp.empty(n, dtype), "bid": xp.empty(n), "highest": xp.zeros(n, np.uint64)}
    state = kernels.struct("Auction", problem, v=problem.col_dual, queue=queue, **bids)
    bounds = np.float64(eps), np.float64(most)
    given = dtype.type(n), kernels.struct("Costs", problem), state, *bounds
    rounds, done = 0, False
    while not done and rounds < limit:
        rounds = min(rounds + problem.rounds, limit)
        numbers = problem.shift, np.uint64(enough), np.uint64(rounds), control
        kernels.launch_resident("bid_rounds", *given, *numbers, blocks_per_processor=2)
        words = kernels.read("Rounds", control)
        done = bool(words["done"])
    return int(words["round"]), int(words["scanned"])
