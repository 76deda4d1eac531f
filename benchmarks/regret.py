"""Measure what `auto` loses to the best of the engines, matrix by matrix.

    python benchmarks/regret.py MATRIX ...                  # files, folders, generated ones
    python benchmarks/regret.py FOLDER --set search=1 --set patience=0.001
    python benchmarks/regret.py --gpu --families FILE --scale 18 --orders natural,both

On the host the contestants are all pairs of a heuristic and an exact engine, stopped at three times
the best so far. `--pairs FILE` remembers the best pair of each matrix, so that the second run takes
seconds. Then `auto` and the best pair run in turns, and their medians are compared: that is the
regret, free of the luck of a single run. Below three products of the matrix with a vector nothing
can be lost, and it counts as 1. `--set` replaces a field of `Policy` (in
`sparsematch/_engines/cpu/matching/auto.py`) for this run: so the constants are fitted. Judge one by
the families that it was not chosen on: names with the same part before `__` are one family, and
`--half 0` and `--half 1` are every other one of them.

With `--gpu` the contestants are the engines there and the host with copies from and to the GPU, and
the block form is compared with the device's alone and with the host's. What is much slower than the
best so far is not repeated.

`--families` names a module of generators: each function of its dictionary FAMILIES takes a numpy
Generator and a number of rows; its `ordered(A, order, rng)` gives the orders asked for.
"""

import collections
import contextlib
import dataclasses
import functools
import importlib.util
import itertools
import json
import math
import multiprocessing
import pathlib
import signal
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import scipy.sparse as sp

import driver
import matrices
import sparsematch
from sparsematch._engines.cpu.matching import auto

HEURISTICS = ("cheap", "karp_sipser", "min_degree")
ENGINES = ("push_relabel", "hopcroft_karp", "pothen_fan", "single_source_bfs", "ms_bfs_graft")
GPU_ENGINES = ("ms_bfs", "push_relabel", "apfb")
NOTHING_TO_LOSE = 3.0  # products of the matrix with a vector
#: On a GPU: seconds of all calls from which none is repeated; of the first, which may have compiled
#: kernels, from which there is no second; times the best so far from which none is repeated.
LONG, ENDLESS, HOPELESS = 0.3, 3.0, 5.0


# ---- matrices


