"""Measure the speed-up by several workers, beside what the machine had to give at that moment.

    python benchmarks/workers.py FILE.npz ...        # files written by scipy.sparse.save_npz
    python benchmarks/workers.py --workers 4 --rounds 25 FILE.npz ...

Two cores of a shared machine may be the two threads of one core, or run other programs, too. So a
control that needs no memory is measured with them: a hash, by one thread and by as many as there
are workers. Each round makes all four calls in turn, in wall clock; ratios are those of the
medians.
"""

import argparse
import hashlib
import pathlib
import statistics
import sys
import threading
import time

import scipy.sparse as sp

import sparsematch

HASHES = 20_000  # of one control: some ten milliseconds


def control(n):
    """Work that runs in registers, without the interpreter's lock, by n threads at once."""

    def work():
        hashlib.pbkdf2_hmac("sha256", b"", b"", HASHES)

    threads = [threading.Thread(target=work) for _ in range(n - 1)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()


def medians(calls, rounds):
    """Median wall clock of each call in milliseconds; the calls alternate."""

    def seconds(call):
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    times = [[seconds(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(of) * 1e3 for of in zip(*times, strict=True)]


def parse():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.npz")
    parser.add_argument("--workers", type=int, default=2, help="against one (default 2)")
    parser.add_argument("--rounds", type=int, default=15, help="for each matrix (default 15)")
    args = parser.parse_args()
    if args.workers < 2 or args.rounds < 1:
        found = f"--workers {args.workers} --rounds {args.rounds}"
        parser.error(f"{found}: expected at least 2 workers and 1 round")
    return args


def main():
    """Print a line for each matrix."""
    args = parse()
    n = args.workers
    names = ["1 worker, ms", f"{n} workers, ms", "times as fast", "control"]
    print(f"{'':14s}", *(f"{name:>14s}" for name in names))
    for path in args.files:
        A = sp.csr_array(sp.load_npz(path))
        A.sort_indices()
        transversals = [
            lambda k=k, A=A: sparsematch.maximum_transversal(A, workers=k) for k in (1, n)
        ]
        controls = [lambda k=k: control(k) for k in (1, n)]
        medians(transversals, 1)  # warm up
        one, several, hash_one, hash_all = medians(transversals + controls, args.rounds)
        times = f"{path.stem:14s} {one:14.1f} {several:14.1f} {one / several:14.2f}"
        print(f"{times} {n * hash_one / hash_all:9.2f} of {n}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
