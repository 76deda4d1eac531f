"""Red-blue: vertices are coloured at random, blue ones propose to red neighbours, which take the best proposal."""

from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.graph import Graph
from sparsematch._types.run_info import StepInfo

SUMMARY = "Random colours; blue vertices propose, red ones take the best proposal."
OPTIONS: dict[str, bool | float] = {"p": 0.53406}
GUARANTEE = 0.0


def improve(graph: Graph, mate: IndexArray, run: Run) -> None:
    """Match the graph; waits for the device.

    Reads: the graph. Writes: mate. Workspace: 5 indices, a key and a bit for each vertex. Time: O(n
    + nnz) a round.
    """
    begin = perf_counter()
    if not graph.n:
        run.steps.append(StepInfo("red_blue", perf_counter() - begin))
        return
    words, account = match(graph, mate, run)
    matched, live = zip(*account, strict=True)
    # what a round agrees on is matched by the next launch, and the last launch has no round
    general.tell("red_blue", begin, run, words, words[general.SCANNED], matched[2:], live[1:-1])


def match(
    graph: Graph, mate: IndexArray, run: Run, **macros: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Run the kernel; return the account of `run_rounds`."""
    xp, lists = namespace(mate), general.lists(graph)
    kernels, cuts = general.load("graph/red_blue", graph, **macros), general.cuts(graph, **macros)
    control, taken = xp.zeros(general.CONTROL, np.uint64), xp.zeros(graph.n // 32 + 1, np.uint32)
    proposal, pick = (xp.empty(graph.n, graph.dtype) for _ in range(2))  # to whom; of whom the best
    # who is active in this round and in the next, who is blue
    queues = xp.empty(3 * graph.n, graph.dtype)
    keys = xp.empty(graph.n if graph.weight is not None else 0, cuts[1].dtype)
    blue_below = np.uint64(int(run.options.get("p", OPTIONS["p"]) * 2.0**53))
    state = np.uint64(run.seed), mate, taken, proposal, pick, keys, queues, *cuts, blue_below

    def launch(limit: int) -> None:
        size = {"threads": 512, "blocks_per_processor": 2}
        kernels.launch_resident("match_rounds", *lists, *state, np.uint64(limit), control, **size)

    return general.run_rounds(graph, mate, run, control, launch)
