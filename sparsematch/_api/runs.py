"""What a call does with the engines that it has chosen, in one process and over ranks alike."""

from typing import Any

from sparsematch._engines.registry import ByProducts, Engine, Run
from sparsematch._types.mates import Mates
from sparsematch._types.run_info import RunInfo

Chosen = tuple[Engine | None, Engine | None]


def improve(graph: Any, matching: Mates, chosen: Chosen, run: Run) -> ByProducts | None:
    """Run the heuristic and the exact engine, where there are, and freeze the matching."""
    by_products = None
    for engine in chosen:
        if engine:
            by_products = engine.improve(graph, matching, run, by_products)
    matching.freeze()
    return by_products


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
