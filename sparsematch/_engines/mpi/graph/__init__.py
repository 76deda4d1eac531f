"""Matching of general graphs distributed over ranks."""

from sparsematch._engines.mpi.graph import check, local_max
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Engine, register, register_operations

#: What ``method="auto"`` means is listed first.
for _name, _module in (("auto", local_max), ("local_max", local_max)):
    register(
        Engine(
            name=_name,
            kind="approximate",
            backend="mpi",
            summary=_module.SUMMARY,
            multithreaded=True,
            guarantee=_module.GUARANTEE,
            improve=_module.improve,
        )
    )

register_operations(
    "mpi",
    GraphOps(
        validate_graph=check.validate_graph,
        matched_weight=check.matched_weight,
        take_larger=check.take_larger,
        one_sided_entry=check.one_sided_entry,
        first_infinite=check.first_infinite,
    ),
)
