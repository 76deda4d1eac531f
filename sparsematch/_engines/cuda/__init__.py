"""The back-end for matrices in the memory of an NVIDIA GPU: its engines and operations, registered.

A driver `name.py` says what it is by SUMMARY, OPTIONS and `improve`. Nothing here imports CuPy: the list of engines is
the same on every machine, and whoever brings a matrix on a GPU has imported it.
"""

from types import ModuleType

from sparsematch._engines.cuda import cheap, check, connected_components, ms_bfs, operations
from sparsematch._engines.registry import Engine, Operations, register, register_operations


def _register(name: str, kind: str, module: ModuleType, *, init: str = "none", transpose: str = "unused") -> None:
    register(
        Engine(
            name=name,
            kind=kind,
            backend="cupy",
            summary=module.SUMMARY,
            options=module.OPTIONS,
            default_init=init,
            transpose=transpose,
            improve=module.improve,
        )
    )


_register("cheap", "heuristic", cheap)
_register("ms_bfs", "exact", ms_bfs, init="cheap")

register_operations(
    "cupy",
    Operations(
        wrong_pair=check.wrong_pair,
        free_pair=check.free_pair,
        vertex_cover=check.vertex_cover,
        block_labels=operations.block_labels,
        connected_components=connected_components.connected_components,
        order_by_label=operations.order_by_label,
    ),
)
