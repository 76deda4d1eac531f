"""Measure on a GPU whole calls, and what a user waits for beside the search.

    python benchmarks/gpu.py                          # the table: all matrices, about 2**20 rows
    python benchmarks/gpu.py grid --scale 16          # one, smaller
    python benchmarks/gpu.py --write FILE             # the same, put between the marks of FILE
    python benchmarks/gpu.py --measure first          # seconds of first calls, from an empty cache
    python benchmarks/gpu.py --measure memory         # peak, in times the index arrays
    python benchmarks/gpu.py --measure small          # milliseconds, beside the host's

Needs CuPy and an NVIDIA GPU. A figure of the table is the median time between two events on the
device around a whole call, initialisation and transposes included, for a matrix that is there
already; compilation and the transfer are not included. Every result is certified on the device, and
all engines must reach the same cardinality. `first` starts a process for each run, whose cache
folder is empty; what it prints counts from where CuPy has made its context, and ends when the
device is done. `memory` is counted by a hook on CuPy's pool, results included.
"""

import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time

import cupy as cp
import cupyx.scipy.sparse as csp
import numpy as np
import scipy.sparse as sp

import driver
import matrices
import sparsematch
from driver import three

METHODS = ("auto", "ms_bfs", "apfb", "push_relabel")


def on_device(A):
    """Return the matrix on the GPU; CuPy compiles nothing for it."""
    B = csp.csr_matrix(A.shape, dtype=np.float32)
    B.indptr = cp.asarray(A.indptr.astype(np.int32))
    B.indices = cp.asarray(A.indices.astype(np.int32))
    B.data = cp.asarray(A.data.astype(np.float32))
    return B


def through_host(B, call):
    """Copy the matrix to the host, do the work there, and copy the arrays of the result back."""
    result = call(sparsematch.BipartiteCSR.from_arrays(B.indptr.get(), B.indices.get(), B.shape))
    if isinstance(result, sparsematch.Matching):
        result = result.row_mate, result.col_mate
    return [cp.asarray(array) for array in result]


def seconds_of(call):
    """Return how long a call takes until the device is done."""
    cp.cuda.Device().synchronize()
    begin = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - begin


# ---- the table


def timed(call, repeats):
    """Return the median in ms between two events, after a warm-up, and the last result."""
    call()
    times = []
    for _ in range(repeats):
        start, stop = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        result = call()
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop))
    return statistics.median(times), result


def row(name, A, repeats):
    """Return the cells of one matrix."""
    B = on_device(A)
    B.data[:] = 1
    x = cp.ones(A.shape[1], cp.float32)
    unit, _ = timed(lambda: B @ x, 7)
    cells, ranks = [], set()
    for method in METHODS:
        call = functools.partial(sparsematch.maximum_transversal, B, method=method)
        ms, matching = timed(call, repeats)
        if not sparsematch.is_maximum(B, matching):
            raise AssertionError(f"{name}, {method}: the matching is not maximum")
        ranks.add(matching.cardinality)
        cells.append(f"{three(ms)} ({three(ms / unit)})")
    if len(ranks) > 1:
        raise AssertionError(f"{name}: the engines disagree: {ranks}")
    ms, _ = timed(lambda: sparsematch.block_triangular_form(B), repeats)
    host, _ = driver.times(lambda: sparsematch.maximum_transversal(A), repeats)
    cells += [f"{three(ms)} ({three(ms / unit)})", three(1e3 * statistics.median(host))]
    return [f"`{name}`", f"{A.nnz:,}", *cells]


def print_table(args, chosen):
    """Print the table, and write it to the file that is given."""
    heads = [f"`{name}`, ms (SpMV)" for name in METHODS]
    heads = ["matrix", "entries", *heads, "block form, ms (SpMV)", "host, ms"]
    device = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)["name"].decode()
    given = ("scale", "repeats", "seed")
    conditions = driver.conditions(args, *given, packages=("CuPy", "NumPy"), device=device)
    lines = driver.table(heads, (row(name, make(), args.repeats) for name, make in chosen))
    driver.publish(lines, args, "GPU table", conditions)


# ---- the first call


def random_rows(n, mean, seed=1):
    """Return a matrix of uniformly random entries."""
    at = np.random.default_rng(seed).integers(0, n, (2, int(mean * n)))
    return sp.csr_array((np.ones(at.shape[1], np.float32), tuple(at)), shape=(n, n))


