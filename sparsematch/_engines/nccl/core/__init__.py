"""Collectives over GPUs, ownership and message buffers in kernels. *Experimental*."""
