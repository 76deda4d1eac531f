"""Every engine of the registry on every matrix, with pytest-benchmark, and SciPy.

    pytest benchmarks/bench_engines.py                  # SCALE=17 in the environment: 2**17 rows
    pytest benchmarks/bench_engines.py -k "mesh and graft"

An exact engine starts from the matching that `cheap` makes, a heuristic and `auto` from the empty
one. A copy of the initial matching and the transpose are made outside the timed part, and have
benchmarks of their own; so has the check of the input. The result is checked outside, too.
"""

import functools
import os
import pathlib

import pytest
import scipy.sparse as sp

import matrices
import sparsematch
from measure import ENOUGH, measure, scipy
from sparsematch._engines.cpu.core.run_engine import HostByProducts, transpose
from sparsematch._engines.registry import Run, engines, select
from sparsematch._types.bipartite import as_bipartite
from sparsematch._types.matching import Matching

SCALE = int(os.environ.get("SCALE", "14"))
LIMIT = float(os.environ.get("LIMIT", "20"))
ROUNDS = 3
ENGINES = {engine.name: engine for engine in engines("numpy")}
SLOW = {"reference"}  # in Python: on small matrices only
GRAFTING = [
    {"grafting": grafting, "direction": direction}
    for grafting in (True, False)
    for direction in (True, False)
]


@pytest.fixture(scope="module", params=matrices.NAMES)
def matrix(request):
    """A matrix, made once for all engines."""
    return request.param, matrices.build(request.param, SCALE)


@functools.lru_cache(maxsize=1)
def given(name):
    """The view of a matrix, its transpose, and the start of the exact engines."""
    graph, run = as_bipartite(matrices.build(name, SCALE)), Run()
    start = Matching.start(graph)
    select("cheap", "numpy", "heuristic", argument="init").improve(graph, start, run)
    return graph, transpose(graph, run), start


def time_engine(benchmark, engine, name, A, options=None):
    """Time an engine, and check what it returned."""
    graph, transposed, start = given(name)
    initial = start if engine.kind == "exact" and engine.name != "auto" else None
    runs = []

    def setup():
        runs.append((Matching.start(graph, initial), Run(options=options or {})))
        return (graph, *runs[-1], HostByProducts(transposed=transposed)), {}

    benchmark.group = name
    benchmark.pedantic(engine.improve, setup=setup, rounds=ROUNDS, warmup_rounds=1)
    matching, run = runs[-1]
    assert (sparsematch.is_maximum if engine.kind == "exact" else sparsematch.is_maximal)(
        A, matching
    )
    benchmark.extra_info.update(
        cardinality=matching.cardinality, edges=sum(step.edges for step in run.steps)
    )


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_engine(benchmark, engine, matrix):
    """One engine, whatever it needs at hand."""
    if engine.name in SLOW and SCALE > 12:
        pytest.skip(f"{engine.name} is written to be read: SCALE=12 or less times it")
    time_engine(benchmark, engine, *matrix)


@pytest.mark.parametrize(
    "options", GRAFTING, ids=lambda o: "-".join(k for k, on in o.items() if on) or "plain"
)
def test_graft_ablation(benchmark, options, matrix):
    """The four combinations of Figure 7 of the paper on MS-BFS-Graft."""
    time_engine(benchmark, ENGINES["ms_bfs_graft"], *matrix, options)


def test_view(benchmark, matrix):
    """The check that each call makes of its matrix."""
    name, A = matrix
    benchmark.group = name
    benchmark.pedantic(as_bipartite, (A,), rounds=ROUNDS, warmup_rounds=1)


def test_transpose(benchmark, matrix):
    """What the engines that need both orientations cost once."""
    name, _ = matrix
    benchmark.group = name
    benchmark.pedantic(lambda: transpose(given(name)[0], Run()), rounds=ROUNDS, warmup_rounds=1)


def test_spmv(benchmark, matrix):
    """The unit: one product with a vector in single precision."""
    name, A = matrix
    x = A.sum(axis=0).ravel()
    benchmark.group = name
    benchmark.pedantic(lambda: A @ x, rounds=7, warmup_rounds=1)


def test_scipy(benchmark, matrix, tmp_path: pathlib.Path):
    """SciPy's function; first in a process that can be stopped, since it may not end."""
    name, A = matrix
    sp.save_npz(tmp_path / "A.npz", A, compressed=False)
    figures = measure("scipy", str(tmp_path / "A.npz"), repeats=1, limit=LIMIT)
    if figures is None:
        pytest.skip(f"SciPy did not finish on {name} within {LIMIT:g} s")
    benchmark.group = name
    call, cardinality = scipy(A, 1)
    warm = 1 if figures["seconds"] <= ENOUGH else 0
    mates = benchmark.pedantic(call, rounds=1 + 2 * warm, warmup_rounds=warm)
    assert cardinality(mates) == sparsematch.structural_rank(A)
