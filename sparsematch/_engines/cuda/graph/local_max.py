"""Local max: vertices point at their best free neighbour, and mutual choices are matched."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.registry import Run
from sparsematch._types.graph import Graph

SUMMARY = (
    "Vertices point at the best of their free neighbours; pairs that point at each other are "
    "matched."
)

#: Vertices that have lost their choice up to which one block goes on alone.
NARROW = 256

_load = general.declare("graph/local_max", NARROW=NARROW)


def improve(graph: Graph, mate: IndexArray, run: Run) -> None:
    """Match the graph; waits for the device."""
    # Writes: mate. Workspace: 4 indices and a bit a vertex. Time: O(n + nnz), expected.
    with run.step("local_max") as counts:
        if graph.n:
            words, account = match(graph, mate, run)
            counts |= general.report(run, words, graph.nnz + int(words["scanned"]), account)


def match(
    graph: Graph, mate: IndexArray, run: Run, narrow: int = NARROW
) -> tuple[Any, list[tuple[int, int]]]:
    """Run the kernels; return the account of `run_rounds`."""
    xp, n = namespace(mate), graph.dtype.type(graph.n)
    kernels = _load(graph)
    lanes, control = general.shape(graph)["LANES"], kernels.zeros(xp, "Control")
    work = general.adjacency(kernels, graph, run.seed), general.cuts(kernels, graph)
    choice, lists = xp.empty(graph.n, graph.dtype), xp.empty(3 * graph.n, graph.dtype)
    kernels.launch("point", lanes * graph.n, n, *work, choice, control)
    taken = bit_set(xp, graph.n)
    state = kernels.struct("LocalMax", mate=mate, taken=taken, choice=choice, lists=lists)
    limit_alone = np.uint64(0 if run.detailed else narrow)
    return general.run_rounds(kernels, graph, mate, run, n, *work, state, limit_alone, control)
