"""Engines for general graphs, and the other operations on such a graph."""

from collections.abc import Callable

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import graph_arrays
from sparsematch._engines.registry import Run
from sparsematch._types.graph import Graph, GraphProperties

ENGINES = {row["name"]: row for row in _core.graph_engines()}

#: What `method="auto"` means.
DEFAULT = "local_max"


def improve(name: str) -> Callable[[Graph, IndexArray, Run], None]:
    """Return the function of an engine."""

    def match(graph: Graph, mate: IndexArray, run: Run) -> None:
        settings = 0, run.detailed, run.seed
        with run.step(name) as counts:
            counts |= _core.match_graph(
                name, graph_arrays(graph), mate, run.workers, settings, run.options
            )

    return match


def validate_graph(graph: Graph, run: Run) -> GraphProperties:
    """Return what one pass over the entries finds. Time: O(n + nnz)."""
    ascending, finite, balance = _core.validate_graph(graph_arrays(graph), 0, run.workers)
    return GraphProperties(ascending=ascending, symmetric=not balance, finite=finite)


def matched_weight(graph: Graph, mate: IndexArray) -> float:
    """Return the sum of the absolute values of the matched edges. Time: O(n log(degree))."""
    return _core.matched_weight(graph_arrays(graph), mate, 0)
