"""Measure on a GPU what a user waits for beside the search: the first call, memory, small matrices.

    python benchmarks/gpu_costs.py                         # all three
    python benchmarks/gpu_costs.py first --runs 3          # seconds, from an empty cache
    python benchmarks/gpu_costs.py memory --scale 20       # peak, in times the index arrays
    python benchmarks/gpu_costs.py small                   # milliseconds, beside the host's

Needs CuPy and an NVIDIA GPU. `first` starts a process for each run, whose cache folder is empty;
what it prints counts from where CuPy has made its context, and ends when the device is done.
`memory` is counted by a hook on CuPy's pool, results included.
"""

import argparse
import functools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp

import compare
import matrices

MEASURES = ("first", "memory", "small")


def random_rows(n, mean, seed=1):
    """Return a matrix of uniformly random entries."""
    rng = np.random.default_rng(seed)
    at = rng.integers(0, n, (2, int(mean * n)))
    return sp.csr_array((np.ones(at.shape[1], np.float32), tuple(at)), shape=(n, n))


def chain(n, seed=1, *, lucky=False):
    """Return a bidiagonal matrix, numbered at random.

    Lucky: the first entries of all lists are on the diagonal, and first fit matches all.
    """
    rng = np.random.default_rng(seed)
    A = sp.diags_array([1.0, 1.0], offsets=[0, 1], shape=(n, n), format="csr")
    A = A[rng.permutation(n)][:, rng.permutation(n)]
    if not lucky:
        A.sort_indices()
    return A


def on_device(A):
    """Return the matrix on the GPU; CuPy compiles nothing for it."""
    import cupy as cp
    import cupyx.scipy.sparse as csp

    B = csp.csr_matrix(A.shape, dtype=np.float32)
    B.indptr = cp.asarray(A.indptr.astype(np.int32))
    B.indices = cp.asarray(A.indices.astype(np.int32))
    B.data = cp.empty(A.nnz, np.float32)
    return B


def seconds_of(call):
    """Return how long a call takes until the device is done."""
    import cupy as cp

    cp.cuda.Device().synchronize()
    begin = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - begin


# ---- the first call


def first_calls():
    """Print the seconds of the first calls of this process."""
    import cupy as cp

    import sparsematch

    cp.zeros(1).get()  # the context
    n = 1 << 18
    given = {f"mean {mean}": on_device(random_rows(n, mean)) for mean in (3, 6, 12, 20)}
    given["1,000 rows"] = on_device(random_rows(1000, 3))
    cells = []
    for name, A in given.items():
        cells.append((name, seconds_of(lambda A=A: sparsematch.maximum_transversal(A))))
        if name == "mean 3":
            cells.append(
                ("block form", seconds_of(lambda A=A: sparsematch.block_triangular_form(A)))
            )
    A = given["mean 3"]
    cells.append(("second", seconds_of(lambda: sparsematch.maximum_transversal(A))))
    print(*(f"{name} {seconds:.3f}" for name, seconds in cells), sep="; ", flush=True)


def measure_first(args):
    """Run `first_calls` in processes with empty caches, then `warm-up` in another."""
    print("first call, seconds by mean length of a list:")
    for _ in range(args.runs):
        with tempfile.TemporaryDirectory() as folder:
            here = dict(os.environ, CUPY_CACHE_DIR=folder)
            script = [sys.executable, __file__, "calls"]
            subprocess.run(script, env=here, check=True, timeout=args.limit)
    with tempfile.TemporaryDirectory() as folder:
        here = dict(os.environ, CUPY_CACHE_DIR=folder)
        warm_up = [sys.executable, "-m", "sparsematch", "warm-up"]
        subprocess.run(warm_up, env=here, check=True, timeout=args.limit)
        print("after warm-up:")
        subprocess.run([sys.executable, __file__, "calls"], env=here, check=True)


# ---- memory


def peak_of(call):
    """Return the most bytes of CuPy's pool that a call has in use at a time."""
    import cupy as cp

    class Peak(cp.cuda.MemoryHook):
        name, live, most = "peak", 0, 0

        def malloc_postprocess(self, **facts):
            self.live += facts["mem_size"]
            self.most = max(self.most, self.live)

        def free_postprocess(self, **facts):
            self.live -= facts["mem_size"]

    with Peak() as peak:
        result = call()
        cp.cuda.Device().synchronize()
        del result
    return peak.most


def measure_memory(args):
    """Print peaks in times the bytes of indptr and indices."""
    import sparsematch

    begin, n = time.perf_counter(), 1 << args.scale
    makers = {
        name: lambda name=name: matrices.build(name, args.scale, 2011) for name in matrices.NAMES
    }
    makers |= {"random_2": lambda: random_rows(n, 2), "chain": lambda: chain(n)}
    print("memory, times indptr and indices: matrix, transversal, block form")
    for name, make in makers.items():
        if time.perf_counter() - begin > args.limit:
            print("(the time limit is reached)")
            break
        A = on_device(sp.csr_array(make()))
        unit = A.indptr.nbytes + A.indices.nbytes
        calls = sparsematch.maximum_transversal, sparsematch.block_triangular_form
        peaks = [peak_of(functools.partial(call, A)) / unit for call in calls]
        print(f"{name:26s} {unit / 2**20:8.1f} MiB", *(f"{p:6.2f}" for p in peaks), flush=True)


# ---- small matrices


def measure_small(args):
    """Print the medians of warm calls on the GPU, on the host, and on the host with both copies."""
    import cupy as cp

    import sparsematch

    begin = time.perf_counter()
    print("warm call, ms: rows, matrix, GPU, host, host with copies from and to the GPU")
    for n in (100, 1000, 1900, 2500, 10_000, 30_000, 100_000):
        given = ("random", random_rows(n, 3)), ("chain", chain(n)), ("lucky", chain(n, lucky=True))
        for kind, A in given:
            if time.perf_counter() - begin > args.limit:
                print("(the time limit is reached)")
                return
            A, repeats = sp.csr_array(A), 50 if n <= 10_000 else 15
            B = on_device(A)

            def round_trip(B=B, A=A):
                indptr, indices = B.indptr.get(), B.indices.get()
                pattern = sparsematch.BipartiteCSR.from_arrays(indptr, indices, A.shape)
                m = sparsematch.maximum_transversal(pattern)
                return cp.asarray(m.row_mate), cp.asarray(m.col_mate)

            calls = (
                lambda B=B: sparsematch.maximum_transversal(B),
                lambda A=A: sparsematch.maximum_transversal(A),
                round_trip,
            )
            times = []
            for call in calls:
                seconds_of(call)
                times.append(1e3 * statistics.median(seconds_of(call) for _ in range(repeats)))
            print(f"{n:8,} {kind:7s}", *(f"{compare.three(ms):>8s}" for ms in times), flush=True)


def main():
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", metavar="MEASURE", help=f"{', '.join(MEASURES)}; all")
    parser.add_argument("--scale", type=int, default=20, help="of memory: about 2**SCALE rows")
    parser.add_argument("--runs", type=int, default=3, help="of first (default 3)")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds for each measure (default 120)"
    )
    args = parser.parse_args()
    if unknown := {*args.what} - {*MEASURES, "calls"}:
        parser.error(f"no measure is called {', '.join(sorted(unknown))}")
    if args.what == ["calls"]:
        first_calls()
        return 0
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    measures = {"first": measure_first, "memory": measure_memory, "small": measure_small}
    for what in args.what or MEASURES:
        measures[what](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
