"""Initialisation heuristics, exact engines and the choice between them.

The core's table says which engines there are, what is known of each, and their options; the
heuristic that suits each stands here.
"""

from collections.abc import Callable

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.run_engine import ENGINES, HostByProducts, run_engine
from sparsematch._engines.cpu.matching import auto
from sparsematch._engines.operations import MatchingOps
from sparsematch._engines.rank_operations import RankOps
from sparsematch._engines.registry import Engine, register, register_module, register_operations


def _improve(name: str) -> Callable[..., HostByProducts]:
    return lambda *given: run_engine(name, *given)[1]


register_module("auto", "exact", "numpy", auto, transpose="optional", multithreaded=True)
for _name, _entry in ENGINES.items():
    _init = "cheap" if _entry["kind"] == "exact" else "none"
    register(Engine(**_entry, backend="numpy", default_init=_init, improve=_improve(_name)))

register_operations("numpy", MatchingOps, vars(auto), {"kept_team": _core.KeptTeam})
register_operations("numpy", RankOps, vars(_core))
