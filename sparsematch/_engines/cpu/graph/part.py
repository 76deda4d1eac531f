"""What a rank of several does alone with its rows of a graph."""

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import graph_arrays
from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.registry import Run, register_operations
from sparsematch._types.over_ranks.graph_part import GraphPart, LocalMaxPart, PartProperties


def part_properties(graph: GraphPart, run: Run) -> PartProperties:
    """Return what one pass over the own entries finds. Time: O(own rows + entries)."""
    layout = graph.layout
    return PartProperties(*_core.validate_graph(graph_arrays(graph), layout.first_row, run.workers))


def part_weight(graph: GraphPart, mate: IndexArray) -> float:
    """Return the sum of the magnitudes of the pairs whose smaller end is an own vertex."""
    return _core.matched_weight(graph_arrays(graph), mate, graph.layout.first_row)


def local_max_part(graph: GraphPart, run: Run) -> LocalMaxPart:
    """Begin local max on the own vertices. Time: O(own rows + entries)."""
    layout = graph.layout
    return _core.local_max_part(graph_arrays(graph), layout.row_starts, layout.rank, run.seed)


register_operations("numpy", GraphPartOps, globals())
