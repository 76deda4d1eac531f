"""The back-end for matrices over the GPUs of several ranks, one each: NCCL carries what they send.

It stands on two others: kernels are compiled by the one for a GPU, and small numbers go by the one
for ranks. CuPy and mpi4py are imported when a matrix of several ranks is worked on, not here.
"""

from importlib import import_module

PACKAGES = "core", "matching", "graph"

for _package in PACKAGES:
    import_module(f"{__name__}.{_package}")
