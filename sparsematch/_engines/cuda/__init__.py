"""The back-end for matrices in the memory of an NVIDIA GPU; its packages register what they offer.

Nothing here imports CuPy: the list of engines is the same on every machine, and where there is a
matrix on a GPU, CuPy has been imported.
"""

from collections.abc import Callable
from importlib import import_module

from sparsematch._engines.operations import DeviceCompilerOps
from sparsematch._engines.registry import register_operations

PACKAGES = "core", "matching", "decomposition", "weighted", "graph", "coarsening"

for _package in PACKAGES:
    import_module(f"{__name__}.{_package}")


def _compile_all(progress: Callable[[str, int, int], object]) -> int:
    from sparsematch._engines.cuda.warm_up import compile_all

    return compile_all(progress)


register_operations("cupy", DeviceCompilerOps(compile_all=_compile_all))
