"""Measure what a call on a small matrix costs beside the work of its engines, and beside SciPy.

    python benchmarks/small.py                      # prints a table
    python benchmarks/small.py --write FILE         # writes it between the marks of a page

Random matrices with four entries a row. The engines' own time is that of the steps and of the
transpose, as the report of a call has it; the rest is checks, dispatch and the result. Medians of
calls in turns, after some that warm up.
"""

import argparse
import pathlib
import platform
import statistics
import sys
import time

import numpy as np
import scipy
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_bipartite_matching

import compare
import sparsematch

BEGIN = "<!-- table of small matrices: written by benchmarks/small.py -->"
END = "<!-- end of the table of small matrices -->"
WHAT = ("whole call", "engines", "the rest", "SciPy")
SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000)


def microseconds(call):
    """Return the time of a call, and its result."""
    begin = time.perf_counter()
    result = call()
    return 1e6 * (time.perf_counter() - begin), result


def row(n):
    """Return the medians for a matrix of n rows: entries, whole call, engines, SciPy."""
    rng = np.random.default_rng(n)
    A = sp.random_array((n, n), density=min(1.0, 4 / n), rng=rng, format="csr")
    whole, engines, theirs = [], [], []
    for repeat in range(30 if n > 1_000 else 300):
        ours, (matching, info) = microseconds(
            lambda: sparsematch.maximum_transversal(A, return_info=True)
        )
        other, mates = microseconds(lambda: maximum_bipartite_matching(A))
        if (mates >= 0).sum() != matching.cardinality:
            raise AssertionError(f"two ranks of a matrix of {n} rows")
        if repeat < 3:
            continue
        whole.append(ours)
        own = sum(step.seconds for step in info.steps) + info.transpose_seconds
        engines.append(1e6 * own)
        theirs.append(other)
    rest = statistics.median(a - b for a, b in zip(whole, engines, strict=True))
    return A.nnz, *map(statistics.median, (whole, engines)), rest, statistics.median(theirs)


def table():
    """Yield the lines of the table."""
    heads = ["rows", "entries", *(f"{what}, µs" for what in WHAT)]
    yield f"| {' | '.join(heads)} |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    for n in SIZES:
        nnz, *times = row(n)
        yield f"| {n:,} | {nnz:,} | " + " | ".join(f"{t:,.0f}" for t in times) + " |"


def main():
    """Print the table, and write it to the file that is given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--write", metavar="FILE", type=pathlib.Path, help="page with the marks of this table"
    )
    args = parser.parse_args()
    conditions = (
        f"sparsematch {sparsematch.__version__}, SciPy {scipy.__version__}, "
        f"NumPy {np.__version__}, Python {platform.python_version()}, {compare.processor()}."
    )
    lines = [conditions, "", *table()]
    print(*lines, sep="\n")
    if args.write:
        compare.write(args.write, "\n".join(lines), BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
