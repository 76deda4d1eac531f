"""Matching engines for general graphs."""

from sparsematch._engines.cpu.graph import engines
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Engine, register, register_operations

for _entry in engines.ENGINES.values():
    register(Engine(**_entry._asdict(), backend="numpy", improve=engines.improve(_entry.name)))
_auto = engines.ENGINES[engines.DEFAULT]._replace(name="auto")
register(Engine(**_auto._asdict(), backend="numpy", improve=engines.improve(engines.DEFAULT)))

register_operations(
    "numpy",
    GraphOps(validate_graph=engines.validate_graph, matched_weight=engines.matched_weight),
)
