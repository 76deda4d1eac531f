"""Local max: each vertex points at the best of its free neighbours, pairs that point at each other are matched."""

from time import perf_counter

import numpy as np

from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.graph import Graph
from sparsematch._types.run_info import StepInfo

SUMMARY = "Vertices point at the best of their free neighbours; pairs that point at each other are matched."
OPTIONS: dict[str, bool | float] = {}
GUARANTEE = 0.5

#: Vertices that have lost their choice up to which one block goes on alone, as in local_max.cu.
NARROW = 256


def improve(graph: Graph, mate: IndexArray, run: Run) -> None:
    """Match the graph; waits for the device.

    Reads: the graph. Writes: mate. Workspace: 4 indices and a bit for each vertex. Time: O(n +
    nnz), expected.
    """
    begin = perf_counter()
    if not graph.n:
        run.steps.append(StepInfo("local_max", perf_counter() - begin))
        return
    words, account = match(graph, mate, run)
    matched, live = zip(*account, strict=True)
    general.tell(
        "local_max", begin, run, words, graph.nnz + words[general.SCANNED], matched[1:], live[:-1]
    )


def match(
    graph: Graph, mate: IndexArray, run: Run, narrow: int = NARROW, **macros: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Run the kernels; return the account of `run_rounds`."""
    xp, (n, *arrays) = namespace(mate), general.lists(graph)
    kernels, cuts = general.load("graph/local_max", graph, **macros), general.cuts(graph, **macros)
    lanes, seed = (general.shape(graph) | macros)["LANES"], np.uint64(run.seed)
    control, taken = xp.zeros(general.CONTROL, np.uint64), xp.zeros(graph.n // 32 + 1, np.uint32)
    choice, lists = xp.empty(graph.n, graph.dtype), xp.empty(3 * graph.n, graph.dtype)
    kernels.launch("point", lanes * graph.n, n, *arrays, seed, choice, *cuts, control)
    state = mate, taken, choice, lists, *cuts, np.uint64(0 if run.detailed else narrow)

    def launch(limit: int) -> None:
        size = {"threads": 512, "blocks_per_processor": 2}
        kernels.launch_resident(
            "match_rounds", n, *arrays, seed, *state, np.uint64(limit), control, **size
        )

    return general.run_rounds(graph, mate, run, control, launch)
