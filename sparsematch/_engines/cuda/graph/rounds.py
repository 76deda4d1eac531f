"""What the drivers of the kernels for general graphs share, and what is asked of such a graph beside matching."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.graph import Graph, GraphProperties
from sparsematch._types.run_info import StepInfo

#: Entries of a part of a list that is too long for a few threads.
PART = 1024

#: Where common_graph.cuh keeps account: tallies; what is kept from launch to launch; words for the
#: other blocks.
TURN, ROUNDS, DONE, MATCHED, SCANNED, CONTROL = 12, 13, 14, 15, 16, 21

#: Rounds of one launch: on a long chain they are many, and between launches Ctrl-C is heard.
LIMIT = 50_000


def shape(graph: Graph) -> dict[str, int]:
    """Return the macros that suit lists of this length: how many threads share one, entries that each reads at once."""
    mean = graph.nnz / max(graph.n, 1)
    lanes = 2 if mean <= 8 else 4 if mean <= 24 else 8
    weight = 0 if graph.weight is None else graph.weight.dtype.itemsize
    return {
        "WEIGHT": weight,
        "LANES": lanes,
        "UNROLL": 2 if mean <= 16 else 4,
        "LONG": 32 * lanes,
        "PART": PART,
    }


def load(name: str, graph: Graph, **macros: int) -> compile.Kernels:
    """Return the kernels of a source file in the shape that suits the graph, or another."""
    return compile.load(name, graph.dtype, **(shape(graph) | macros))


def lists(graph: Graph) -> tuple[Any, ...]:
    """Return the arguments that tell a kernel the graph."""
    weight = namespace(graph.indptr).empty(0, np.uint8) if graph.weight is None else graph.weight
    return graph.dtype.type(graph.n), graph.indptr, graph.indices, weight


def cuts(graph: Graph, **macros: int) -> tuple[Any, Any, Any]:
    """Return the workspace for long lists, and how many parts it holds."""
    xp, macros = namespace(graph.indptr), shape(graph) | macros
    room = graph.nnz // macros["PART"] + graph.nnz // macros["LONG"] + 1
    keys = xp.empty(room, np.uint32 if macros["WEIGHT"] == 4 else np.uint64)
    return xp.empty(5 * room, graph.dtype), keys, graph.dtype.type(room)


def run_rounds(
    graph: Graph, mate: IndexArray, run: Run, control: Any, launch: Callable[[int], None]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Launch until nothing is left to do; return the words of account, and before each launch: matched, live edges.

    A launch does as many rounds as it is told to, one if details are wanted, counting from the
    first of all. Waits.
    """
    account: list[tuple[int, int]] = []
    words, rounds = [0] * CONTROL, 0
    while not words[DONE]:
        if run.detailed:
            account.append((words[MATCHED], _live_edges(graph, mate)))
        rounds += 1 if run.detailed else LIMIT
        launch(rounds)
        words = control.tolist()
    account.append((words[MATCHED], 0))
    return words, account


def tell(
    name: str,
    begin: float,
    run: Run,
    words: list[int],
    edges: int,
    matched: tuple[int, ...],
    live: tuple[int, ...],
) -> None:
    """Tell what the kernels did, from the words of account; `matched` and `live` by round, if details are wanted."""
    step = StepInfo(
        name, perf_counter() - begin, words[ROUNDS], edges=edges, cardinality=words[MATCHED] // 2
    )
    run.steps.append(step._replace(matched=matched, live_edges=live) if run.detailed else step)


def _live_edges(graph: Graph, mate: IndexArray) -> int:
    """Return the number of edges with both ends free; waits for the device."""
    count = namespace(mate).zeros(1, np.uint64)
    n, indptr, indices, _ = lists(graph)
    load("graph/validate", graph).launch(
        "count_live", 32 * graph.n, n, indptr, indices, mate, count
    )
    return int(count[0]) // 2


def validate_graph(graph: Graph, run: Run) -> GraphProperties:
    """Return what one pass over the entries tells; waits for the device once. Time: O(n + nnz)."""
    if not graph.n:
        return GraphProperties(ascending=True, symmetric=True, finite=True)
    kernels, (n, *arrays), cut = load("graph/validate", graph), lists(graph), cuts(graph)
    control = namespace(graph.indptr).zeros(CONTROL + 3, np.uint64)
    found = control[CONTROL:]
    kernels.launch("survey", shape(graph)["LANES"] * graph.n, n, *arrays, *cut, control, found)
    kernels.launch("survey_long", 1 << 18, *arrays, *cut, control, found)
    balance, falls, infinite = found.tolist()
    return GraphProperties(ascending=not falls, symmetric=not balance, finite=not infinite)


def matched_weight(graph: Graph, mate: IndexArray) -> Any:
    """Return the sum of the moduli of the matched edges, an array of shape ().

    Time: O(n log(degree)).
    """
    xp = namespace(mate)
    if graph.weight is None or not graph.n:
        return (mate >= 0).sum() / 2.0
    weights = xp.empty(graph.n, np.float64)
    load("graph/validate", graph).launch("pair_weights", graph.n, *lists(graph), mate, weights)
    return weights.sum()
