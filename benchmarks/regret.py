"""Measure what `auto` loses to the best pair of heuristic and exact engine, matrix by matrix.

    python benchmarks/regret.py FOLDER [names ...]          # .npz files of scipy.sparse.save_npz
    python benchmarks/regret.py FOLDER --set search=1 --set patience=0.001
    python benchmarks/regret.py --gpu FOLDER                # on a GPU, see gpu_regret.py
    python benchmarks/regret.py --gpu --families FILE --scale 18 --orders natural,both

Every pair runs twice, stopped at three times the best so far; then `auto` and the best pair run in
turns, and their medians are compared: that is the regret, free of the luck of a single run. Below
three products of the matrix with a vector nothing can be lost, and it counts as 1.

`--set` replaces a field of `Policy` (`sparsematch/_engines/cpu/matching/auto.py`) for this run: so
the constants are fitted. The pairs are kept in FOLDER/pairs.json, so that the second run takes
seconds. Judge a constant by the families that it was not chosen on: files whose names have the same
part before `__` are one family, and `--half 0` and `--half 1` are every other one of them.
"""

import argparse
import collections
import contextlib
import dataclasses
import itertools
import json
import math
import pathlib
import signal
import statistics
import sys
import time

import numpy as np
import scipy.sparse as sp

import gpu_regret
import sparsematch
from sparsematch._engines.cpu.matching import auto

HEURISTICS = ("cheap", "karp_sipser", "min_degree")
ENGINES = ("push_relabel", "hopcroft_karp", "pothen_fan", "single_source_bfs", "ms_bfs_graft")
NOTHING_TO_LOSE = 3.0  # products of the matrix with a vector


class OutOfTimeError(Exception):
    """Raised by the alarm that stops a call."""


def stop(*_):
    """Handle the alarm: long calls are interruptible."""
    raise OutOfTimeError


def seconds(A, method, init, workers, limit):
    """Return the time of one call, or infinity if it takes longer than the limit."""
    with contextlib.suppress(OutOfTimeError):
        try:
            signal.setitimer(signal.ITIMER_REAL, limit)
            begin = time.perf_counter()
            sparsematch.maximum_transversal(A, method=method, init=init, workers=workers)
            return time.perf_counter() - begin
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return math.inf


def best_pair(A, workers):
    """Return the fastest pair, as ``(init, method)``."""
    best, pair = 60.0, None
    for method, init in itertools.product(ENGINES, HEURISTICS):
        least = min(seconds(A, method, init, workers, 3 * best) for _ in range(2))
        if least < best:
            best, pair = least, (init, method)
    return pair


def spmv(A):
    """Return the time of one product with a vector in single precision."""
    F, x, times = A.astype(np.float32), np.ones(A.shape[1], np.float32), []
    for _ in range(6):
        begin = time.perf_counter()
        F @ x
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


def regret(A, pair, workers):
    """Return the regret, the time of `auto` in products with a vector, and its steps."""
    _, info = sparsematch.maximum_transversal(A, workers=workers, return_info=True)
    init, method = pair
    ours, theirs = (
        statistics.median(times)
        for times in zip(
            *(
                (
                    seconds(A, "auto", "auto", workers, 60),
                    seconds(A, method, init, workers, 60),
                )
                for _ in range(3)
            ),
            strict=True,
        )
    )
    units = ours / spmv(A)
    lost = ours / min(ours, theirs) if units > NOTHING_TO_LOSE else 1.0
    return lost, units, [step.engine for step in info.steps]


def geometric_mean(values):
    """Return the geometric mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def with_settings(policy, settings, parser):
    """Return the policy with fields replaced, each in the type that it has."""
    changed = {}
    for name, _, value in (setting.partition("=") for setting in settings):
        kind = type(getattr(policy, name, None))
        if kind not in (int, float):
            names = ", ".join(field.name for field in dataclasses.fields(policy))
            parser.error(f"--set {name}: no such field of Policy; there are {names}")
        changed[name] = kind(float(value))
    return dataclasses.replace(policy, **changed)


def main():
    """Measure the matrices of a folder, print a line for each, and the means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=pathlib.Path())
    parser.add_argument("names", nargs="*", help="parts of the names of files; all by default")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--half", type=int, choices=(0, 1), help="every other family only")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    gpu_regret.add_arguments(parser)
    args = parser.parse_args()
    if args.gpu:
        return gpu_regret.main(args)
    auto.POLICY = with_settings(auto.POLICY, args.set, parser)
    signal.signal(signal.SIGALRM, stop)

    cache = args.folder / f"pairs_{args.workers}.json"
    pairs = json.loads(cache.read_text()) if cache.exists() else {}
    files = sorted(args.folder.glob("*.npz"))
    families = sorted({file.stem.partition("__")[0] for file in files})
    lost = collections.defaultdict(list)
    for file in files:
        family = file.stem.partition("__")[0]
        if args.names and not any(name in file.stem for name in args.names):
            continue
        if args.half is not None and families.index(family) % 2 != args.half:
            continue
        A = sp.load_npz(file).tocsr()
        if file.stem not in pairs:
            pairs[file.stem] = best_pair(A, args.workers)
            cache.write_text(json.dumps(pairs, indent=1))
        value, units, steps = regret(A, pairs[file.stem], args.workers)
        lost[family].append(value)
        best = "+".join(pairs[file.stem])
        print(
            f"{file.stem:32s} {units:7.1f} SpMV  regret {value:5.2f}  best {best:30s}"
            f"  {' '.join(steps)}",
            flush=True,
        )
    every = [value for values in lost.values() for value in values]
    if not every:
        parser.error(f"{args.folder} has no such matrices")
    worst = sorted(lost, key=lambda family: -geometric_mean(lost[family]))[:5]
    print("worst families:", ", ".join(f"{f} {geometric_mean(lost[f]):.2f}" for f in worst))
    print(
        f"{len(every)} matrices: geometric mean {geometric_mean(every):.2f}, worst "
        f"{max(every):.2f}, above 2: {sum(value > 2 for value in every)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
