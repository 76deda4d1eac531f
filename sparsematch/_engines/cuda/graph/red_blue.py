"""Red-blue: vertices are coloured at random; blue ones propose, red ones take the best proposal."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.registry import Run
from sparsematch._types.graph import Graph

SUMMARY = "Random colours; blue vertices propose, red ones take the best proposal."
OPTIONS: dict[str, bool | float] = {"p": 0.53406}
RANGES = {"p": (0.01, 0.99)}

_load = general.declare("graph/red_blue")


def improve(graph: Graph, mate: IndexArray, run: Run) -> None:
    """Match the graph; waits for the device."""
    # Reads: the graph. Writes: mate. Workspace: 5 indices, a key and a bit for each vertex. Time:
    # O(n + nnz) a round.
    with run.step("red_blue") as counts:
        if graph.n:
            words, account = match(graph, mate, run)
            # what a round agrees on is matched by the next launch, and the last has no round
            counts |= general.report(run, words, int(words["scanned"]), account[1:])


def match(graph: Graph, mate: IndexArray, run: Run) -> tuple[Any, list[tuple[int, int]]]:
    """Run the kernel; return the account of `run_rounds`."""
    xp, n, dtype = namespace(mate), graph.dtype.type(graph.n), graph.dtype
    kernels = _load(graph)
    work = general.adjacency(kernels, graph, run.seed), general.cuts(kernels, graph)
    control, weight = kernels.zeros(xp, "Control"), graph.weight
    proposal, pick = xp.empty((2, graph.n), dtype)  # to which; the best of those that propose
    fields: dict[str, Any] = {"mate": mate, "taken": bit_set(xp, graph.n), "proposal": proposal}
    fields |= {"key": None if weight is None else xp.empty(graph.n, f"u{weight.dtype.itemsize}")}
    # active in this round and in the next, blue
    fields |= {"pick": pick, "lists": xp.empty(3 * graph.n, dtype)}
    fields |= {"blue_below": np.uint64(int(run.options.get("p", OPTIONS["p"]) * 2.0**53))}
    state = kernels.struct("RedBlue", **fields)
    return general.run_rounds(kernels, graph, mate, run, n, *work, state, control)
