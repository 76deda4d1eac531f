"""What `auto` on a GPU loses to the best of the engines there, and to the way through the host.

The GPU's part of `regret.py`, which has the command line: ``python benchmarks/regret.py --gpu``.
Matrices are made by a module of generators (``--families FILE``: each function of its dictionary
FAMILIES takes a generator and a number of rows), in the orders asked for, or read from a folder.
"""

import importlib.util
import math
import multiprocessing
import pathlib
import statistics
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import scipy.sparse as sp

import sparsematch

ENGINES = ("ms_bfs", "push_relabel", "apfb")

#: Seconds of all calls from which none is repeated, and of the first, which may have compiled
#: kernels, from which there is no second; how many times the best so far is not measured again.
LONG, ENDLESS, HOPELESS = 0.3, 3.0, 5.0


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


def matrices(args):
    """Yield names and matrices; a few processes make them ahead."""
    if args.families is None:
        for file in sorted(args.folder.glob("*.npz")):
            if not args.names or any(name in file.stem for name in args.names):
                yield file.stem, sp.load_npz(file).tocsr()
        return
    names = [
        name
        for name in generators(args.families).FAMILIES
        if not args.names or any(part in name for part in args.names)
    ]
    orders = args.orders.split(",")
    # a process that is forked would share the parent's context on the GPU
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(args.processes, mp_context=context) as pool:
        jobs = [(n, pool.submit(make, args.families, n, args.scale, orders)) for n in names]
        try:
            for name, job in jobs:
                for order, A in job.result():
                    yield f"{name}__{order}", A
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def seconds(call, best=math.inf):
    """Return the least time of a call until the device is done, after one that warms up."""
    import cupy as cp

    times = []
    while len(times) < 4:
        cp.cuda.Device().synchronize()
        begin = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        times.append(time.perf_counter() - begin)
        if times[0] > ENDLESS:
            return times[0]
        if len(times) > 1 and (sum(times[1:]) > LONG or times[1] > HOPELESS * best):
            break
    return min(times[1:])


def through_host(B, call):
    """Copy the matrix to the host, do the work there, and copy what `call` returns back."""
    import cupy as cp

    arrays = B.indptr.get(), B.indices.get()
    pattern = sparsematch.BipartiteCSR.from_arrays(*arrays, B.shape)
    return [cp.asarray(array) for array in call(pattern)]


def mates(pattern):
    """Return the mates that the host finds."""
    m = sparsematch.maximum_transversal(pattern)
    return m.row_mate, m.col_mate


def measure(A):
    """Return the times of `auto`, the engines and the round trip, and of the two block forms."""
    import cupy as cp
    import cupyx.scipy.sparse as csp

    B = csp.csr_matrix(A.shape, dtype=np.float32)
    B.indptr, B.indices = cp.asarray(A.indptr), cp.asarray(A.indices)
    B.data = cp.empty(A.nnz, np.float32)
    transversal = sparsematch.maximum_transversal
    times = {"auto": seconds(lambda: transversal(B))}
    times["host"] = seconds(lambda: through_host(B, mates))
    for method in ENGINES:
        best = min(times.values())
        times[method] = seconds(lambda method=method: transversal(B, method=method), best)
    form = sparsematch.block_triangular_form
    forms = {
        "auto": seconds(lambda: form(B)),
        "device": seconds(lambda: form(B, options={"host": False})),
        "host": seconds(lambda: through_host(B, form)),
    }
    _, info = transversal(B, return_info=True)
    if info.cardinality != sparsematch.structural_rank(A):
        raise AssertionError("the GPU and the host disagree about the rank")
    return times, forms, [step.engine for step in info.steps]


def show(ratios):
    """Return the mean and the worst of ratios, by name."""
    values = list(ratios.values())
    worst = max(ratios, key=ratios.get)
    above = sum(value > 1.5 for value in values)
    mean = math.exp(statistics.fmean(map(math.log, values)))
    return f"mean {mean:.2f}, worst {ratios[worst]:.2f} ({worst}), above 1.5: {above}"


def main(args):
    """Measure, print a line for each matrix and the means; return 0."""
    begin, lost, of_forms, against_engines = time.perf_counter(), {}, {}, {}
    heads = ["auto", "host", *ENGINES]
    print(f"{'ms':34s}", *(f"{head:>12s}" for head in heads), " lost | form", flush=True)
    for name, A in matrices(args):
        if time.perf_counter() - begin > args.limit:
            print("(the time limit is reached)")
            break
        times, forms, steps = measure(A)
        lost[name] = times["auto"] / min(times.values())
        against_engines[name] = times["auto"] / min(times[head] for head in ("auto", *ENGINES))
        of_forms[name] = forms["auto"] / min(forms.values())
        cells = [f"{1e3 * times[head]:12.2f}" for head in heads]
        shown = " ".join(f"{key} {1e3 * value:.2f}" for key, value in forms.items())
        ended = "" if "hand_over" not in steps else " (hand_over)"
        print(
            f"{name:34s}",
            *cells,
            f"{lost[name]:5.2f} | {shown} {of_forms[name]:.2f}{ended}",
            flush=True,
        )
    if lost:
        print("transversal, against engines and host:", show(lost))
        print("transversal, against engines alone:", show(against_engines))
        print("block form, against device and host:", show(of_forms))
    return 0


def add_arguments(parser):
    """Declare the options of the GPU's part."""
    group = parser.add_argument_group("on a GPU")
    group.add_argument("--gpu", action="store_true", help="measure the engines on the GPU")
    group.add_argument("--families", type=pathlib.Path, metavar="FILE", help="make the matrices")
    group.add_argument("--scale", type=int, default=18, help="about 2**SCALE rows (default 18)")
    group.add_argument("--orders", default="natural,both", help="of natural, both, rows, degree")
    group.add_argument("--processes", type=int, default=8, help="that make matrices ahead")
    group.add_argument("--limit", type=float, default=540.0, help="seconds (default 540)")
