"""What a call does with the engines that it has chosen, in one process and over ranks alike."""

from typing import Any, TypeVar

from sparsematch._engines.registry import Engine, Run
from sparsematch._types.mates import Mates
from sparsematch._types.run_info import RunInfo

_Mates = TypeVar("_Mates", bound=Mates)
Chosen = tuple[Engine | None, Engine | None]


def improve(graph: Any, matching: _Mates, chosen: Chosen, run: Run) -> _Mates:
    """Run the heuristic and the exact engine, where there are; the matching is then frozen."""
    for engine in chosen:
        if engine:
            engine.improve(graph, matching, run)
    return matching.freeze()


def report(chosen: Chosen, run: Run, cardinality: int) -> RunInfo:
    """Return the account of a run."""
    first, last = (engine.name if engine else "none" for engine in chosen)
    return RunInfo(
        method=last,
        init=first,
        steps=tuple(run.steps),
        cardinality=cardinality,
        workers=run.workers,
        transposes_built=run.transposes_built,
        transpose_seconds=run.transpose_seconds,
    )
