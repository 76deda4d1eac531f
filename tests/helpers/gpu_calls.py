"""The back-end for GPUs: with a GPU by CuPy, else by a stand-in and the kernels as threaded C++."""

import functools
import threading
from contextlib import nullcontext

import numpy as np
import scipy.sparse as sp

import oracle
import sparsematch
from cuda_host import cupy_on_host, emulator
from sparsematch._engines.cuda.core import compile as cuda_compile
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.mates import copied
from sparsematch._types.matching import Matching


def _gpu():
    """Return cupy, or None where there is no GPU."""
    try:
        import cupy

        return cupy if cupy.cuda.runtime.getDeviceCount() else None
    except Exception:
        return None


CUPY = _gpu()
HAS_GPU = CUPY is not None
MISSING = (
    None if HAS_GPU or emulator.COMPILER else "neither a GPU nor a C++ compiler to stand in for one"
)


class _OnHost(emulator.Kernels):
    """Kernels handed arrays of the stand-in."""

    def launch(self, kernel, n, *arguments, **how):
        super().launch(kernel, n, *cupy_on_host.unwrap(arguments), **how)

    def launch_resident(self, kernel, *arguments, **how):
        super().launch_resident(kernel, *cupy_on_host.unwrap(arguments), **how)


if not HAS_GPU:
    CUPY = cupy_on_host.install()
    cuda_compile.load = functools.cache(_OnHost)

#: The grid of the stand-in has one barrier: one call at a time.
one_call = nullcontext() if HAS_GPU else threading.RLock()


def to_gpu(A):
    """The same matrix on the GPU, with the same index type."""
    A = A if A.format in ("csr", "csc", "coo") else sp.csr_array(A)
    if not HAS_GPU:
        return cupy_on_host.on_device(A)
    from cupyx.scipy import sparse

    data = CUPY.asarray(A.data) if A.dtype.kind in "fc" else CUPY.ones(A.nnz, CUPY.float32)
    if A.format == "coo":
        on_gpu = sparse.coo_matrix(A.shape, dtype=CUPY.float32)
        on_gpu.data, on_gpu.row, on_gpu.col = data, CUPY.asarray(A.row), CUPY.asarray(A.col)
        return on_gpu
    on_gpu = getattr(sparse, f"{A.format}_matrix")(A.shape, dtype=CUPY.float32)
    on_gpu.data, on_gpu.indices = data, CUPY.asarray(A.indices)
    on_gpu.indptr = CUPY.asarray(A.indptr)
    return on_gpu


def values_to_gpu(A):
    """The same matrix on the GPU, values and all; single and double precision only."""
    A = A if A.format in ("csr", "csc", "coo") else A.tocsr()
    if not HAS_GPU:
        return cupy_on_host.on_device(A)
    from cupyx.scipy import sparse

    return getattr(sparse, f"{A.format}_matrix")(getattr(sp, f"{A.format}_matrix")(A))


def mates_to_gpu(given):
    """A matching in host memory, as a pair on the GPU."""
    pair = (given.row_mate, given.col_mate) if isinstance(given, Matching) else given
    return tuple(CUPY.asarray(np.asarray(mates)) for mates in pair)


def host(array):
    """The array in host memory."""
    return array.get() if isinstance(array, CUPY.ndarray) else array


def form_on_host(form):
    """A block form with its arrays in host memory."""
    return sparsematch.BlockForm(*(host(array) for array in form), form.matching.get())


def on_device(A, mates=None):
    """The view of A as an engine gets it, and a matching of it: empty, or with these mates."""
    graph = as_bipartite(to_gpu(A))
    if not mates:
        return graph, Matching.start(graph)
    return graph, copied(graph, mates_to_gpu(mates), "mates")


def certified(A, **how):
    """The matching on the GPU, checked to be maximum, and what the call reports."""
    with one_call:
        m, info = sparsematch.maximum_transversal(to_gpu(A), return_info=True, **how)
    oracle.assert_maximum(A, host(m.row_mate), host(m.col_mate))
    return m, info


def approximate(G, **how):
    """The matching of a general graph that the GPU computes, in host memory."""
    with one_call:
        return sparsematch.approximate_matching(to_gpu(G), **how).get()


def solve(A, engine, options=None, *, initial=None, **how):
    """The matching of A by this engine alone, in host memory, and what it reports."""
    method, init = (engine.name, "none") if engine.kind == "exact" else ("none", engine.name)
    how |= {"method": method, "init": init, "options": options}
    how["initial"] = None if initial is None else mates_to_gpu(initial)
    with one_call:
        m, info = sparsematch.maximum_transversal(to_gpu(A), return_info=True, **how)
    return m.get(), info


class OutOfMemoryError(MemoryError):
    """What CuPy raises; a stand-in has no memory to run out of."""

    __module__ = "cupy.cuda.memory"
