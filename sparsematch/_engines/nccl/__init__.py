"""*Experimental*: the back-end for matrices over the GPUs of several ranks, one each, by NCCL.

It builds on two others: the one for a GPU compiles the kernels, and the one for ranks has the
collectives of small numbers. CuPy and mpi4py are imported on the first call with such a matrix.
"""
