"""The back-end of NetworkX: equal answers and errors, found by name, Pyomo's tests run on it."""

import math
import os
import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import sparsematch as sm
from calls import run_python
from strategies import matrices

nx = pytest.importorskip("networkx", minversion="3.5")
from sparsematch import networkx_backend as backend  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = [backend.hopcroft_karp_matching, backend.eppstein_matching]


def graph_of(A):
    """Rows ("r", i) and columns ("c", j)."""
    A = sp.coo_array(A)
    graph = nx.Graph()
    graph.add_nodes_from(("r", i) for i in range(A.shape[0]))
    graph.add_nodes_from(("c", j) for j in range(A.shape[1]))
    entries = zip(A.row.tolist(), A.col.tolist(), strict=True)
    graph.add_edges_from((("r", i), ("c", j)) for i, j in entries)
    return graph, [("r", i) for i in range(A.shape[0])]


@given(matrices())
def test_matchings_and_covers(A):
    graph, top = graph_of(A)
    for find in FUNCTIONS:
        mates = find(graph, top)
        assert all(mates[v] == u and graph.has_edge(u, v) for u, v in mates.items())
        theirs = nx.bipartite.hopcroft_karp_matching(graph, top)
        assert len(mates) == 2 * sm.structural_rank(A) == len(theirs)
    cover = backend.to_vertex_cover(graph, mates, top)
    assert all(u in cover or v in cover for u, v in graph.edges)
    assert len(cover) == len(mates) // 2
    assert cover == nx.bipartite.to_vertex_cover(graph, mates, top)


@pytest.mark.parametrize("find", FUNCTIONS)
def test_errors_are_those_of_networkx(find):
    for wrong in (nx.empty_graph(4), nx.disjoint_union(nx.path_graph(2), nx.path_graph(2))):
        for f in (find, nx.bipartite.hopcroft_karp_matching):
            with pytest.raises(nx.AmbiguousSolution):
                f(wrong)
    for f in (find, nx.bipartite.hopcroft_karp_matching):
        with pytest.raises(nx.NetworkXError, match="not bipartite"):
            f(nx.complete_graph(3))
    with pytest.raises(nx.NetworkXError, match="an edge joins"):
        find(nx.path_graph(4), [0, 1])
    with pytest.raises(nx.NetworkXError, match="1 nodes that are not in the graph"):
        find(nx.path_graph(4), [0, 2, 7])


def test_sides_are_found():
    assert len(backend.hopcroft_karp_matching(nx.path_graph(6))) == 6
    assert backend.hopcroft_karp_matching(nx.star_graph(3)).keys() >= {0}
    assert backend.hopcroft_karp_matching(nx.Graph(), []) == {}
    multi = nx.MultiGraph([(0, 1), (0, 1), (2, 1)])
    assert len(backend.hopcroft_karp_matching(multi, [0, 2])) == 2
    with pytest.raises(ValueError, match="not maximum"):
        backend.to_vertex_cover(nx.path_graph(4), {}, [0, 2])


def weighted_graph(n_top, n_bottom, seed):
    """All edges of half the weights infinite or missing, so that they count 1."""
    rng = np.random.default_rng(seed)
    graph = nx.complete_bipartite_graph(n_top, n_bottom)
    for u, v in list(graph.edges):
        kind = rng.integers(4)
        if kind < 3:
            graph[u][v]["cost"] = [math.inf, float(rng.integers(-5, 5)), rng.normal()][kind]
    return graph


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (4, 9), (9, 4), (30, 30)], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_full_matchings_weigh_what_networkxs_do(shape, seed):
    graph = weighted_graph(*shape, seed)
    for weight in ("cost", None):
        answers = []
        for f in (backend.minimum_weight_full_matching, nx.bipartite.minimum_weight_full_matching):
            try:
                mates = f(graph, range(shape[0]), weight=weight)
            except ValueError:
                answers.append(None)
                continue
            assert all(mates[mates[node]] == node for node in mates)
            assert len(mates) == 2 * min(shape)
            answers.append(sum(graph[u][v].get(weight, 1) for u, v in mates.items()))
        assert answers[0] == pytest.approx(answers[1])


def test_weights_that_do_not_count():
    find = backend.minimum_weight_full_matching
    graph = nx.Graph([(0, 1, {"weight": math.nan})])
    with pytest.raises(ValueError, match="'weight' of an edge is NaN or minus infinity"):
        find(graph)
    graph[0][1]["weight"] = math.inf
    with pytest.raises(ValueError, match="no full matching"):
        find(graph)
    assert find(graph, weight=None) == {0: 1, 1: 0}
    assert find(nx.Graph(), []) == {}
    with pytest.raises(nx.NetworkXNotImplemented):
        find(nx.MultiGraph([(0, 1)]))


