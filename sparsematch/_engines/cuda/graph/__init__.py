"""Matching engines for general graphs."""

from sparsematch._engines import edges
from sparsematch._engines.cuda.graph import local_max, red_blue, rounds
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import register_module, register_operations
from sparsematch._types.graph import GUARANTEE

register_module("auto", "approximate", "cupy", local_max, guarantee=GUARANTEE)
register_module("local_max", "approximate", "cupy", local_max, guarantee=GUARANTEE)
register_module("red_blue", "approximate", "cupy", red_blue, ranges=red_blue.RANGES)

register_operations("cupy", GraphOps, vars(edges), vars(rounds))