def first_calls():
    """Print the seconds of the first calls of this process."""
    cp.zeros(1).get()  # the context
    given = {f"mean {mean}": on_device(random_rows(1 << 18, mean)) for mean in (3, 6, 12, 20)}
    given["1,000 rows"] = on_device(random_rows(1000, 3))
    cells = []
    for name, A in given.items():
        cells.append((name, seconds_of(lambda A=A: sparsematch.maximum_transversal(A))))
        if name == "mean 3":
            seconds = seconds_of(lambda A=A: sparsematch.block_triangular_form(A))
            cells.append(("block form", seconds))
            seconds = seconds_of(lambda A=A: sparsematch.maximum_product_transversal(A))
            cells.append(("product", seconds))
    A = given["mean 3"]
    cells.append(("second", seconds_of(lambda: sparsematch.maximum_transversal(A))))
    print(*(f"{name} {seconds:.3f}" for name, seconds in cells), sep="; ", flush=True)


def print_first(args, _):
    """Run `first_calls` in processes with empty caches, then `warm-up` in another."""
    calls = [sys.executable, __file__, "--measure", "calls"]
    warm_up = [sys.executable, "-m", "sparsematch", "warm-up"]
    print("first call, seconds by mean length of a list; last after warm-up:", flush=True)
    for commands in (*([calls] for _ in range(args.repeats)), [warm_up, calls]):
        with tempfile.TemporaryDirectory() as folder:
            here = dict(os.environ, CUPY_CACHE_DIR=folder)
            for command in commands:
                subprocess.run(command, env=here, check=True, timeout=args.limit)


# ---- memory


def peak_of(call):
    """Return the most bytes of CuPy's pool that a call has in use at a time."""

    class Peak(cp.cuda.MemoryHook):
        name, live, most = "peak", 0, 0

        def malloc_postprocess(self, **event):
            self.live += event["mem_size"]
            self.most = max(self.most, self.live)

        def free_postprocess(self, **event):
            self.live -= event["mem_size"]

    with Peak() as peak:
        result = call()
        cp.cuda.Device().synchronize()
        del result
    return peak.most


def print_memory(args, chosen):
    """Print peaks in times the bytes of indptr and indices."""
    n = 1 << args.scale
    chosen = [*chosen, ("random_2", lambda: random_rows(n, 2)), ("chain", lambda: chain(n))]
    print("memory, times indptr and indices: matrix, transversal, block form")
    for name, make in chosen:
        A = on_device(sp.csr_array(make()))
        unit = A.indptr.nbytes + A.indices.nbytes
        calls = sparsematch.maximum_transversal, sparsematch.block_triangular_form
        peaks = [peak_of(functools.partial(call, A)) / unit for call in calls]
        print(f"{name:26s} {unit / 2**20:8.1f} MiB", *(f"{p:6.2f}" for p in peaks), flush=True)


# ---- small matrices


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


def print_small(args, _):
    """Print the medians of warm calls on the GPU, on the host, and on the host with both copies."""
    transversal = sparsematch.maximum_transversal
    print("warm call, ms: rows, matrix, GPU, host, host with copies from and to the GPU")
    for n in (100, 1000, 1900, 2500, 10_000, 30_000, 100_000):
        given = ("random", random_rows(n, 3)), ("chain", chain(n)), ("lucky", chain(n, lucky=True))
        for kind, A in given:
            B = on_device(A)
            calls = (
                functools.partial(transversal, B),
                functools.partial(transversal, sp.csr_array(A)),
                functools.partial(through_host, B, transversal),
            )
            times = []
            for call in calls:
                seconds_of(call)
                repeats = range(50 if n <= 10_000 else 15)
                times.append(1e3 * statistics.median(seconds_of(call) for _ in repeats))
            print(f"{n:8,} {kind:7s}", *(f"{three(ms):>8s}" for ms in times), flush=True)


MEASURES = {
    "table": print_table,
    "first": print_first,
    "memory": print_memory,
    "small": print_small,
    "calls": lambda args, _: first_calls(),
}


def main():
    """Measure what is asked for."""
    parser = driver.parser(__doc__, write=True, scale=20, seed=2011, repeats=5, limit=120.0)
    text = "table (default), first, memory or small"
    parser.add_argument("--measure", choices=MEASURES, default="table", metavar="WHAT", help=text)
    matrices.add_argument(parser)
    args = parser.parse_args()
    MEASURES[args.measure](args, matrices.chosen(parser, args))


if __name__ == "__main__":
    main()
