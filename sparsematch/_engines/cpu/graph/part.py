"""What a rank of several does alone with its rows of a graph."""

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import graph_arrays
from sparsematch._engines.cpu.graph import matched_weight, validate_graph
from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.registry import Run, register_operations
from sparsematch._types.over_ranks.graph_part import GraphPart, LocalMaxPart


def local_max_part(graph: GraphPart, run: Run) -> LocalMaxPart:
    """Begin local max on the own vertices. Time: O(own rows + entries)."""
    layout = graph.layout
    return _core.local_max_part(graph_arrays(graph), layout.row_starts, layout.rank, run.seed)


_as_of_a_whole = {"part_properties": validate_graph, "part_weight": matched_weight}
register_operations("numpy", GraphPartOps, _as_of_a_whole, globals())
