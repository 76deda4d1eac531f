"""Engines for general graphs, and the other operations on such a graph."""

from functools import partial

from sparsematch._base.arrays import IndexArray
from sparsematch._engines import edges
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import graph_arrays
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Engine, Run, register, register_operations
from sparsematch._types.graph import Graph, GraphProperties
from sparsematch._types.run_info import StepInfo

ENGINES = {row["name"]: row for row in _core.graph_engines()}


def improve(name: str, graph: Graph, mate: IndexArray, run: Run) -> None:
    """Run an engine, which writes the mates."""
    how = run.workers, (0, run.detailed, run.seed), run.options
    account = _core.match_graph(name, graph_arrays(graph), mate, *how)
    run.steps.append(StepInfo._make(account))


def validate_graph(graph: Graph, run: Run) -> GraphProperties:
    """Return what one pass over the entries finds. Time: O(n + nnz)."""
    return GraphProperties(*_core.validate_graph(graph_arrays(graph), graph.first_row, run.workers))


def matched_weight(graph: Graph, mate: IndexArray) -> float:
    """Return the sum of the magnitudes of the matched edges, each at its smaller end."""
    return _core.matched_weight(graph_arrays(graph), mate, graph.first_row)


for _entry in ENGINES.values():
    register(Engine(**_entry, backend="numpy", improve=partial(improve, _entry["name"])))
_auto = ENGINES["local_max"] | {"name": "auto"}
register(Engine(**_auto, backend="numpy", improve=partial(improve, "local_max")))

register_operations("numpy", GraphOps, vars(edges), globals())
