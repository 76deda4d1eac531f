"""The account of an engine over all ranks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from sparsematch._base.arrays import IndexArray, n_set
from sparsematch._engines.mpi.core.exchange import abort_on_error, exchange_of
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matrix import DistributedCSR
from sparsematch._types.run_info import StepInfo

#: What is summed over the ranks, beside the pairs of each round.
_SUMS = "edges", "augmentations", "path_edges", "bytes_sent", "cardinality"


@dataclass(slots=True)
class Account:
    """The work of an engine: phases, levels and rounds of all ranks, the rest of this one."""

    phases: int = 0
    levels: int = 0
    rounds: int = 0
    edges: int = 0
    augmentations: int = 0
    path_edges: int = 0
    matched: list[int] = field(default_factory=list)  #: Own vertices by the end of each round.


@contextmanager
def step(
    name: str, A: DistributedCSR, row_mate: IndexArray, run: Run
) -> Iterator[tuple[Any, Account]]:
    """Time an engine that writes the mates of the own rows, and report it. Collective."""
    # Gives it an exchange and an account, of which the sums over the ranks are reported.
    with abort_on_error(A.comm):
        begin = perf_counter() - run.transpose_seconds
        exchange, account = exchange_of(A.comm, row_mate), Account()
        yield exchange, account
        seconds = perf_counter() - begin - run.transpose_seconds
        pairs = n_set(row_mate >= 0)
        own = account.edges, account.augmentations, account.path_edges, exchange.bytes_sent, pairs
        sums = exchange.allreduce(*own, *account.matched)
        counts: Any = dict(zip(_SUMS, sums, strict=False))
        counts |= {"phases": account.phases, "levels": account.levels, "rounds": exchange.rounds}
        counts |= {"matched": tuple(sums[len(own) :]), "carrier": exchange.carrier}
        run.steps.append(StepInfo(name, seconds, **counts))
