"""The back-end for matrices in blocks of rows, one per rank; its packages register what they offer.

mpi4py is imported on the first call with a matrix of several ranks, not here.
"""

from importlib import import_module

PACKAGES = "core", "matching", "decomposition", "weighted", "graph", "coarsening"

for _package in PACKAGES:
    import_module(f"{__name__}.{_package}")
