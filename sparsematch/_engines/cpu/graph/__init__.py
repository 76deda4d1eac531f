"""Matching engines for general graphs."""

from sparsematch._engines.cpu.graph import engines
from sparsematch._engines.edges import first_infinite, one_sided_entry, take_larger
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Engine, register, register_operations

for _entry in engines.ENGINES.values():
    register(Engine(**_entry, backend="numpy", improve=engines.improve(_entry["name"])))
_auto = engines.ENGINES[engines.DEFAULT] | {"name": "auto"}
register(Engine(**_auto, backend="numpy", improve=engines.improve(engines.DEFAULT)))

register_operations(
    "numpy",
    GraphOps(
        validate_graph=engines.validate_graph,
        matched_weight=engines.matched_weight,
        take_larger=take_larger,
        one_sided_entry=one_sided_entry,
        first_infinite=first_infinite,
    ),
)
