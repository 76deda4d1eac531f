"""The back-end for matrices in the memory of an NVIDIA GPU; its packages register what they offer.

Nothing here imports CuPy: the list of engines is the same on every machine, and where there is a
matrix on a GPU, CuPy has been imported.
"""

from importlib import import_module

PACKAGES = "core", "matching", "decomposition", "weighted", "graph", "coarsening"

for _package in PACKAGES:
    import_module(f"{__name__}.{_package}")
