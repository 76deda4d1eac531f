"""The back-end for matrices in the memory of an NVIDIA GPU: its engines and operations, registered.

A driver `name.py` describes itself by SUMMARY, OPTIONS and `improve`. Nothing here imports CuPy:
the list of engines is the same on every machine, and where there is a matrix on a GPU, CuPy has
been imported.
"""

from types import ModuleType

from sparsematch._engines.cuda.coarsening import coarsen
from sparsematch._engines.cuda.core import certificates as check
from sparsematch._engines.cuda.decomposition import block_form as operations
from sparsematch._engines.cuda.decomposition import connected_components
from sparsematch._engines.cuda.graph import local_max, red_blue
from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.cuda.matching import (
    apfb,
    auto,
    cheap,
    karp_sipser,
    min_degree,
    ms_bfs,
    push_relabel,
)
from sparsematch._engines.registry import Engine, Operations, register, register_operations
from sparsematch._types.arrays import advising


def _register(
    name: str,
    kind: str,
    module: ModuleType,
    *,
    init: str = "none",
    transpose: str = "unused",
    guarantee: float = 0.0,
) -> None:
    register(
        Engine(
            name=name,
            kind=kind,
            backend="cupy",
            summary=module.SUMMARY,
            options=module.OPTIONS,
            default_init=init,
            transpose=transpose,
            guarantee=guarantee,
            improve=advising(module.improve),
        )
    )


_register("auto", "exact", auto, transpose="optional")
_register("cheap", "heuristic", cheap)
_register("min_degree", "heuristic", min_degree)
_register("karp_sipser", "heuristic", karp_sipser)
_register("ms_bfs", "exact", ms_bfs, init="cheap")
_register("apfb", "exact", apfb, init="cheap")
_register("push_relabel", "exact", push_relabel, init="cheap", transpose="required")

for _name, _module in {"auto": local_max, "local_max": local_max, "red_blue": red_blue}.items():
    _register(_name, "approximate", _module, guarantee=_module.GUARANTEE)

register_operations(
    "cupy",
    Operations(
        wrong_pair=advising(check.wrong_pair),
        free_pair=advising(check.free_pair),
        vertex_cover=advising(check.vertex_cover),
        block_labels=advising(operations.block_labels),
        connected_components=advising(connected_components.connected_components),
        block_permutation=advising(operations.block_permutation),
        wrong_mate=advising(coarsen.wrong_mate),
        galerkin_product=advising(coarsen.galerkin_product),
        validate_graph=advising(general.validate_graph),
        matched_weight=advising(general.matched_weight),
    ),
)
