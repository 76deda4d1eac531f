"""Measure the engines for general graphs and networkit's suitor matcher; print a markdown table.

    python benchmarks/general.py                                # graphs of about 2^18 vertices
    python benchmarks/general.py --scale 20 delaunay random_4   # larger ones, these two
    python benchmarks/general.py --unit passes                  # multiples of a pass over the edges
    python benchmarks/general.py --quality --folder FOLDER      # weights relative to gpa; with
                                                                # FOLDER, of its matrices, too

Times are medians after one call that is not counted, of the engine alone: `info.seconds`. "call" is
`approximate_matching(G)` as a user makes it, the check of the matrix included. Two numbers are
those with one and two workers. networkit is left out where it is not installed, and timed without
building its graph, on lists as they come and on lists sorted by weight, the sorting not counted;
the better one is shown. A pass over the edges is one product of the matrix with a vector. Engines
that find the same matching by design must have found it; the others must find a maximal one.
"""

import argparse
import pathlib
import time

import numpy as np
import scipy.sparse as sp

import graphs
import sparsematch as sm
from compare import line, three
from measure import median

try:
    import networkit
except ImportError:
    networkit = None

ENGINES = [engine for engine in sm.engines("approximate") if engine.name != "auto"]
SAME = {"greedy", "suitor", "local_max"}
SCALES = {"random_16": -1, "random_64": -3}
QUALITY = {
    "delaunay": "length",
    "rgg": "length",
    "random_4": "random",
    "random_16": "random",
    "random_64": "random",
}


def engine_seconds(G, name, workers, args):
    """Median time of an engine, and its matching."""
    seconds = []
    for _ in range(args.repeats + 1):
        matching = sm.approximate_matching(
            G, method=name, workers=workers, weights=args.weights != "unit"
        )
        seconds.append(matching.info.seconds)
    return float(np.median(seconds[1:])), matching


def peer_seconds(G, args):
    """The better of networkit's two variants."""
    upper = sp.coo_array(sp.triu(G, 1))
    ends = tuple(upper.coords[k].astype(np.uint64) for k in (0, 1))
    graph = networkit.GraphFromCoo(
        (upper.data.astype(float), ends), n=G.shape[0], weighted=True, directed=False
    )
    networkit.setNumberOfThreads(1)
    best = np.inf
    for ordered in (False, True):
        if ordered:
            networkit.graphtools.sortEdgesByWeight(graph, True)
        seconds = []
        for _ in range(args.repeats):
            matcher = networkit.matching.SuitorMatcher(graph, ordered, False)
            start = time.perf_counter()
            matcher.run()
            seconds.append(time.perf_counter() - start)
        best = min(best, float(np.median(seconds)))
    return best


def speed(name, args):
    """The cells of one graph."""
    G = graphs.build(
        name, 1 << (args.scale + SCALES.get(name.removesuffix("_scrambled"), 0)), args.weights
    )
    x = np.ones(G.shape[0])
    unit, _ = median(lambda: G @ x, time.perf_counter, 7)
    call, _ = median(
        lambda: sm.approximate_matching(G, weights=args.weights != "unit"),
        time.perf_counter,
        args.repeats,
    )
    times, found = {"call": [call]}, {}
    for engine in ENGINES:
        times[engine.name] = []
        for workers in (1, 2) if engine.multithreaded else (1,):
            seconds, found[engine.name, workers] = engine_seconds(G, engine.name, workers, args)
            times[engine.name].append(seconds)
    for (engine, workers), matching in found.items():
        if engine in SAME and matching != found["greedy", 1]:
            raise AssertionError(
                f"{name}: {engine} with {workers} workers has another matching than greedy"
            )
        if not sm.is_maximal(G, matching):
            raise AssertionError(f"{name}: the matching of {engine} is not maximal")
    if networkit:
        times["networkit"] = [peer_seconds(G, args)]
    scale = unit if args.unit == "passes" else 1e-3
    shown = (" / ".join(three(t / scale) for t in pair) for pair in times.values())
    edges = (G.nnz - np.count_nonzero(G.diagonal())) // 2
    return [f"`{name}`", f"{G.shape[0]:,}", f"{edges:,}", three(unit * 1e3), *shown]


def print_speed(args):
    """The table of times."""
    names = ["call", *(e.name for e in ENGINES), *(["networkit"] if networkit else [])]
    unit = "passes over the edges" if args.unit == "passes" else "ms"
    print(f"Times in {unit}, {args.weights} weights.\n")
    print(line(["graph", "vertices", "edges", "pass, ms", *names]))
    print(line(["---", *["---:"] * (len(names) + 3)]))
    for name in args.names or graphs.NAMES:
        print(line(speed(name, args)), flush=True)


def symmetric_matrix(path):
    """The magnitudes off the diagonal of a symmetric matrix of real values; None of another."""
    A = sp.csr_array(sp.load_npz(path))
    if A.dtype.kind not in "fiu" or A.shape[0] != A.shape[1]:
        return None
    A = abs(A.astype(float))
    A.sum_duplicates()
    A = sp.csr_array(A - sp.diags_array(A.diagonal()))
    A.eliminate_zeros()
    if not A.nnz or not np.isfinite(A.data).all() or np.ptp(A.data) == 0 or (A != A.T).nnz:
        return None
    return A


def ratios(G):
    """The weight of each engine's matching over that of gpa."""
    weight = {e.name: sm.approximate_matching(G, method=e.name).weight for e in ENGINES}
    return [weight[e.name] / weight["gpa"] for e in ENGINES]


def print_quality(args):
    """The table of weights: each family, each matrix, and the geometric means."""
    print(line(["graph", "vertices", *(e.name for e in ENGINES)]))
    print(line(["---", *["---:"] * (len(ENGINES) + 1)]))
    rows = []

    def show(name, n, row):
        print(line([name, n, *(f"{r:.4f}" for r in row)]), flush=True)

    for name, weights in QUALITY.items():
        for scale in range(args.scale - 3, args.scale + 1):
            G = graphs.build(name, 1 << scale, weights)
            rows.append(ratios(G))
            show(f"`{name}`", f"2^{scale}", rows[-1])
    families = len(rows)
    for path in sorted(args.folder.glob("*.npz")) if args.folder else ():
        if (G := symmetric_matrix(path)) is not None:
            rows.append(ratios(G))
            show(f"`{path.stem}`", f"{G.shape[0]:,}", rows[-1])
    show("geometric mean of the families", "", np.exp(np.mean(np.log(rows[:families]), axis=0)))
    if args.folder:
        show("geometric mean of the matrices", "", np.exp(np.mean(np.log(rows[families:]), axis=0)))
        show("geometric mean of all", "", np.exp(np.mean(np.log(rows), axis=0)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", help=f"graphs, of {', '.join(graphs.NAMES)} (default all)"
    )
    parser.add_argument("--scale", type=int, default=18, help="about 2^SCALE vertices (default 18)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--weights", choices=["random", "unit", "length"], default="random")
    parser.add_argument("--unit", choices=["ms", "passes"], default="ms")
    parser.add_argument("--quality", action="store_true", help="weights instead of times")
    parser.add_argument(
        "--folder", type=pathlib.Path, help="symmetric matrices for --quality, as .npz files"
    )
    args = parser.parse_args()
    print_quality(args) if args.quality else print_speed(args)


if __name__ == "__main__":
    main()