def weight_of(graph, edges, weight="cost"):
    """How many edges, and what they weigh, as whole numbers and fractions are exact."""
    assert nx.is_matching(graph, edges)
    return len(edges), sum(graph[u][v].get(weight, 1) for u, v in edges)


@pytest.mark.parametrize("seed", range(60))
def test_matchings_by_weight_weigh_what_networkxs_do(seed):
    """Signed weights with ties, or none; components, isolated nodes, unequal sides."""
    rng = np.random.default_rng(seed)
    shape, n = rng.integers(1, 12, 2).tolist(), int(rng.integers(0, 40))
    rows, cols = rng.integers(0, shape[0], n), rng.integers(0, shape[1], n)
    graph, _ = graph_of(sp.coo_array((np.ones(n), (rows, cols)), shape=shape))
    for u, v in list(graph.edges)[seed % 3 :]:
        value = rng.normal() if seed % 2 else int(rng.integers(-4, 5))
        graph[u][v]["cost"] = value
    for maxcardinality in (False, True):
        ours = backend.max_weight_matching(graph, maxcardinality, "cost")
        theirs = nx.max_weight_matching(graph, maxcardinality, "cost", backend="networkx")
        size, weight = weight_of(graph, ours)
        best_size, best = weight_of(graph, theirs)
        assert weight == (pytest.approx(best, rel=1e-12, abs=1e-12) if seed % 2 else best)
        assert size == best_size or not maxcardinality
    size, weight = weight_of(graph, backend.min_weight_matching(graph, "cost"))
    theirs = nx.min_weight_matching(graph, "cost", backend="networkx")
    assert (size, weight) == pytest.approx(weight_of(graph, theirs), rel=1e-9, abs=1e-9)


def test_which_graphs_are_matched_by_weight():
    def answer(graph, *more, **options):
        return backend.can_run("max_weight_matching", (graph, *more), options)

    graph = nx.path_graph(4)
    graph[0][1]["cost"] = 2**45
    assert answer(graph) is True
    assert "2**45" in answer(graph, weight="cost")
    assert "2**45" in answer(graph, False, "cost")
    assert "2**45" in backend.can_run("min_weight_matching", (graph, "cost"), {})
    for value in (math.nan, math.inf, 1j, 10**30, "1", None):
        graph[0][1]["cost"] = value
        assert "finite real numbers" in answer(graph, weight="cost"), value
    for value in (math.nan, math.inf):
        graph[0][1]["cost"] = value
        with pytest.raises(ValueError, match="'cost' of an edge is NaN or infinite"):
            backend.max_weight_matching(graph, weight="cost")
    assert answer(nx.Graph()) is True
    assert backend.max_weight_matching(nx.empty_graph(3)) == set()
    assert "bipartite" in answer(nx.complete_graph(3))
    assert "one edge" in answer(nx.MultiGraph())
    for find in (backend.max_weight_matching, backend.min_weight_matching):
        with pytest.raises(nx.NetworkXNotImplemented):
            find(nx.MultiGraph([(0, 1)]))
        with pytest.raises(nx.NetworkXError, match="not bipartite"):
            find(nx.complete_graph(3))


def test_a_graph_is_read_once_until_it_changes(monkeypatch):
    reads, read = [], backend._read_sides
    monkeypatch.setattr(backend, "_read_sides", lambda *given: reads.append(1) or read(*given))
    find, graph = backend.hopcroft_karp_matching, nx.path_graph(4)
    for top in (None, None, [0, 2], {2, 0}, None):
        assert len(find(graph, top)) == 4
    assert len(reads) == 3
    graph.add_edge(3, 4)
    graph.add_edge(4, 5)
    assert len(find(graph)) == 6
    view = graph.subgraph(range(4))
    assert len(find(view)) == 4
    graph.remove_edge(0, 1)
    assert len(find(view, [0, 2])) == 2  # a view is read again each time
    before = len(reads)
    with nx.config(cache_converted_graphs=False):
        find(graph, [0, 2, 4])
        find(graph, [0, 2, 4])
    assert len(reads) == before + 2


