"""Measure sparsematch beside other packages of Python, as ratios, and print a markdown table.

    python benchmarks/alternatives.py FILE.npz ...           # real matrices (scipy.sparse.save_npz)
    python benchmarks/alternatives.py grid_scrambled sparse_random   # generated ones
    python benchmarks/alternatives.py FILE.npz ... --write docs/alternatives.md

Those are measured that are installed: SciPy, NetworkX, igraph, OR-tools, Pyomo. They get their own
kind of graph ready-made, while sparsematch reads the matrix, checks included: that favours them.
Each runs in a process of its own and is stopped at the limit, which is then a lower bound. Medians
of three calls after one that warms up, processor time; slow ones are called once. Cardinalities
must agree, and with them the sizes of the parts where they are computed.
"""

import importlib.util
import itertools
import json
from importlib import metadata

import numpy as np
import scipy.sparse as sp

import driver
import matrices


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


def prepare(table, name, path):
    """Load a matrix; return the call of one package, and what keeps its result."""
    return TABLES[table][name][1](sp.load_npz(path)), lambda result: {"result": result}


def row(table, matrix, A, path, limit):
    """Return the cells of one matrix: ours in milliseconds, the others as multiples of it."""
    names = [name for name, (package, _) in TABLES[table].items() if is_there(package)]
    found = [driver.measure(prepare, table, name, path, limit=limit) for name in names]
    if "seconds" not in found[0]:
        raise RuntimeError(f"{matrix}: sparsematch ended with {found[0]} after {limit} s")
    results = {json.dumps(figures["result"]) for figures in found if "result" in figures}
    if len(results) > 1:
        raise AssertionError(f"{matrix}: results differ: {results}")
    unit = found[0]["seconds"]
    cells = [driver.ratio(figures, unit, limit) for figures in found[1:]]
    return [f"`{matrix}`", f"{A.nnz:,}", driver.three(1e3 * unit), *cells]


def is_there(package):
    """Whether a package is installed."""
    return importlib.util.find_spec(package) is not None


def lines_of(table, title, chosen, limit):
    """Yield the lines of one table."""
    heads = [name for name, (package, _) in TABLES[table].items() if is_there(package)]
    yield from (f"*{title}:*", "")
    cells = (row(table, *saved, limit) for saved in matrices.saved(chosen))
    yield from driver.table(["matrix", "entries", *heads], cells)


def main():
    """Print both tables, and write them to the file that is given."""
    parser = driver.parser(__doc__, write=True, scale=14, seed=2011, limit=10.0)
    matrices.add_argument(parser, default=[])
    args = parser.parse_args()
    chosen = matrices.chosen(parser, args)
    packages = {package for table in TABLES.values() for package, _ in table.values()}
    found = [f"{name} {metadata.version(name)}" for name in sorted(packages) if is_there(name)]
    matching = "A maximum matching; the others as multiples of our time"
    lines = itertools.chain(
        lines_of("matching", matching, chosen, args.limit),
        [""],
        lines_of("parts", "The Dulmage-Mendelsohn parts", chosen, args.limit),
    )
    conditions = f"{', '.join(found)}; {driver.processor()}."
    driver.publish(lines, args, "table of alternatives", conditions)


if __name__ == "__main__":
    main()
