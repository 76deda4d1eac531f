"""Matching of general graphs distributed over the GPUs of several ranks. *Experimental*."""

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cuda.graph import rounds
from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.mpi.core import graph_parts
from sparsematch._engines.nccl.graph import local_max
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Run, register_module, register_operations
from sparsematch._types.graph import GUARANTEE, GraphProperties
from sparsematch._types.over_ranks.graph_part import GraphPart


def part_properties(part: GraphPart, run: Run) -> GraphProperties:
    """Return what one pass over the own entries finds."""
    return rounds.validate_graph(local_max.own_rows(part), run, part.first_row)


def part_weight(part: GraphPart, mate: IndexArray) -> float:
    """Return the sum of the magnitudes of the matched edges whose smaller end is an own vertex."""
    return float(rounds.matched_weight(local_max.own_rows(part), mate, part.first_row))


for _name in ("auto", "local_max"):
    register_module(_name, "approximate", "nccl", local_max, guarantee=GUARANTEE)

# On each GPU: what the back-end for one of them, which knows nothing of ranks, does not register.
register_operations("cupy", GraphPartOps, globals())
register_operations("nccl", GraphOps, vars(graph_parts))
