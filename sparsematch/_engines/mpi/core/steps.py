"""The account of an engine over all ranks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.mpi.core.exchange import abort_on_error, exchange_of
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matrix import DistributedCSR
from sparsematch._types.run_info import StepInfo


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
        own = int(exchange.xp.count_nonzero(row_mate >= 0))
        numbers = account.edges, account.augmentations, account.path_edges, exchange.bytes_sent
        edges, paths, path_edges, sent, pairs, *matched = exchange.allreduce(
            *numbers, own, *account.matched
        )
        run.steps.append(
            StepInfo(
                name,
                seconds,
                phases=account.phases,
                levels=account.levels,
                edges=edges,
                augmentations=paths,
                path_edges=path_edges,
                cardinality=pairs,
                matched=tuple(matched),
                rounds=exchange.rounds,
                bytes_sent=sent,
                carrier=exchange.carrier,
            )
        )
