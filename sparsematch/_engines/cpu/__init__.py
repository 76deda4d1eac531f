"""The back-end for matrices in host memory; each of its packages registers what it offers."""

from importlib import import_module

PACKAGES = "core", "matching", "decomposition", "weighted", "graph", "coarsening", "stream", "lu"

for _package in PACKAGES:
    import_module(f"{__name__}.{_package}")
