"""Measure every table of the pages that puts sparsematch beside other packages.

    python benchmarks/tables.py --folder FOLDER --write    # all, written to the pages
    python benchmarks/tables.py --only generated --scale 20 mesh mesh_scrambled
    python benchmarks/tables.py --only real FILE.npz ...    # real matrices of your own

The folder has the real matrices, files of `scipy.sparse.save_npz` by the names of the SuiteSparse
Matrix Collection (https://sparse.tamu.edu); without it their tables are left out. Those packages
are measured that are installed: SciPy, NetworkX, igraph, OR-tools, Pyomo. They get their own kind
of graph ready-made, while sparsematch reads the matrix, checks included: that favours them.

Each matrix has a process of its own, in which all calls are made in turns, warm: medians of
processor time, of wall clock with more than one worker. Each call is made first in a copy of that
process, which is stopped at the limit; one that takes longer than half a second is not repeated.
Results of all must agree, ours are certified. benchmarks/README.md says what is fair.
"""

import argparse
import functools
import importlib.util
import json
import math
import multiprocessing
import os
import pathlib
import sys
import time
import warnings
from importlib import metadata

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching
from scipy.sparse.linalg import splu

import assignment
import driver
import matrices
import sparsematch
from sparsematch import csgraph, solvers

PAGES = pathlib.Path(__file__).resolve().parents[1]
#: Packages of one table: heading, name, the calls.
PACKAGES = {"SciPy": "scipy", "igraph": "igraph", "OR-tools": "ortools", "NetworkX": "networkx",
            "Pyomo": "pyomo"}  # fmt: skip
#: The real matrices of the pages, and those that all packages get.
REAL = ("crack", "bayer10", "memplus", "lp_ken_18", "luxembourg_osm", "CONT-300_kkt",
        "pfjac_ACTIVSg70k", "amazon0302", "cnr-2000", "G3_circuit")  # fmt: skip
BESIDE = ("bayer10", "memplus", "crack", "email-Enron")
BESIDE_GENERATED, BESIDE_SCALE = ("sparse_random", "grid_scrambled"), 14
SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000)
FULL = (("grid", 13), ("mesh", 13), ("circuit", 13), ("dense", 13), ("grid", 16), ("mesh", 16),
        ("circuit", 16))  # fmt: skip
ORDERS = ("natural", "one numbering for rows and columns", "the same, indices not sorted",
          "rows and columns permuted independently")  # fmt: skip
#: Seconds that turns may take, and how many there are at least and at most.
TURNS, FEWEST, MOST = 0.6, 5, 201
#: Seconds below which a turn is two calls, of which the second counts.
BRIEF = 0.01


# ---- timing


def first(call, limit):
    """Make a call in a copy of this process, stopped at the limit: its seconds and its result."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: there are none at work
        process = os.fork()
    if not process:
        try:
            driver.stop_after(limit)
            begin = time.thread_time()
            result = call()
            found = {"seconds": time.thread_time() - begin, "result": result}
        except (MemoryError, RecursionError) as error:
            found = {"failed": type(error).__name__}
        os.write(writer, json.dumps(found).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(process, 0)
    return json.loads(text) if text else {"failed": "limit"}


def compared(calls, limit, clock=time.thread_time):
    """Return what each call takes, in turns after one that warms up; results must agree."""
    found = {name: first(call, limit) for name, call in calls.items()}
    results = {json.dumps(each["result"]) for each in found.values() if "result" in each}
    if len(results) > 1:
        raise AssertionError(f"results differ: {found}")
    brief = [name for name in calls if found[name].get("seconds", math.inf) <= driver.ENOUGH]

    def seconds(name):
        for _ in range(2):  # a brief call finds the caches as the others have left them
            begin = clock()
            calls[name]()
            taken = clock() - begin
            if taken > BRIEF:
                break
        return taken

    once = sum(seconds(name) for name in brief)
    rounds = min(max(FEWEST, int(TURNS / once)), MOST) if brief else 0
    medians = driver.in_turns([functools.partial(seconds, name) for name in brief], rounds)
    return found | {name: {"seconds": each} for name, each in zip(brief, medians, strict=True)}


def apart(measure, *given):
    """Return what a function of this module finds in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, given)


def cells(found, limit):
    """Return the first call in milliseconds, and the others as multiples of it."""
    ours, *others = found.values()
    if "seconds" not in ours:
        return [driver.ratio(ours, 1e-3, limit), *[""] * len(others)]
    unit = ours["seconds"]
    return [driver.three(1e3 * unit), *(driver.ratio(each, unit, limit) for each in others)]


# ---- beside SciPy: generated, real, small, in other orders


