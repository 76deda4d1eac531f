"""Matching of general graphs distributed over the GPUs of several ranks."""

from sparsematch._engines.nccl.graph import check, local_max
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Engine, register, register_operations
from sparsematch._types.arrays import advising

#: What ``method="auto"`` means is listed first.
for _name, _module in (("auto", local_max), ("local_max", local_max)):
    register(
        Engine(
            name=_name,
            kind="approximate",
            backend="nccl",
            summary=_module.SUMMARY,
            guarantee=_module.GUARANTEE,
            improve=advising(_module.improve),
        )
    )

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
