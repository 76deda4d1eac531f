"""G-PR: push-relabel with all free majors at once, and labels made exact by breadth-first search now and then."""

from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching.apfb import ALONE, BLOCKS, HUB, STATS, THREADS, share
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Push-relabel from all free rows at once, with exact labels at intervals (G-PR)."
OPTIONS: dict[str, bool | float] = {"k": 0.7, "adaptive": True, "active_list": True, "shrink": True}


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph and its transpose. Writes: both mates. Time: O(n nnz) at worst, mostly a few
    passes.
    """
    transposed = transpose(graph, run)
    begin = perf_counter()
    before = _cardinality(matching) if run.detailed else 0
    tallies = play(graph, transposed, matching, run)
    phases = levels = after = 0
    if run.detailed:
        phases, levels, _ = tallies[STATS:].tolist()
        after = _cardinality(matching)
    run.steps.append(
        StepInfo(
            "push_relabel",
            perf_counter() - begin,
            phases,
            levels,
            augmentations=after - before,
            cardinality=after,
        )
    )


def play(graph: BipartiteCSR, transposed: BipartiteCSR, matching: Matching, run: Run) -> IndexArray:
    """Start the kernel; what it returns has relabellings, their levels and rounds of pushes from STATS on."""
    xp, index = namespace(graph.indptr), graph.dtype.type
    n_major, n_minor, entries = graph.n_major, graph.n_minor, graph.indices.size
    given: dict[str, Any] = {
        name: run.options.get(name, default) for name, default in OPTIONS.items()
    }
    push_shift, shift = share(entries, n_major), share(entries, n_minor)
    tallies: IndexArray = xp.zeros(STATS + 3, graph.dtype)
    compile.load(
        "matching/push_relabel", graph.dtype, THREADS=THREADS, BLOCKS=BLOCKS
    ).launch_resident(
        "push_relabel",
        index(n_major),
        index(n_minor),
        graph.indptr,
        graph.indices,
        transposed.indptr,
        transposed.indices,
        *graph.orient(matching.row_mate, matching.col_mate),
        xp.empty(2 * (n_major + n_minor) + 4 * (entries // HUB + 1), graph.dtype),
        xp.empty((n_major >> 5) + 1, np.uint32),
        tallies,
        xp.zeros(2, np.int32),
        np.float64(given["k"]),
        np.bool_(given["adaptive"]),
        np.bool_(given["active_list"]),
        np.bool_(given["shrink"]),
        np.int32(push_shift),
        np.int32(shift),
        index(ALONE >> max(push_shift, shift)),
        np.int32(max(n_major - 1, 0).bit_length()),
        np.uint32(run.seed & 0xFFFFFFFF),
        threads=THREADS,
        blocks_per_processor=BLOCKS,
    )
    return tallies


def _cardinality(matching: Matching) -> int:
    return int((matching.row_mate >= 0).sum())