def rank_of(mates):
    """Return how many are matched."""
    return int((mates >= 0).sum())


def scipy_rank(A):
    """SciPy's function, from the same CSR matrix."""
    return rank_of(maximum_bipartite_matching(A, perm_type="column"))


def whole_calls(path, workers, limit):
    """Return times of transversal, block form and SciPy, of a product with a vector, and the rank.

    Calls as a user makes them: checks of the matrix and transposes included.
    """
    A = sp.load_npz(path)
    form = sparsematch.block_triangular_form(A, workers=workers)
    certify(A, form)
    x, clock = np.ones(A.shape[1], np.float32), time.thread_time
    product = driver.median(lambda: A @ x, clock, 7)[0]
    calls = {
        "match": lambda: sparsematch.maximum_transversal(A, workers=workers).cardinality,
        "form": lambda: sparsematch.block_triangular_form(A, workers=workers).structural_rank,
        "scipy": lambda: scipy_rank(A),
    }
    found = compared(calls, limit, clock if workers == 1 else time.perf_counter)
    return found, product, form.structural_rank


def certify(A, form):
    """Prove the matching by a cover of its size, and the blocks entry by entry."""
    if not sparsematch.is_maximum(A, form.matching):
        raise AssertionError("the matching is not maximum")
    C = form.permute(A).tocoo()
    row_block = np.searchsorted(form.row_blocks[1:], C.row, side="right")
    if (row_block > np.searchsorted(form.col_blocks[1:], C.col, side="right")).any():
        raise AssertionError("the permuted matrix is not block triangular")


def beside_scipy(chosen, args):
    """Yield the lines of whole calls."""
    yield from driver.table(
        ["matrix", "rows x columns", "entries", "rank", "transversal, ms (SpMV)",
         "block form, ms (SpMV)", "SciPy / transversal"],
        (scipy_row(*saved, args) for saved in matrices.saved(chosen)),
    )  # fmt: skip


def scipy_row(name, A, path, args):
    """Return the cells of one matrix."""
    found, product, rank = apart(whole_calls, path, args.workers, args.limit)
    match, form, scipy = found.values()
    times = [
        f"{driver.three(1e3 * each['seconds'])} ({driver.three(each['seconds'] / product)})"
        for each in (match, form)
    ]
    ratio = driver.ratio(scipy, match["seconds"], args.limit)
    return [
        f"`{name}`",
        f"{A.shape[0]:,} x {A.shape[1]:,}",
        f"{A.nnz:,}",
        f"{rank:,}",
        *times,
        ratio,
    ]


def generated(args):
    """Yield the table of the matrices that the benchmark makes."""
    names = args.matrices or matrices.NAMES
    yield from beside_scipy(matrices.chosen_of(names, args.scale, args.seed), args)


def real(args):
    """Yield the table of real matrices."""
    files = args.matrices or [str(args.folder / f"{name}.npz") for name in REAL]
    yield from beside_scipy(matrices.chosen_of(files, args.scale, args.seed), args)


def small(args):
    """Yield the table of what a small call costs beside its engines."""
    heads = ["rows", "entries", "whole call, µs", "engines, µs", "the rest, µs", "SciPy / whole"]
    yield from driver.table(heads, (apart(small_row, n, args.limit) for n in SIZES))


def small_row(n, limit):
    """Return the cells of a random matrix with four entries a row.

    The engines' own time is that of the steps and of the transpose, as the report has it.
    """
    rng = np.random.default_rng(n)
    A = sp.random_array((n, n), density=min(1.0, 4 / n), rng=rng, format="csr")
    engines = []

    def ours():
        matching, info = sparsematch.maximum_transversal(A, return_info=True)
        engines.append(sum(step.seconds for step in info.steps) + info.transpose_seconds)
        return matching.cardinality

    found = compared({"ours": ours, "scipy": lambda: scipy_rank(A)}, limit)
    whole, scipy = (each["seconds"] for each in found.values())
    work = float(np.median(engines[1:]))
    times = (f"{1e6 * seconds:,.0f}" for seconds in (whole, work, whole - work))
    return [f"{n:,}", f"{A.nnz:,}", *times, driver.three(scipy / whole)]


def orders(args):
    """Yield the table of SciPy's times by the order of a matrix."""
    kinds = [(name, diagonal) for name in ("grid", "mesh") for diagonal in (True, False)]
    heads = ["order", *(f"{name} {'with' if has else 'without'} diagonal" for name, has in kinds)]
    rows = (
        [order, *(apart(order_cell, k, *kind, args.scale, args.seed, args.limit) for kind in kinds)]
        for k, order in enumerate(ORDERS)
    )
    yield from driver.table(heads, rows)


