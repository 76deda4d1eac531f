"""Measure what a call on a small matrix costs beside the work of its engines, and beside SciPy.

    python benchmarks/small.py                      # prints a table
    python benchmarks/small.py --write FILE         # writes it between the marks of a page

Random matrices with four entries a row. The engines' own time is that of the steps and of the
transpose, as the report of a call has it; the rest is checks, dispatch and the result. Medians of
calls in turns, after some that warm up.
"""

import statistics
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_bipartite_matching

import driver
import sparsematch

HEADS = ["rows", "entries", "whole call, µs", "engines, µs", "the rest, µs", "SciPy, µs"]
SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000)


def row(n):
    """Measure a matrix of n rows; return the cells of its line."""
    rng = np.random.default_rng(n)
    A = sp.random_array((n, n), density=min(1.0, 4 / n), rng=rng, format="csr")
    ranks, engines, rest = set(), [], []

    def ours():
        begin = time.perf_counter()
        matching, info = sparsematch.maximum_transversal(A, return_info=True)
        whole = time.perf_counter() - begin
        engines.append(sum(step.seconds for step in info.steps) + info.transpose_seconds)
        rest.append(whole - engines[-1])
        ranks.add(matching.cardinality)
        return whole

    def theirs():
        begin = time.perf_counter()
        mates = maximum_bipartite_matching(A)
        seconds = time.perf_counter() - begin
        ranks.add(int((mates >= 0).sum()))
        return seconds

    driver.in_turns((ours, theirs), 3)  # warm up
    del engines[:], rest[:]
    whole, scipy = driver.in_turns((ours, theirs), 30 if n > 1_000 else 300)
    if len(ranks) > 1:
        raise AssertionError(f"two ranks of a matrix of {n} rows")
    times = whole, statistics.median(engines), statistics.median(rest), scipy
    return [f"{n:,}", f"{A.nnz:,}", *(f"{1e6 * t:,.0f}" for t in times)]


def main():
    """Print the table, and write it to the file that is given."""
    args = driver.parser(__doc__, write=True).parse_args()
    lines = driver.table(HEADS, map(row, SIZES))
    driver.publish(lines, args, "table of small matrices", driver.conditions(args))


if __name__ == "__main__":
    main()
