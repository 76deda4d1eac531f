"""Matching of a file of edges that would not fit in memory: time, rounds and peak memory.

    python benchmarks/edge_file.py --edges 200_000_000 --vertices 10_000_000 [--folder FOLDER]

A random graph is written chunk by chunk and matched in a process of its own, whose peak Linux
reports; then the file is deleted. Before that, `--check` edges of the same kind are matched in a
file and in memory: the matchings must be equal.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import sparsematch

CHUNK = 4_000_000


def chunks(n_edges, n_vertices, seed):
    """Edges with random ends and weights, chunk by chunk."""
    rng = np.random.default_rng(seed)
    for begin in range(0, n_edges, CHUNK):
        size = min(CHUNK, n_edges - begin)
        u, v = rng.integers(n_vertices, size=(2, size), dtype=np.int32)
        yield u, v, rng.random(size)


def child(path, n_vertices, scratch):
    """Match, and print what the parent wants to know."""
    begin = time.perf_counter()
    matching = sparsematch.match_edge_file(path, n_vertices=n_vertices, scratch=scratch)
    seconds = time.perf_counter() - begin
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next((int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")), 0)
    (step,) = matching.info.steps
    print(
        json.dumps([seconds, peak, step.phases, step.edges, step.live_edges, matching.cardinality])
    )


def check(path, n_edges, n_vertices, seed):
    """Fail unless the file and the matrix of the same edges have the same matching."""
    sparsematch.write_edge_file(path, chunks(n_edges, n_vertices, seed))
    edges = np.load(path)
    low, high = np.minimum(edges["u"], edges["v"]), np.maximum(edges["u"], edges["v"])
    order = np.lexsort((-edges["weight"], high, low))
    low, high, weight = low[order], high[order], edges["weight"][order]
    once = np.flatnonzero((np.diff(low, prepend=-1) != 0) | (np.diff(high, prepend=-1) != 0))
    G = sp.coo_array((weight[once], (low[once], high[once])), shape=(n_vertices, n_vertices))
    in_memory = sparsematch.approximate_matching((G + G.T).tocsr())
    assert sparsematch.match_edge_file(path, n_vertices=n_vertices) == in_memory
    print(f"{n_edges:,} edges, {n_vertices:,} vertices: the same matching as in memory")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=20_000_000)
    parser.add_argument("--vertices", type=int, default=1_000_000)
    parser.add_argument("--check", type=int, default=2_000_000)
    parser.add_argument(
        "--folder", help="for the file and the scratch files (default: that of tempfile)"
    )
    parser.add_argument("--seed", type=int, default=2013)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.vertices, given.folder)
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "edges.npy"
        if given.check:
            check(
                path, given.check, max(given.check * given.vertices // given.edges, 2), given.seed
            )
        sparsematch.write_edge_file(path, chunks(given.edges, given.vertices, given.seed))
        command = [
            sys.executable,
            __file__,
            "--child",
            str(path),
            "--vertices",
            str(given.vertices),
            "--folder",
            folder,
        ]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, peak, rounds, scanned, live, pairs = json.loads(out)
        size = path.stat().st_size / 1e9
        print(f"{given.edges:,} edges, {size:.2f} GB; {given.vertices:,} vertices, {pairs:,} pairs")
        print(f"{seconds:.1f} s, peak of resident memory {peak / 2**20:,.0f} MiB")
        print(f"{rounds} rounds, {scanned / given.edges:.2f} times the edges read")
        print(f"left per round: {live}")


if __name__ == "__main__":
    main()
