"""What the drivers of the kernels for general graphs share; properties and weights of graphs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._engines.registry import Run
from sparsematch._types.graph import Graph, GraphProperties

#: Entries of a part of a list that is too long for a few threads.
PART = 1024

#: Rounds of one launch: on a long chain they are many, and between launches Ctrl-C interrupts.
LIMIT = 50_000


def shape(graph: Graph) -> dict[str, int]:
    """Return the macros that suit lists of this length."""
    # How many threads share a list, and how many entries each reads at once.
    mean = graph.nnz / max(graph.n, 1)
    lanes = 2 if mean <= 8 else 4 if mean <= 24 else 8
    weight = 0 if graph.weight is None else graph.weight.dtype.itemsize
    return _macros(weight, lanes, 2 if mean <= 16 else 4)


def shapes(weight: int) -> list[dict[str, int]]:
    """Return the macros of all lists by the bytes of a weight."""
    return [_macros(weight, *pair) for pair in ((2, 2), (4, 2), (4, 4), (8, 4))]


def _macros(weight: int, lanes: int, unroll: int) -> dict[str, int]:
    return {"WEIGHT": weight, "LANES": lanes, "UNROLL": unroll, "LONG": 32 * lanes, "PART": PART}


def declare(name: str, **macros: int) -> Callable[[Graph], compile.Kernels]:
    """Declare a source file; return what loads it in the shape that suits a graph."""
    compile.declared[name] = lambda _: [
        suited | macros for weight in (8, 4, 0) for suited in shapes(weight)
    ]
    return lambda graph: compile.load(name, graph.dtype, **shape(graph), **macros)


_load = declare("graph/validate")


def adjacency(kernels: compile.Kernels, graph: Graph, seed: int = 0, first: int = 0) -> Struct:
    """Return the graph as the kernels read it; its lists are those of vertices from `first` on."""
    numbers = {"seed": np.uint64(seed), "first": graph.dtype.type(first)}
    return kernels.struct("Adjacency", graph, **numbers)


def cuts(kernels: compile.Kernels, graph: Graph) -> Struct:
    """Return the workspace for long lists."""
    xp, macros = namespace(graph.indptr), shape(graph)
    room = graph.nnz // macros["PART"] + graph.nnz // macros["LONG"] + 1
    vertex, number, best, owner, first = xp.empty((5, room), graph.dtype)
    key = xp.empty(room, np.uint32 if macros["WEIGHT"] == 4 else np.uint64)
    of_parts = {"vertex": vertex, "number": number, "best": best, "key": key}
    return kernels.struct("Cuts", **of_parts, owner=owner, first=first)


def run_rounds(
    engine: compile.Kernels, graph: Graph, mate: IndexArray, run: Run, *arguments: Any
) -> tuple[Any, list[tuple[int, int]]]:
    """Launch until nothing is left to do; return the record of control, and what was matched."""
    # The latter before each launch, with the live edges. A launch does `rounds` rounds, one if
    # details are wanted, counting from the first of all. The last argument is the control. Waits.
    account: list[tuple[int, int]] = []
    kernels, rounds, words = _load(graph), 0, None
    while words is None or not words["done"]:
        if run.detailed:
            live = namespace(mate).zeros(1, np.uint64)  # each edge twice
            n, g = graph.dtype.type(graph.n), adjacency(kernels, graph)
            kernels.launch("count_live", 32 * graph.n, n, g, mate, live)
            matched = int(words["matched"]) if words is not None else 0
            account.append((matched, int(live[0]) // 2))
        rounds += 1 if run.detailed else LIMIT
        *others, control = arguments
        limit = np.uint64(rounds)
        engine.launch_resident("match_rounds", *others, limit, control, blocks_per_processor=2)
        words = kernels.read("Control", control)
    account.append((int(words["matched"]), 0))
    return words, account


def report(run: Run, words: Any, edges: int, account: list[tuple[int, int]]) -> dict[str, Any]:
    """Return what the kernels did, from the record of control."""
    # The account is by round, if details are wanted: vertices matched after it, live edges before.
    counts = {"phases": int(words["rounds"]), "cardinality": int(words["matched"]) // 2}
    if not run.detailed:
        return counts | {"edges": edges}
    matched, live = zip(*account, strict=True)
    return counts | {"edges": edges, "matched": matched[1:], "live_edges": live[:-1]}


def validate_graph(graph: Graph, _: Run, first: int = 0) -> GraphProperties:
    """Return what a pass over lists from vertex `first` on finds; waits once. Time: O(n + nnz)."""
    if not graph.n:
        return GraphProperties(True, True, 0)
    kernels, xp = _load(graph), namespace(graph.indptr)
    n, g, cut = graph.dtype.type(graph.n), adjacency(kernels, graph, 0, first), cuts(kernels, graph)
    control, properties = kernels.zeros(xp, "Control"), kernels.zeros(xp, "Properties")
    kernels.launch("survey", shape(graph)["LANES"] * graph.n, n, g, cut, control, properties)
    kernels.launch("survey_long", compile.FILLING, g, cut, control, properties)
    found = kernels.read("Properties", properties)
    return GraphProperties(not found["falls"], not found["infinite"], int(found["balance"]))


def matched_weight(graph: Graph, mate: IndexArray, first: int = 0) -> Any:
    """Return the sum of the magnitudes of the matched edges, an array of shape ()."""
    # The lists are those of vertices from `first` on, and an edge counts at its smaller end.
    if graph.weight is None or not graph.n:
        return (mate >= 0).astype(np.float64).sum() / 2.0
    kernels, weights = _load(graph), namespace(mate).empty(graph.n, np.float64)
    n, g = graph.dtype.type(graph.n), adjacency(kernels, graph, 0, first)
    kernels.launch("pair_weights", graph.n, n, g, mate, weights)
    return weights.sum()
