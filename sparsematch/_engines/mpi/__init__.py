"""The back-end for matrices in blocks of rows, one per rank; its packages register what they offer.

mpi4py is imported on the first call with a matrix of several ranks, not here.
"""
