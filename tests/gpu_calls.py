"""How the tests reach the engines for GPUs: the public calls where there is a GPU, else the kernels as threaded C++."""

import functools
import threading

import scipy.sparse as sp

from cuda_host import emulator
from sparsematch._api.check import read_matching
from sparsematch._engines import registry
from sparsematch._engines.cuda import compile as cuda_compile
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import RunInfo

#: The emulated grid has one barrier: one call at a time.
_one_call = threading.Lock()


def _gpu():
    """Return cupy and cupyx.scipy.sparse, or None where there is no GPU."""
    try:
        import cupy
        import cupyx.scipy.sparse

        return (cupy, cupyx.scipy.sparse) if cupy.cuda.runtime.getDeviceCount() else None
    except Exception:
        return None


GPU = _gpu()
MISSING = None if GPU or emulator.COMPILER else "neither a GPU nor a C++ compiler to stand in for one"

if not GPU:
    cuda_compile.load = functools.cache(emulator.Kernels)


def to_gpu(A):
    """The same matrix on the GPU, with the same index type."""
    cupy, sparse = GPU
    A = A if A.format in ("csr", "csc", "coo") else sp.csr_array(A)
    data = cupy.ones(A.nnz, cupy.float32)
    if A.format == "coo":
        return sparse.coo_matrix((data, (cupy.asarray(A.row), cupy.asarray(A.col))), shape=A.shape)
    kind = sparse.csr_matrix if A.format == "csr" else sparse.csc_matrix
    on_gpu = kind(A.shape, dtype=cupy.float32)
    on_gpu.data, on_gpu.indices, on_gpu.indptr = data, cupy.asarray(A.indices), cupy.asarray(A.indptr)
    return on_gpu


def to_host(matching):
    """The same matching in host memory."""
    return Matching(matching.row_mate.get(), matching.col_mate.get())


def on_device(A, mates=None):
    """The view of A as an engine gets it, and a matching of it: empty, or with these mates."""
    if GPU:
        graph = as_bipartite(to_gpu(A))
        mates = mates and tuple(GPU[0].asarray(side) for side in mates)
    else:
        graph = as_bipartite(A)
    return graph, Matching.start(graph, mates)


def solve(A, engine, options=None, *, initial=None, workers=None, rng=None):
    """The matching that this engine alone makes of A, in host memory, and what it reports."""
    if not GPU:
        with _one_call:
            return _solve_emulated(A, engine, options, initial, workers)
    import sparsematch

    cupy, _ = GPU
    if isinstance(initial, Matching):
        initial = initial.row_mate, initial.col_mate
    if initial is not None:
        initial = tuple(cupy.asarray(mates) for mates in initial)
    method, init = (engine.name, "none") if engine.kind == "exact" else ("none", engine.name)
    how = {"options": options, "initial": initial, "workers": workers, "rng": rng, "return_info": True}
    m, info = sparsematch.maximum_transversal(to_gpu(A), method=method, init=init, **how)
    return to_host(m), info


def _solve_emulated(A, engine, options, initial, workers):
    """What the public call does on a GPU, done on the matrix in host memory."""
    graph = as_bipartite(A)
    settings = registry.read_options(options, engine)
    run = registry.Run(workers=workers or 1, options=settings, detailed=True, warm=initial is not None)
    matching = Matching.start(graph) if initial is None else read_matching(graph, initial, "initial")
    engine.improve(graph, matching, run)
    names = (engine.name, "none") if engine.kind == "exact" else ("none", engine.name)
    built = run.transposes_built, run.transpose_seconds
    info = RunInfo(*names, tuple(run.steps), matching.freeze().cardinality, run.workers, *built)
    return matching, info
