"""The graphs and runs behind paper_figures.py: families, real matrices, engines, times, weights."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import sparsematch
from graphs import build

FAMILIES = {
    "delaunay": ("Delaunay", "length", 3),
    "rgg": ("random geometric", "length", 7),
    "random_4": ("random, alpha = 4", "random", 4),
    "random_16": ("random, alpha = 16", "random", 16),
    "random_64": ("random, alpha = 64", "random", 64),
}
#: Of a family no graph with more edges than these is made.
MOST_EDGES = 1 << 22


def match(G, method, **how):
    """A matching, and the account of its engine."""
    matching = sparsematch.approximate_matching(G, method=method, return_info=True, rng=1, **how)
    return matching, matching.info.steps[0]


def fastest(G, method, repeats=3, **how):
    """The shortest time of the engine, the check of the matrix excluded."""
    results = [
        sparsematch.approximate_matching(G, method=method, rng=1, **how) for _ in range(repeats)
    ]
    return min(m.info.steps[0].seconds for m in results)


def methods(*wanted, backend="numpy"):
    """Those of the engines that are there."""
    there = {engine.name for engine in sparsematch.engines("approximate", backend=backend)}
    missing = [name for name in wanted if name not in there]
    if missing:
        print(f"left out, not there: {', '.join(missing)}", file=sys.stderr)
    return [name for name in wanted if name in there]


def gpu():
    """Return the module of sparse matrices on a GPU, or None."""
    try:
        import cupy
        from cupyx.scipy import sparse

        return sparse if cupy.cuda.runtime.getDeviceCount() else None
    except Exception:
        return None


@cache
def sizes(name, largest):
    """The exponents of the numbers of vertices."""
    edges = FAMILIES[name][2]
    return [
        k
        for k in range(10, largest + 1, 2 if largest > 14 else 1)
        if edges << k <= max(MOST_EDGES, edges << 10)
    ]


@cache
def family(name, exponent):
    return build(name, 1 << exponent, FAMILIES[name][1])


@cache
def real_matrices(folder, least=1000):
    """The symmetric matrices with different values, by name, the smallest first."""
    found = {}
    for path in sorted(Path(folder).glob("*.npz")) if folder else []:
        try:
            A = sp.csr_array(sp.load_npz(path))
        except (ValueError, KeyError, OSError):
            continue
        if A.shape[0] != A.shape[1] or A.shape[0] > 200_000 or A.dtype.kind not in "fci":
            continue
        A.sum_duplicates()
        magnitudes = sp.csr_array(abs(A))
        edges = sp.triu(magnitudes, 1)
        if (
            edges.nnz >= least
            and np.unique(edges.data).size > 1
            and (magnitudes != magnitudes.T).nnz == 0
        ):
            found[path.stem] = magnitudes
    if folder and not found:
        print(f"no such matrices in {folder}: their panels are left out", file=sys.stderr)
    return dict(sorted(found.items(), key=lambda item: item[1].nnz))


def weight_ratios(graphs, names):
    """The weight of each engine's matching of each graph, relative to that of gpa."""
    ratios = {name: [] for name in names}
    for G in graphs:
        unit = match(G, "gpa")[0].weight
        for name in names:
            ratios[name].append(match(G, name)[0].weight / unit)
    return ratios


def fastest_on_gpu(G, method, repeats=5):
    """The shortest time of a call on the device, waited for."""
    import cupy
    from cupyx.profiler import benchmark

    call = lambda: sparsematch.approximate_matching(G, method=method, rng=1)
    times = benchmark(call, n_repeat=repeats, n_warmup=1)
    cupy.cuda.Device().synchronize()
    return float(times.gpu_times.min())
