"""The back-end for matrices in host memory; each of its packages registers what it offers."""

from importlib import import_module

from sparsematch._engines.cpu._find_core import load_core

PACKAGES = (
    "core", "matching", "decomposition", "weighted", "graph", "coarsening", "stream", "lu", "qr",
)  # fmt: skip

if _found := load_core():  # else it lies here, and is imported like any other module
    _core = _found

for _package in PACKAGES:
    import_module(f"{__name__}.{_package}")
