"""Floors: how fast this GPU could take the steps of `auto`, beside how fast it does.

    python benchmarks/gpu_floor.py                    # all matrices, about 2**20 rows
    python benchmarks/gpu_floor.py FILE ...           # written by scipy.sparse.save_npz

Four rates of the device are measured first: bytes read in order; words read at random, and changed
at random by atomics that return the word before, both from as many as the matrix has columns; and
what a level takes: a barrier of all blocks, and three reads that wait for each other, of an entry,
of its column and of the mate. A floor adds up what no run of the same steps can spare, each at its
rate: arrays are read once to check them, the ends of the lists once for the features; a start reads
each entry, looks at its vertex, and lowers that if it keeps degrees; lists are copied into slots;
levels follow each other. It leaves out launches, the host, and everything that is done twice.
"""

import functools
import importlib.resources

import cupy as cp
import numpy as np

import driver
import gpu
import matrices
import sparsematch
from driver import three
from sparsematch._engines.cuda.matching import ms_bfs
from sparsematch._input.bipartite import as_bipartite

INDEX = 4  # bytes
HOPS = 3  # accesses that wait for each other in a level
LEVELS = 2000
BLOCKS_PER_PROCESSOR, THREADS = 2, 512
#: Of a start: entries looked up, and entries changed, as shares of all; None: one for each row.
STARTS = {
    "karp_sipser": (1, 1),
    "min_degree": (1, 1),
    "row_singletons": (1, 0),
    "cheap": (None, None),
}
CODE = r"""
KERNEL in_order(long long n, const int4* __restrict__ words, int* out) {
    int sum = 0;
    for (long long t = thread_index(); t < n; t += thread_count()) {
        const int4 w = words[t];
        sum += w.x + w.y + w.z + w.w;
    }
    if (sum == 1) *out = sum;
}
template <class Visit> DEVICE void at_random(long long n, int size, Visit visit) {
    for (long long t = thread_index(); t < n; t += thread_count())
        visit(scatter(static_cast<unsigned>(t)) % static_cast<unsigned>(size));
}
KERNEL look_up(long long n, int size, const int* __restrict__ words, int* out) {
    int sum = 0;
    at_random(n, size, [&](unsigned k) { sum += words[k]; });
    if (sum == 1) *out = sum;
}
KERNEL change(long long n, int size, int* words, int* out) {
    int sum = 0;
    at_random(n, size, [&](unsigned k) { sum += add(words + k, 1); });
    if (sum == 1) *out = sum;
}
KERNEL take_levels(int levels, int hops, const int* next, int* barrier, int* out) {
    int at = block_index();
    for (int level = 0; level < levels; ++level) {
        if (thread_in_block() == 0)
            for (int k = 0; k < hops; ++k) at = load(next + at);
        sync_grid(barrier);
    }
    if (at == -1) *out = at;
}
"""


# ---- the device


@functools.cache
def kernels():
    """Return the kernels, one of which waits for itself."""
    folder = importlib.resources.files("sparsematch._engines.cuda")
    text = (folder / "core/device.cuh").read_text().replace("#pragma once\n", "") + CODE
    options = ("-std=c++17", "-DIndex=int")
    module = cp.RawModule(code=text, options=options, enable_cooperative_groups=True)
    return {name: module.get_function(name) for name in ("in_order", "look_up", "change")} | {
        "take_levels": module.get_function("take_levels")
    }


def milliseconds(name, blocks, *given):
    """Return the median time of a launch."""
    return gpu.timed(lambda: kernels()[name]((blocks,), (THREADS,), given), 7)[0]


@functools.cache
def resident():
    """Return how many blocks are on the device together."""
    return cp.cuda.Device().attributes["MultiProcessorCount"] * BLOCKS_PER_PROCESSOR


@functools.cache
def bytes_in_order():
    """Return the bytes read in a millisecond."""
    words, out = cp.zeros(1 << 28, cp.int32), cp.zeros(1, cp.int32)
    ms = milliseconds("in_order", 4 * resident(), np.int64(words.size // 4), words, out)
    return words.nbytes / ms


@functools.cache
def at_random(name, size):
    """Return how many of `size` words are looked up, or changed, in a millisecond."""
    words, out, n = cp.zeros(size, cp.int32), cp.zeros(1, cp.int32), 1 << 25
    return n / milliseconds(name, 2 * resident(), np.int64(n), np.int32(size), words, out)


@functools.cache
def level():
    """Return the milliseconds of a level."""
    n = 1 << 22
    after = cp.asarray(np.random.default_rng(1).permutation(n).astype(np.int32))
    barrier, out = cp.zeros(2, cp.int32), cp.zeros(1, cp.int32)
    given = np.int32(LEVELS), np.int32(HOPS), after, barrier, out
    return milliseconds("take_levels", resident(), *given) / LEVELS


# ---- a matrix


def floor(A, info):
    """Return milliseconds of bytes, of accesses and of levels that the steps of a run need."""
    (n_rows, n_cols), nnz = A.shape, A.nnz
    n_bytes = INDEX * (2 * (n_rows + 1) + nnz + min(nnz, 2 * n_rows))
    looked_up = changed = levels = 0
    for step in info.steps:
        if step.engine in STARTS:
            reads, writes = STARTS[step.engine]
            looked_up += n_rows if reads is None else reads * nnz
            changed += n_rows if writes is None else writes * nnz
            n_bytes += INDEX * (n_rows if reads is None else nnz)
        elif step.engine == "ms_bfs":
            levels += step.levels
            width = ms_bfs.shape(A)["WIDTH"]
            n_bytes += INDEX * (nnz + n_rows * width) if width else 0
    ms = looked_up / at_random("look_up", n_cols) + changed / at_random("change", n_cols)
    return n_bytes / bytes_in_order(), ms, levels * level(), levels


def row(name, A, repeats):
    """Return the cells of one matrix."""
    B = gpu.on_device(A)
    ms, _ = gpu.timed(lambda: sparsematch.maximum_transversal(B), repeats)
    _, info = sparsematch.maximum_transversal(B, return_info=True)
    *parts, levels = floor(as_bipartite(B), info)
    steps = " ".join(step.engine for step in info.steps)
    of_floor = f"{ms / sum(parts):.2f}"
    return [f"`{name}`", three(ms), three(sum(parts)), of_floor, *map(three, parts), levels, steps]


def main():
    """Measure the device, then each matrix."""
    parser = driver.parser(__doc__, scale=20, seed=2011, repeats=7)
    matrices.add_argument(parser)
    args = parser.parse_args()
    given = matrices.chosen(parser, args)
    print(f"in order {bytes_in_order() / 1e9:.2f} TB/s; level {1e3 * level():.2f} us", flush=True)
    for size in (1 << 20, 1 << 22, 1 << 23, 1 << 25):
        look, change = (at_random(name, size) / 1e6 for name in ("look_up", "change"))
        print(f"of {size:,} words {look:.0f} looked up, {change:.0f} changed, each ns", flush=True)
    heads = ["matrix", "ms", "floor, ms", "times", "bytes", "accesses", "levels, ms", "levels"]
    cells = (row(name, make(), args.repeats) for name, make in given)
    driver.show([*heads, "steps"], ([str(cell) for cell in line] for line in cells))


if __name__ == "__main__":
    main()
