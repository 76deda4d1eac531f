"""Matching of general graphs distributed over the GPUs of several ranks. *Experimental*."""

from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.mpi.core.graph_parts import GRAPH_OPERATIONS
from sparsematch._engines.nccl.graph import check, local_max
from sparsematch._engines.registry import register_module, register_operations
from sparsematch._types.graph import GUARANTEE

for _name in ("auto", "local_max"):
    register_module(_name, "approximate", "nccl", local_max, guarantee=GUARANTEE)

# On each GPU: what the back-end for one of them, which knows nothing of ranks, does not register.
register_operations(
    "cupy", GraphPartOps(part_properties=check.part_properties, part_weight=check.part_weight)
)
register_operations("nccl", GRAPH_OPERATIONS)