def order_cell(order, name, diagonal, scale, seed, limit):
    """Return SciPy's time as a multiple of ours."""
    A = sp.csr_array(matrices.build(name, scale, seed), dtype=np.float32)
    A = sp.csr_array(A + diagonal * sp.eye_array(A.shape[0], dtype=np.float32))
    rng = np.random.default_rng(seed)
    p, q = (rng.permutation(A.shape[0]) for _ in range(2))
    if order:
        A = sp.csr_array(A[p][:, p if order < 3 else q])
    if order == 1:
        A.sort_indices()
    calls = {
        "ours": lambda: sparsematch.maximum_transversal(A).cardinality,
        "scipy": lambda: scipy_rank(A),
    }
    return cells(compared(calls, limit), limit)[1]


# ---- beside all packages


def with_networkx(A):
    """Hopcroft-Karp's algorithm in Python."""
    import networkx as nx

    graph, rows = nx.algorithms.bipartite.from_biadjacency_matrix(A), range(A.shape[0])
    matching = nx.algorithms.bipartite.hopcroft_karp_matching
    return lambda: len(matching(graph, rows, backend="networkx")) // 2


def with_igraph(A):
    """Push-relabel in C."""
    import igraph

    entries = A.tocoo()
    edges = np.column_stack([entries.row, entries.col + A.shape[0]]).tolist()
    types = [False] * A.shape[0] + [True] * A.shape[1]
    graph = igraph.Graph(sum(A.shape), edges)
    return lambda: sum(mate >= 0 for mate in graph.maximum_bipartite_matching(types).matching) // 2


def with_ortools(A):
    """A maximum flow."""
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
    """By NetworkX, through Pyomo."""
    from pyomo.contrib.incidence_analysis import matching

    entries = A.tocoo()
    return lambda: len(matching.maximum_matching(entries))


def pyomo_parts(A):
    """Pyomo's Dulmage-Mendelsohn decomposition."""
    from pyomo.contrib.incidence_analysis import dulmage_mendelsohn as dm

    entries = A.tocoo()

    def parts():
        rows, _ = dm.dulmage_mendelsohn(entries)
        sizes = map(len, (rows.underconstrained, rows.square, rows.overconstrained))
        return [sum(sizes), len(rows.square)]

    return parts


def our_parts(A):
    """The rank and the rows of the square part."""
    form = sparsematch.block_triangular_form(A)
    return [form.structural_rank, len(form.square.rows)]


def all_packages(path, limit):
    """Return the times of maximum matchings, and of the parts."""
    A = sp.load_npz(path)
    makers = {"SciPy": lambda A: lambda: scipy_rank(A), "igraph": with_igraph,
              "OR-tools": with_ortools, "NetworkX": with_networkx, "Pyomo": with_pyomo}  # fmt: skip
    calls = {"ours": lambda: sparsematch.maximum_transversal(A).cardinality}
    calls |= {name: makers[name](A) for name in there()}
    parts = {"ours": lambda: our_parts(A)}
    parts |= {"Pyomo": pyomo_parts(A)} if "Pyomo" in there() else {}
    return [cells(compared(each, limit), limit) for each in (calls, parts)]


def there():
    """Return the packages that are installed, by their headings."""
    return [name for name, module in PACKAGES.items() if importlib.util.find_spec(module)]


def beside(args):
    """Yield the table beside all packages."""
    names = args.matrices or [
        *(str(args.folder / f"{name}.npz") for name in (BESIDE if args.folder else ())),
        *BESIDE_GENERATED,
    ]
    scale = args.scale if args.matrices else BESIDE_SCALE
    pyomo = ["parts, ms", "Pyomo / parts"] if "Pyomo" in there() else ["parts, ms"]
    yield from driver.table(
        ["matrix", "entries", "matching, ms", *there(), *pyomo],
        (
            [
                f"`{name}`",
                f"{A.nnz:,}",
                *(c for row in apart(all_packages, path, args.limit) for c in row),
            ]
            for name, A, path in matrices.saved(matrices.chosen_of(names, scale, args.seed))
        ),
    )


# ---- other calls


def full(args):
    """Yield the table of full assignments beside SciPy."""
    heads = ["costs on", "rows", "entries", "here, ms", "SciPy"]
    yield from driver.table(heads, (apart(full_row, *each, args.limit) for each in FULL))


def full_row(name, scale, limit):
    """Return the cells of one problem, whose costs are whole numbers."""
    A = assignment.build(name, scale, 2011).A
    functions = csgraph.min_weight_full_bipartite_matching, min_weight_full_bipartite_matching
    calls = {
        str(k): lambda function=function: float(A[function(A)].sum())
        for k, function in enumerate(functions)
    }
    return [f"`{name}`", f"{A.shape[0]:,}", f"{A.nnz:,}", *cells(compared(calls, limit), limit)]


