"""The back-end for matrices in host memory; each of its packages registers what it offers."""

from sparsematch._engines.cpu._find_core import load_core

if _found := load_core():  # else it lies here, and is imported like any other module
    _core = _found
