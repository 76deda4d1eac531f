"""Matching of general graphs distributed over ranks."""

from sparsematch._engines.mpi.core import graph_parts
from sparsematch._engines.mpi.graph import local_max
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import register_module, register_operations
from sparsematch._types.graph import GUARANTEE

for _name in ("auto", "local_max"):
    register_module(_name, "approximate", "mpi", local_max, guarantee=GUARANTEE, multithreaded=True)

register_operations("mpi", GraphOps, vars(graph_parts))
