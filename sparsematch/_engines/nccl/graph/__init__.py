"""Matching of general graphs distributed over the GPUs of several ranks. *Experimental*."""

from sparsematch._engines.nccl.graph import check, local_max
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import register_module, register_operations
from sparsematch._types.arrays import advising

for _name in ("auto", "local_max"):
    register_module(_name, "approximate", "nccl", local_max, guarantee=local_max.GUARANTEE)

register_operations(
    "nccl",
    GraphOps(
        validate_graph=advising(check.validate_graph),
        matched_weight=advising(check.matched_weight),
        take_larger=check.take_larger,
        one_sided_entry=check.one_sided_entry,
        first_infinite=check.first_infinite,
    ),
)
