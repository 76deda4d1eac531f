"""The three cases of the default over ranks, in host memory or on their GPUs.

*Alone*: one rank has the whole matrix, and `auto` of the memory that it is in matches it.
*Gathered*: the matrix is small; rank 0 gathers it, matches it likewise, and scatters the mates, as
rounds between ranks would take longer than the whole work. *Together*: else; a heuristic, then a
search over all ranks. The decision depends on values known to all ranks, so it is the same on all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexPair, n_set, namespace
from sparsematch._engines.mpi.core.exchange import abort_on_error, exchange_of
from sparsematch._engines.registry import ByProducts, Run, match_alone
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.mates import Mates
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

_Improve = Callable[[DistributedCSR, DistributedMatching, Run, Any], ByProducts | None]


@dataclass(frozen=True, kw_only=True)
class Cases:
    """What differs between back-ends in the three cases."""

    fits_alone: Callable[[DistributedCSR], bool]  #: Whether one rank can match a matrix alone.
    is_small: Callable[[DistributedCSR], bool]  #: Whether a matrix is gathered. Collective.
    small: str  #: The same in words: the reason given for the step.
    #: Heuristic and exact engine over all ranks. Collective.
    start: _Improve
    search: _Improve
    together: str  #: Why the search is over all ranks.

    def improve(
        self, A: DistributedCSR, matching: DistributedMatching, run: Run, before: Any = None
    ) -> None:
        """Make the matching maximum. Collective."""
        with abort_on_error(A.comm):
            if A.n_ranks == 1 and self.fits_alone(A):
                _match_whole(A, (A.indptr, A.indices), matching, run)
            elif A.n_ranks > 1 and self.is_small(A):
                _match_gathered(A, matching, run, self.small)
            else:
                if not run.warm:
                    before = self.start(A, matching, run, before)
                self.search(A, matching, run, before)
                run.steps.amend_last(reason=self.together)


def _match_gathered(A: DistributedCSR, matching: DistributedMatching, run: Run, why: str) -> None:
    """Match on rank 0; every rank gets the account, with the exchanges in its last step."""
    xp, before = namespace(A.indptr), len(run.steps)
    exchange = exchange_of(A.comm, A.indptr)
    degrees = exchange.gatherv(xp.diff(A.indptr).astype(A.dtype))
    indices = exchange.gatherv(A.indices)
    mates: Any = [exchange.gatherv(mate) for mate in (matching.row_mate, matching.col_mate)]
    if exchange.rank == 0:
        indptr = xp.zeros(A.n_rows + 1, np.int64)
        indptr[1:] = xp.cumsum(degrees)
        _match_whole(A, (indptr, indices), Matching(*mates), run)
    matching.row_mate[:] = exchange.scatterv(A.row_starts, mates[0], A.dtype)
    matching.col_mate[:] = exchange.scatterv(A.col_starts, mates[1], A.dtype)
    (steps, *_) = exchange.allgather(run.steps[before:])
    sent, pairs = exchange.allreduce(exchange.bytes_sent, n_set(matching.row_mate >= 0))
    last = steps[-1]._replace(cardinality=pairs, reason=why, carrier=exchange.carrier)
    run.steps[before:] = [*steps[:-1], last._replace(rounds=exchange.rounds, bytes_sent=sent)]


def _match_whole(A: DistributedCSR, arrays: IndexPair, matching: Mates, run: Run) -> None:
    """Make a matching of a matrix that is here as a whole maximum."""
    xp, dtype = namespace(A.indptr), A.dtype if A.nnz < 2**31 else np.dtype(np.int64)
    indptr, indices = (xp.ascontiguousarray(a.astype(dtype, copy=False)) for a in arrays)
    backend = "numpy" if xp is np else "cupy"
    graph = BipartiteCSR(*A.shape, indptr, indices, backend, known_nnz=A.nnz)
    given = matching.row_mate, matching.col_mate
    mates = Matching(*(mate.astype(dtype, copy=False) for mate in given))
    run.steps += match_alone(graph, mates, run, warm=bool(run.matched), detailed=True).steps
    if mates.row_mate is not matching.row_mate:  # whose type cannot count the entries
        matching.row_mate[:], matching.col_mate[:] = mates.row_mate, mates.col_mate
