"""How the tests put matrices on the GPUs of several ranks, or on stand-ins for them."""

import contextlib

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from gpu_calls import CUPY, HAS_GPU, host
from sparsematch._engines.nccl.core import layout
from sparsematch._engines.nccl.matching import forest, gathered


@contextlib.contextmanager
def constants(capacity=3, long=None, deep=3):
    """Let a small matrix be a large one: send buffers overflow, lists are cut."""
    kept = layout.LEAST_CAPACITY, forest.LONG, forest.DEEP, gathered.GATHERED
    layout.LEAST_CAPACITY, forest.DEEP, gathered.GATHERED = capacity, deep, 0
    forest.LONG = long or forest.LONG
    try:
        yield
    finally:
        layout.LEAST_CAPACITY, forest.LONG, forest.DEEP, gathered.GATHERED = kept


def distribute(comm, A, starts, values=False):
    """Each rank its rows, on its GPU, perhaps with values."""
    begin, end = starts[comm.rank : comm.rank + 2]
    here = sp.csr_array(A)[begin:end]
    arrays = here.indptr.astype(np.int64), here.indices
    indptr, indices = (CUPY.asarray(array) for array in arrays)
    there = CUPY.asarray(here.data) if values else None
    return sm.DistributedCSR(comm, indptr, indices, begin, A.shape, there)


def on_own_gpus(comm):
    return bool(HAS_GPU and comm.size <= CUPY.cuda.runtime.getDeviceCount() and has_nccl())


def has_nccl():
    try:
        from cupy.cuda import nccl
    except ImportError:
        return False
    return nccl.available


def use_own_gpu(comm):
    """Those of one machine share its GPUs by their numbers."""
    if HAS_GPU:
        CUPY.cuda.Device(comm.rank % CUPY.cuda.runtime.getDeviceCount()).use()


def assert_gathers(exchange):
    """Arrays of all ranks, of other lengths, to rank 0 and back."""
    rank, n_ranks = exchange.rank, exchange.size
    for sizes in (None, np.arange(n_ranks)):
        whole = exchange.gatherv(CUPY.full(rank, rank, np.int64), sizes)
        assert (whole is None) == (rank > 0)
        if whole is not None:
            assert np.array_equal(host(whole), np.repeat(np.arange(n_ranks), np.arange(n_ranks)))
    starts = np.cumsum(np.arange(n_ranks + 1))
    whole = CUPY.asarray(np.arange(starts[-1])) if rank == 0 else None
    part = exchange.scatterv(starts, whole, np.int64)
    assert np.array_equal(host(part), np.arange(*starts[rank : rank + 2]))