def generators(file):
    """Return the module of generators."""
    spec = importlib.util.spec_from_file_location("families", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(file, name, scale, orders):
    """Return the matrices of a family, by order."""
    module = generators(file)
    rng = np.random.default_rng([1, *name.encode()])
    A = sp.coo_array(module.FAMILIES[name](rng, 1 << scale))
    A = module.pattern(A.row, A.col, A.shape)
    return [(order, sp.csr_array(module.ordered(A, order, rng))) for order in orders]


def families(args):
    """Yield names and matrices; a few processes make them ahead."""
    # a process that is forked would share the parent's context on the GPU
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(args.processes, mp_context=context) as pool:
        jobs = [
            (name, pool.submit(make, args.families, name, args.scale, args.orders.split(",")))
            for name in generators(args.families).FAMILIES
            if not args.names or any(part in name for part in args.names)
        ]
        try:
            for name, job in jobs:
                yield from ((f"{name}__{order}", A) for order, A in job.result())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


# ---- on the host


class OutOfTimeError(Exception):
    """Raised by the alarm that stops a call."""


def stop(*_):
    """Handle the alarm: long calls are interruptible."""
    raise OutOfTimeError


def seconds(A, pair, workers, limit=60.0):
    """Return the time of one call, or infinity if it takes longer than the limit."""
    init, method = pair
    call = lambda: sparsematch.maximum_transversal(A, method=method, init=init, workers=workers)
    with contextlib.suppress(OutOfTimeError):
        try:
            signal.setitimer(signal.ITIMER_REAL, limit)
            return driver.seconds_of(call)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return math.inf


def best_pair(A, workers):
    """Return the fastest pair, as ``(init, method)``."""
    best, pair = 60.0, None
    for method, init in itertools.product(ENGINES, HEURISTICS):
        least = min(seconds(A, (init, method), workers, 3 * best) for _ in range(2))
        if least < best:
            best, pair = least, (init, method)
    return pair


def on_host(name, A, args, pairs):
    """Return the regret of a matrix, and the line to print."""
    if name not in pairs:
        pairs[name] = best_pair(A, args.workers)
        if args.pairs:
            args.pairs.write_text(json.dumps(pairs, indent=1))
    _, info = sparsematch.maximum_transversal(A, workers=args.workers, return_info=True)
    calls = [functools.partial(seconds, A, p, args.workers) for p in (("auto",) * 2, pairs[name])]
    ours, theirs = driver.in_turns(calls, 3)
    F, x = A.astype(np.float32), np.ones(A.shape[1], np.float32)
    units = ours / driver.median(lambda: F @ x, time.perf_counter, 5)[0]
    lost = ours / min(ours, theirs) if units > NOTHING_TO_LOSE else 1.0
    steps = " ".join(step.engine for step in info.steps)
    best = "+".join(pairs[name])
    line = f"{name:32s} {units:7.1f} SpMV  regret {lost:5.2f}  best {best:30s}  {steps}"
    return {"transversal, against pairs": lost}, line


# ---- on a GPU


def least_on_gpu(call, best=math.inf):
    """Return the least time of a call until the device is done, after one that warms up."""
    import gpu

    times = []
    while len(times) < 4:
        times.append(gpu.seconds_of(call))
        if times[0] > ENDLESS:
            return times[0]
        if len(times) > 1 and (sum(times[1:]) > LONG or times[1] > HOPELESS * best):
            break
    return min(times[1:])


def on_gpu(name, A, args, _):
    """Return the regrets of a matrix, and the line to print."""
    import gpu

    B, transversal = gpu.on_device(A), sparsematch.maximum_transversal
    times = {"auto": least_on_gpu(lambda: transversal(B))}
    times["host"] = least_on_gpu(lambda: gpu.through_host(B, transversal))
    for method in GPU_ENGINES:
        call = functools.partial(transversal, B, method=method)
        times[method] = least_on_gpu(call, min(times.values()))
    form = sparsematch.block_triangular_form
    forms = {
        "auto": least_on_gpu(lambda: form(B)),
        "device": least_on_gpu(lambda: form(B, options={"host": False})),
        "host": least_on_gpu(lambda: gpu.through_host(B, form)),
    }
    _, info = transversal(B, return_info=True)
    if info.cardinality != sparsematch.structural_rank(A):
        raise AssertionError(f"{name}: the GPU and the host disagree about the rank")
    lost = {
        "transversal, against engines and host": times["auto"] / min(times.values()),
        "transversal, against engines alone": times["auto"]
        / min(time for head, time in times.items() if head != "host"),
        "block form, against device and host": forms["auto"] / min(forms.values()),
    }
    shown = (
        " ".join(f"{head} {1e3 * time:.2f}" for head, time in group.items())
        for group in (times, forms)
    )
    regrets = " ".join(f"{value:.2f}" for value in lost.values())
    steps = " ".join(step.engine for step in info.steps)
    return lost, f"{name:32s} {regrets} | ms: {' | '.join(shown)} | {steps}"


# ---- all matrices


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


def every_other(found, half):
    """Return the matrices of every other family."""
    names = sorted({name.partition("__")[0] for name, _ in found})
    return [(n, make) for n, make in found if names.index(n.partition("__")[0]) % 2 == half]


def summarise(what, values):
    """Print the mean and the worst of ratios by name, and the worst families."""
    by_family = collections.defaultdict(list)
    for name, value in values.items():
        by_family[name.partition("__")[0]].append(value)
    means = {family: driver.geometric_mean(of) for family, of in by_family.items()}
    worst = sorted(means, key=lambda family: -means[family])[:5]
    mean = driver.geometric_mean(values.values())
    print(
        f"{what}: {len(values)} matrices, geometric mean {mean:.2f}"
        f", worst {max(values.values()):.2f}, above 1.5: {sum(v > 1.5 for v in values.values())}; "
        f"worst families: {', '.join(f'{family} {means[family]:.2f}' for family in worst)}"
    )


def parse():
    """Read the command line; return its arguments and an iterator over names and matrices."""
    parser = driver.parser(__doc__, scale=18, seed=2011, workers=1, limit=math.inf)
    parser.add_argument("--half", type=int, choices=(0, 1), help="every other family only")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--pairs", type=pathlib.Path, metavar="FILE", help="the best of each")
    parser.add_argument("--gpu", action="store_true", help="measure the engines on the GPU")
    parser.add_argument("--families", type=pathlib.Path, metavar="FILE", help="make the matrices")
    parser.add_argument("--orders", default="natural,both", help="of natural, both, rows, degree")
    parser.add_argument("--processes", type=int, default=8, help="that make matrices ahead")
    matrices.add_argument(parser, default=[])
    args = parser.parse_args()
    auto.POLICY = with_settings(auto.POLICY, args.set, parser)
    if args.families:
        return args, families(args)
    found = matrices.chosen(parser, args)
    if args.half is not None:
        found = every_other(found, args.half)
    return args, ((name, make()) for name, make in found)


def main():
    """Print a line for each matrix, and the means."""
    args, given = parse()
    signal.signal(signal.SIGALRM, stop)
    pairs = json.loads(args.pairs.read_text()) if args.pairs and args.pairs.exists() else {}
    begin, lost = time.perf_counter(), collections.defaultdict(dict)
    for name, A in given:
        if time.perf_counter() - begin > args.limit:
            print("(the time limit is reached)")
            break
        regrets, line = (on_gpu if args.gpu else on_host)(name, A, args, pairs)
        print(line, flush=True)
        for what, value in regrets.items():
            lost[what][name] = value
    for what, values in lost.items():
        summarise(what, values)


if __name__ == "__main__":
    main()
