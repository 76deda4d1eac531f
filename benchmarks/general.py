"""Measure the engines for general graphs and networkit's suitor matcher; print a markdown table.

    python benchmarks/general.py                                # graphs of about 2^18 vertices
    python benchmarks/general.py --scale 20 delaunay random_4   # larger ones, these two
    python benchmarks/general.py --unit passes                  # multiples of a pass over the edges

Times are medians after one call that is not counted, of the engine alone: `info.seconds`. "call" is
`approximate_matching(G)` as a user makes it, the check of the matrix included. Two numbers are
those with one and two workers. networkit is left out where it is not installed, and timed without
building its graph, on lists as they come and on lists sorted by weight, the sorting not counted;
the better one is shown. A pass over the edges is one product of the matrix with a vector. Engines
that find the same matching by design must have found it; the others must find a maximal one.
`paper_figures.py` compares the weights that they find.
"""

import time

import numpy as np
import scipy.sparse as sp

import driver
import graphs
import sparsematch as sm
from driver import three

try:
    import networkit
except ImportError:
    networkit = None

ENGINES = [engine for engine in sm.engines("approximate") if engine.name != "auto"]
SAME = {"greedy", "suitor", "local_max"}
SCALES = {"random_16": -1, "random_64": -3}


def engine_seconds(G, name, workers, args):
    """Median time of an engine, and its matching."""
    how = {"method": name, "workers": workers, "weights": args.weights != "unit"}
    found = [sm.approximate_matching(G, **how) for _ in range(args.repeats + 1)]
    return float(np.median([matching.info.seconds for matching in found[1:]])), found[-1]


def peer_seconds(G, args):
    """The better of networkit's two variants."""
    upper = sp.coo_array(sp.triu(G, 1))
    ends = tuple(upper.coords[k].astype(np.uint64) for k in (0, 1))
    how = {"n": G.shape[0], "weighted": True, "directed": False}
    graph = networkit.GraphFromCoo((upper.data.astype(float), ends), **how)
    networkit.setNumberOfThreads(1)
    best = np.inf
    for ordered in (False, True):
        if ordered:
            networkit.graphtools.sortEdgesByWeight(graph, True)
        runs = [
            networkit.matching.SuitorMatcher(graph, ordered, False) for _ in range(args.repeats)
        ]
        best = min(best, np.median([driver.seconds_of(matcher.run) for matcher in runs]))
    return float(best)


def row(name, args):
    """The cells of one graph."""
    G = graphs.build(
        name, 1 << (args.scale + SCALES.get(name.removesuffix("_scrambled"), 0)), args.weights
    )
    x = np.ones(G.shape[0])
    unit, _ = driver.median(lambda: G @ x, time.perf_counter, 7)
    call, _ = driver.median(
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


def main():
    """Print the table."""
    parser = driver.parser(__doc__, scale=18, repeats=5)
    text = f"graphs, of {', '.join(graphs.NAMES)} (default all)"
    parser.add_argument("names", nargs="*", metavar="GRAPH", default=graphs.NAMES, help=text)
    parser.add_argument("--weights", choices=["random", "unit", "length"], default="random")
    parser.add_argument("--unit", choices=["ms", "passes"], default="ms")
    args = parser.parse_args()
    print(f"Times in {args.unit}, {args.weights} weights.\n")
    heads = ["graph", "vertices", "edges", "pass, ms", "call", *(e.name for e in ENGINES)]
    heads += ["networkit"] if networkit else []
    driver.show(heads, (row(name, args) for name in args.names))


if __name__ == "__main__":
    main()
