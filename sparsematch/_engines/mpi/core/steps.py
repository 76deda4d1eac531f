"""The account of an engine over all ranks."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from sparsematch._types.run_info import StepInfo


class Traffic(Protocol):
    """What an account needs of the exchange of a run, over ranks or over their GPUs."""

    rounds: int
    bytes_sent: int
    carrier: str

    def allreduce(self, *numbers: float) -> list[Any]:
        """Return the sums over all ranks."""


@dataclass(slots=True)
class Account:
    """The work of an engine: phases, levels and rounds of all ranks, the rest of this one."""

    phases: int = 0
    levels: int = 0
    rounds: int = 0
    edges: int = 0
    augmentations: int = 0
    path_edges: int = 0


def step_info(
    exchange: Traffic, name: str, begin: float, own_pairs: int, account: Account, reason: str = ""
) -> StepInfo:
    """Return the sum of the ranks' accounts; `own_pairs`: pairs of own rows. Collective."""
    edges, paths, path_edges, sent, pairs = exchange.allreduce(
        account.edges, account.augmentations, account.path_edges, exchange.bytes_sent, own_pairs
    )
    return StepInfo(
        name,
        perf_counter() - begin,
        phases=account.phases,
        levels=account.levels,
        edges=edges,
        augmentations=paths,
        path_edges=path_edges,
        cardinality=pairs,
        reason=reason,
        rounds=exchange.rounds,
        bytes_sent=sent,
        carrier=exchange.carrier,
    )
