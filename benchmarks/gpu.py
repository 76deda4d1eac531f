"""Time the engines on a GPU, the block form, and the host's on the same matrices; print a table.

    python benchmarks/gpu.py                    # all matrices, about 2**20 rows
    python benchmarks/gpu.py grid --scale 16    # one, smaller
    python benchmarks/gpu.py --write FILE       # the same, put between the marks of FILE

Needs CuPy and an NVIDIA GPU. A figure is the median time between two events on the device around a
whole call, initialisation and transposes included, for a matrix that is there already; compilation
and the transfer are not included. Every result is certified on the device, and all engines must
reach the same cardinality.
"""

import argparse
import pathlib
import statistics
import sys
import time

import cupy as cp
import cupyx.scipy.sparse as csp
import numpy as np

import compare
import matrices
import sparsematch

METHODS = ("auto", "ms_bfs", "apfb", "push_relabel")
BEGIN, END = "<!-- GPU table: written by benchmarks/gpu.py -->", "<!-- end of the GPU table -->"


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


def row(name, args):
    """Return the cells of one matrix."""
    A = matrices.build(name, args.scale, args.seed)
    B = csp.csr_matrix(
        (cp.ones(A.nnz, cp.float32), cp.asarray(A.indices), cp.asarray(A.indptr)), shape=A.shape
    )
    x = cp.ones(A.shape[1], cp.float32)
    unit, _ = timed(lambda: B @ x, 7)
    cells, ranks = [], set()
    for method in METHODS:
        ms, matching = timed(
            lambda method=method: sparsematch.maximum_transversal(B, method=method), args.repeats
        )
        if not sparsematch.is_maximum(B, matching):
            raise AssertionError(f"{name}, {method}: the matching is not maximum")
        ranks.add(matching.cardinality)
        cells.append(f"{compare.three(ms)} ({compare.three(ms / unit)})")
    if len(ranks) > 1:
        raise AssertionError(f"{name}: the engines disagree: {ranks}")
    ms, _ = timed(lambda: sparsematch.block_triangular_form(B), args.repeats)
    cells.append(f"{compare.three(ms)} ({compare.three(ms / unit)})")
    begin = time.perf_counter()
    sparsematch.maximum_transversal(A)
    host = 1e3 * (time.perf_counter() - begin)
    return [
        f"`{name}`",
        f"{A.nnz:,}",
        *cells,
        compare.three(host),
    ]


def parse():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="MATRIX", help=f"default all: {', '.join(matrices.NAMES)}"
    )
    parser.add_argument("--scale", type=int, default=20, help="about 2**SCALE rows (default 20)")
    parser.add_argument(
        "--repeats", type=int, default=5, help="timed calls after one that warms up (default 5)"
    )
    parser.add_argument(
        "--seed", type=int, default=2011, help="draws other matrices of the same kinds"
    )
    parser.add_argument(
        "--write", type=pathlib.Path, metavar="FILE", help="put the table between the marks of FILE"
    )
    return parser.parse_args()


def main():
    """Print the table, and write it to the file that is given."""
    args = parse()
    device = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)["name"].decode()
    versions = (
        f"sparsematch {sparsematch.__version__}, CuPy {cp.__version__}, NumPy {np.__version__}"
    )
    settings = f"`--scale {args.scale} --repeats {args.repeats} --seed {args.seed}`"
    columns = [
        "matrix",
        "entries",
        *(f"`{m}`, ms (SpMV)" for m in METHODS),
        "block form, ms (SpMV)",
    ]
    columns.append("host, ms")
    rule = ["---"] + ["---:"] * (len(columns) - 1)
    lines = [f"{versions}, {device}; {settings}.", "", compare.line(columns), compare.line(rule)]
    print(*lines, sep="\n", flush=True)
    for name in args.names or matrices.NAMES:
        lines.append(compare.line(row(name, args)))
        print(lines[-1], flush=True)
    if args.write:
        page = args.write.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN, 1)
        args.write.write_text(
            f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{rest.split(END, 1)[1]}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
