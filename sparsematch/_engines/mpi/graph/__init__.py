"""Matching of general graphs distributed over ranks."""

from sparsematch._engines.mpi.core import graph_parts
from sparsematch._engines.mpi.graph import check, local_max
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import register_module, register_operations

for _name in ("auto", "local_max"):
    register_module(
        _name, "approximate", "mpi", local_max, guarantee=local_max.GUARANTEE, multithreaded=True
    )

register_operations(
    "mpi",
    GraphOps(
        validate_graph=graph_parts.validate_graph,
        matched_weight=graph_parts.matched_weight,
        take_larger=check.take_larger,
        one_sided_entry=check.one_sided_entry,
        first_infinite=check.first_infinite,
    ),
)
