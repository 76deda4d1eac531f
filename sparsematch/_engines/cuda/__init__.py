"""The back-end for matrices in the memory of an NVIDIA GPU; its packages register what they offer.

Nothing here imports CuPy: the list of engines is the same on every machine, and where there is a
matrix on a GPU, CuPy has been imported.
"""
