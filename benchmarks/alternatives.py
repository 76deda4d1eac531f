"""Measure sparsematch beside other packages of Python, as ratios, and print a markdown table.

    python benchmarks/alternatives.py FILE.npz ...           # real matrices (scipy.sparse.save_npz)
    python benchmarks/alternatives.py --generated grid_scrambled sparse_random
    python benchmarks/alternatives.py FILE.npz ... --write docs/alternatives.md

Those are measured that are installed: SciPy, NetworkX, igraph, OR-tools, Pyomo. They get their own
kind of graph ready-made, while sparsematch reads the matrix, checks included: that favours them.
Each runs in a process of its own and is stopped at the limit, which is then a lower bound. Medians
of three calls after one that warms up, processor time; slow ones are called once. Cardinalities
must agree, and with them the sizes of the parts where they are computed.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import tempfile
import time
from importlib import metadata

import numpy as np
import scipy.sparse as sp

import compare
import matrices
import real
from measure import PATIENCE, median, run_child, stop_after

BEGIN = "<!-- table of alternatives: written by benchmarks/alternatives.py -->"
END = "<!-- end of the table of alternatives -->"


def ours(A):
    import sparsematch

    return lambda: sparsematch.maximum_transversal(A).cardinality


def ours_parts(A):
    import sparsematch

    def parts():
        form = sparsematch.block_triangular_form(A)
        return form.structural_rank, len(form.square.rows)

    return parts


def with_scipy(A):
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return lambda: int((maximum_bipartite_matching(A, perm_type="column") >= 0).sum())


def with_networkx(A):
    import networkx as nx

    graph, rows = nx.algorithms.bipartite.from_biadjacency_matrix(A), range(A.shape[0])
    matching = nx.algorithms.bipartite.hopcroft_karp_matching
    return lambda: len(matching(graph, rows, backend="networkx")) // 2


def with_igraph(A):
    import igraph

    entries = A.tocoo()
    edges = np.column_stack([entries.row, entries.col + A.shape[0]]).tolist()
    types = [False] * A.shape[0] + [True] * A.shape[1]
    graph = igraph.Graph(sum(A.shape), edges)
    return lambda: len(graph.maximum_bipartite_matching(types))


def with_ortools(A):
    from ortools.graph.python import max_flow

    n, m = A.shape
    entries, flow = A.tocoo(), max_flow.SimpleMaxFlow()
    tails = np.concatenate([entries.row, np.full(n, n + m), n + np.arange(m)])
    heads = np.concatenate([n + entries.col, np.arange(n), np.full(m, n + m + 1)])
    flow.add_arcs_with_capacity(tails, heads, np.ones(len(tails), np.int64))

    def solve():
        flow.solve(n + m, n + m + 1)
        return flow.optimal_flow()

    return solve


def with_pyomo(A):
    from pyomo.contrib.incidence_analysis import matching

    entries = A.tocoo()
    return lambda: len(matching.maximum_matching(entries))


def with_pyomo_parts(A):
    from pyomo.contrib.incidence_analysis import dulmage_mendelsohn as dm

    entries = A.tocoo()

    def parts():
        rows, _ = dm.dulmage_mendelsohn(entries)
        return sum(map(len, (rows.underconstrained, rows.square, rows.overconstrained))), len(
            rows.square
        )

    return parts


#: Heading, package, what prepares a call; the first of each table is ours.
MATCHING = {
    "sparsematch, ms": ("sparsematch", ours),
    "SciPy": ("scipy", with_scipy),
    "igraph": ("igraph", with_igraph),
    "OR-tools": ("ortools", with_ortools),
    "NetworkX": ("networkx", with_networkx),
    "Pyomo": ("pyomo", with_pyomo),
}
PARTS = {
    "sparsematch, ms": ("sparsematch", ours_parts),
    "Pyomo": ("pyomo", with_pyomo_parts),
}
TABLES = {"matching": MATCHING, "parts": PARTS}


def child(table, name, path, limit):
    """Measure one package on one matrix; return the seconds and its result."""
    call = TABLES[table][name][1](sp.load_npz(path))
    print("ready", flush=True)
    stop_after(float(limit))
    try:
        return median(call, time.thread_time, 3)
    except RecursionError:
        return None, "RecursionError"


def measure(table, name, path, limit):
    """Run the child; return what it found, or None where it did not end in time."""
    command = [sys.executable, __file__, "--child", table, name, path, str(limit)]
    return run_child(command, f"{name} failed on {path}", limit * PATIENCE)


def row(table, matrix, A, path, limit):
    """Return the cells of one matrix: ours in milliseconds, the others as multiples of it."""
    names = [name for name, (package, _) in TABLES[table].items() if is_there(package)]
    found = {name: measure(table, name, path, limit) for name in names}
    first, *others = found.values()
    if first is None:
        raise RuntimeError(f"{matrix}: sparsematch was stopped after {limit} s")
    results = {json.dumps(figures[1]) for figures in found.values() if figures and figures[0]}
    if len(results) > 1:
        raise AssertionError(f"{matrix}: results differ: {results}")
    cells = [cell(figures, first[0], limit) for figures in others]
    return [f"`{matrix}`", f"{A.nnz:,}", compare.three(1e3 * first[0]), *cells]


def cell(figures, unit, limit):
    """How many times our time it took; a bound where it was stopped, the error where it failed."""
    if figures is None:
        return f"> {compare.three(limit / unit)}"
    return compare.three(figures[0] / unit) if figures[0] else figures[1]


def is_there(package):
    """Whether a package is installed."""
    return importlib.util.find_spec(package) is not None


def versions():
    """Name the packages that were measured."""
    names = {package for table in TABLES.values() for package, _ in table.values()}
    found = [f"{name} {metadata.version(name)}" for name in sorted(names) if is_there(name)]
    return f"{', '.join(found)}; {compare.processor()}."


def matrices_of(args):
    """Yield the matrices that are asked for, with their names."""
    for path in args.files:
        yield path.stem, real.load(path)
    for name in args.generated:
        yield name, matrices.build(name, args.scale, 2011)


def parse():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.npz")
    parser.add_argument("--generated", nargs="*", default=[], choices=matrices.NAMES)
    parser.add_argument("--scale", type=int, default=14, help="of the generated ones (default 14)")
    parser.add_argument(
        "--limit", type=float, default=10.0, help="processor seconds for one measurement"
    )
    parser.add_argument(
        "--write", type=pathlib.Path, metavar="FILE", help="put the tables between marks of FILE"
    )
    args = parser.parse_args()
    if not args.files and not args.generated:
        parser.error("no matrix: name files, or --generated ones")
    return args


def main():
    """Print both tables, and write them to the file that is given."""
    args = parse()
    lines = [versions()]
    with tempfile.TemporaryDirectory() as folder:
        saved = []
        for name, A in matrices_of(args):
            saved.append((name, A, f"{folder}/{name}.npz"))
            sp.save_npz(saved[-1][2], A, compressed=False)
        for table, title in (
            ("matching", "A maximum matching; the others as multiples of our time"),
            ("parts", "The Dulmage-Mendelsohn parts"),
        ):
            head = [name for name, (package, _) in TABLES[table].items() if is_there(package)]
            head = ["matrix", "entries", *head]
            lines += ["", f"*{title}:*", "", compare.line(head)]
            lines.append(compare.line(["---"] + ["---:"] * (len(head) - 1)))
            for name, A, path in saved:
                lines.append(compare.line(row(table, name, A, path, args.limit)))
                print(lines[-1], flush=True)
    print(*lines, sep="\n")
    if args.write:
        compare.write(args.write, "\n".join(lines), BEGIN, END)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(*sys.argv[2:])))
    else:
        sys.exit(main())
