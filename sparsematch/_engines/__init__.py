"""How it is done: one folder per back-end, and the registry that knows what they offer."""

from sparsematch._types import consistency
from sparsematch._types.bipartite import BipartiteCSR


def _count_entries(graph: BipartiteCSR) -> int:
    from sparsematch._engines.operations import DeviceCheckOps
    from sparsematch._engines.registry import operations

    return operations(DeviceCheckOps, graph.backend).count_entries(graph)


consistency.count_entries_on_device = _count_entries
