"""Engines for general graphs, and what is asked of such a graph beside matching."""

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

from sparsematch._engines.cpu import _core
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray
from sparsematch._types.graph import Graph, GraphProperties
from sparsematch._types.run_info import StepInfo


class Row(NamedTuple):
    """One row of the core's table of engines for general graphs."""

    name: str
    guarantee: float
    threads: bool
    options: dict[str, bool | float]
    summary: str


ROWS = {row[0]: Row(*row) for row in _core.graph_engines()}

#: What `method="auto"` means.
DEFAULT = "local_max"


def improve(name: str) -> Callable[[Graph, IndexArray, Run], None]:
    """Return the function of an engine."""

    def match(graph: Graph, mate: IndexArray, run: Run) -> None:
        begin = perf_counter()
        arrays = graph.indptr, graph.indices, graph.weight, mate
        report = _core.match_graph(
            name, *arrays, run.workers, run.detailed, run.seed, dict(run.options)
        )
        run.steps.append(
            StepInfo(
                name,
                perf_counter() - begin,
                phases=report["phases"],
                edges=report["edges"],
                cardinality=report["cardinality"],
                seconds_by_step=report["seconds"],
                matched=tuple(report["matched"]),
                live_edges=tuple(report["live_edges"]),
            )
        )

    return match


def validate_graph(graph: Graph, run: Run) -> GraphProperties:
    """Return what one pass over the entries tells. Time: O(n + nnz)."""
    return GraphProperties(
        *_core.validate_graph(graph.indptr, graph.indices, graph.weight, run.workers)
    )


def matched_weight(graph: Graph, mate: IndexArray) -> float:
    """Return the sum of the moduli of the matched edges. Time: O(n log(degree))."""
    return _core.matched_weight(graph.indptr, graph.indices, graph.weight, mate)