def systems(args):
    """Yield the table of the system of Getting started."""
    heads = ["`west0479`", "here, ms", "SciPy's `splu`"]
    yield from driver.table(heads, apart(system_rows, args.limit))


def system_rows(limit):
    """Return the rows of a first factorisation and of one with other values."""
    from scipy.io import mmread

    path = PAGES / "docs/getting_started/west0479.mtx"
    A = sp.csr_array(mmread(path, spmatrix=False))
    C, lu = A.tocsc(), solvers.splu(A)
    values = [A.data * np.random.default_rng(k).uniform(0.9, 1.1, A.nnz) for k in range(4)]
    turn = iter(range(10**9))
    calls = {
        "`splu(A)`, CSR": lambda: solvers.splu(A),
        "`splu(A)`, CSC": lambda: solvers.splu(C),
        "`refactorise`": lambda: lu.refactorise(values[next(turn) % 4]),
    }
    return [
        [name, *cells(compared(without_results(ours=call, scipy=lambda: splu(C)), limit), limit)]
        for name, call in calls.items()
    ]


def without_results(**calls):
    """Return the calls without their results, factors that nothing is compared with."""

    def silent(call):
        call()

    return {name: functools.partial(silent, call) for name, call in calls.items()}


def graph_weights(args):
    """Yield the table of a heaviest matching of a bipartite graph of NetworkX."""
    if "NetworkX" in there():
        heads = ["`max_weight_matching` of a graph of", "here, ms", "NetworkX"]
        yield from driver.table(heads, [apart(graph_row, args.limit)])


def graph_row(limit):
    """Return the cells of a random graph, which is read again by each call."""
    import networkx as nx

    n, rng = 1000, np.random.default_rng(2011)
    A = sp.random_array((n, n), density=4 / n, rng=rng, format="coo")
    A.data = rng.integers(1, 1000, A.nnz).astype(float)
    graph = nx.bipartite.from_biadjacency_matrix(A)
    nx.config.cache_converted_graphs = False

    def weight(backend):
        pairs = nx.max_weight_matching(graph, backend=backend)
        return sum(graph[u][v]["weight"] for u, v in pairs)

    calls = {name: functools.partial(weight, name) for name in ("sparsematch", "networkx")}
    size = f"{2 * n:,} nodes, {A.nnz:,} edges"
    return [size, *cells(compared(calls, limit), limit)]


# ---- all of them


#: Of each table: what measures it, its mark, the page, and whether its matrices are real ones.
TABLES = {
    "generated": (generated, "speed table", "README.md", False),
    "real": (real, "table of real matrices", "docs/speed.md", True),
    "small": (small, "table of small matrices", "docs/speed.md", False),
    "orders": (orders, "table of orders", "docs/speed.md", False),
    "beside": (beside, "table of alternatives", "docs/alternatives.md", False),
    "full": (full, "table of full assignments", "docs/howto/drop_in.md", False),
    "systems": (systems, "table of one system", "docs/getting_started/index.md", False),
    "graphs": (
        *(graph_weights, "table of heaviest matchings"),
        *("docs/howto/use_with_networkx_and_pyomo.md", False),
    ),
}
#: The packages of each; of the others SciPy alone.
SHOWN = {"beside": [*PACKAGES], "graphs": ["NetworkX"]}


def main():
    """Print the tables, and write them to the pages if that is wanted."""
    parser = driver.parser(__doc__, scale=17, seed=2011, limit=5.0, workers=1)
    parser.add_argument("matrices", nargs="*", metavar="MATRIX", help="instead of those of a table")
    parser.add_argument("--folder", type=pathlib.Path, help="has the real matrices, as .npz")
    parser.add_argument("--only", action="append", choices=TABLES, metavar="TABLE")
    text = "put the tables between the marks of the pages of a clone (default: of this one)"
    parser.add_argument("--write", nargs="?", type=pathlib.Path, const=PAGES, help=text)
    args = parser.parse_args()
    for table in args.only or TABLES:
        measure, what, page, is_real = TABLES[table]
        if is_real and not (args.folder or args.matrices):
            continue
        shown = [name for name in there() if name in SHOWN.get(table, ["SciPy"])]
        versions = [f"{name} {metadata.version(PACKAGES[name])}" for name in shown]
        conditions = driver.conditions(
            args, "scale", "limit", "seed", packages=["NumPy"], more=versions
        )
        where = argparse.Namespace(write=args.write and args.write / page)
        driver.publish(measure(args), where, what, conditions)
        print()


if __name__ == "__main__":
    sys.exit(main())