def test_conversion_keeps_the_graph():
    graph = nx.path_graph(4)
    how = {"preserve_graph_attrs": True, "name": "hopcroft_karp_matching"}
    marked = backend.convert_from_nx(graph, **how)
    assert marked.__networkx_backend__ == "sparsematch"
    assert backend.convert_to_nx(marked) is graph
    assert backend.convert_to_nx({0: 1}) == {0: 1}
    assert backend.can_run("hopcroft_karp_matching", (marked,), {}) is True
    assert "undirected" in backend.can_run("hopcroft_karp_matching", (), {"G": nx.DiGraph()})
    multi = {"G": nx.MultiGraph()}
    assert "one edge" in backend.can_run("minimum_weight_full_matching", (), multi)
    assert backend.can_run("hopcroft_karp_matching", (), multi) is True


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Where another Python finds the back-end: of the installed package, or laid out like it."""
    folder = tmp_path_factory.mktemp("installed")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = project["entry-points"]["networkx.backends"]
    assert declared == {"sparsematch": "sparsematch.networkx_backend"}
    if not any(point.name == "sparsematch" for point in entry_points(group="networkx.backends")):
        info = folder / "sparsematch_backend-0.dist-info"
        info.mkdir()
        metadata = "Metadata-Version: 2.1\nName: sparsematch_backend\nVersion: 0\n"
        (info / "METADATA").write_text(metadata)
        lines = [f"{name} = {value}" for name, value in declared.items()]
        (info / "entry_points.txt").write_text("\n".join(["[networkx.backends]", *lines, ""]))
    (folder / "calls_of_backend.py").write_text(PROBE)
    paths = str(folder), str(Path(sm.__file__).parents[1]), os.environ.get("PYTHONPATH", "")
    found = {"PYTHONPATH": os.pathsep.join(paths), "NETWORKX_BACKEND_PRIORITY": "sparsematch"}
    return os.environ | found


#: Counts the calls that reach the back-end, and says so when a test run ends.
PROBE = """
from sparsematch import networkx_backend as backend
calls, read = [], backend._read
backend._read = lambda *given: calls.append(1) or read(*given)
def pytest_unconfigure(config):
    print(f"calls of the back-end: {len(calls)}")
"""


def test_networkx_finds_it(environment):
    code = """if True:
        import warnings, sys
        warnings.simplefilter("error")
        import networkx as nx
        assert "sparsematch" not in sys.modules, "only on demand"
        from calls_of_backend import calls
        graph = nx.path_graph(6)
        for _ in range(2):  # no warning about a cached graph
            assert len(nx.bipartite.maximum_matching(graph)) == 6
        assert len(nx.bipartite.eppstein_matching(graph, backend="sparsematch")) == 6
        graph.remove_node(3)
        assert len(nx.bipartite.maximum_matching(graph, top_nodes=[0, 2, 4])) == 4
        assert len(calls) == 4
        assert len(nx.bipartite.maximum_matching(nx.DiGraph([(0, 1)]), top_nodes=[0])) == 2
        assert len(calls) == 4, "a directed graph is left to NetworkX"
        assert len(nx.max_weight_matching(graph)) == len(nx.min_weight_matching(graph)) == 2
        assert len(calls) == 6
        assert len(nx.max_weight_matching(nx.complete_graph(5))) == 2
        assert len(calls) == 6, "a graph that is not bipartite is left to NetworkX"
    """
    result = run_python("-P", "-c", code, env=environment)
    assert result.returncode == 0, result.stderr


PARTS = "", "bipartite."
#: How many tests of others pass at least, how often they call us, and the modules.
OWN_TESTS = {
    "pyomo": (100, 50, "pyomo.contrib.incidence_analysis.tests"),
    "networkx": (60, 20, *map("networkx.algorithms.{}tests.test_matching".format, PARTS)),
}


@pytest.mark.large
@pytest.mark.parametrize("package", OWN_TESTS)
def test_the_own_tests_of_others(package, environment):
    """Pyomo's incidence analysis and NetworkX's matchings, unchanged, with this back-end first."""
    pytest.importorskip(package, reason="Pyomo's own tests need Pyomo: pip install pyomo")
    passed, calls, *tests = OWN_TESTS[package]
    options = "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "calls_of_backend"
    where = "--rootdir", environment["PYTHONPATH"].split(":")[0], "--pyargs"
    result = run_python(*options, *where, *tests, env=environment, timeout=280)
    summary = result.stdout[-2000:]
    assert result.returncode == 0, summary + result.stderr
    assert int(re.search(r"(\d+) passed", summary)[1]) > passed
    assert int(re.search(r"calls of the back-end: (\d+)", summary)[1]) > calls
