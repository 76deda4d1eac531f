"""Breadth-first search from all free rows at once, in one kernel that stays on the device until it finds no more.

The blocks of `search` are all resident and wait for each other by themselves, so that a level costs no launch and no
word to the host. What it needs to know it reads on the device; the host reads nothing back unless details are wanted.
"""

from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda import compile
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Multi-source breadth-first search with disjoint trees; one resident kernel."
OPTIONS: dict[str, bool | float] = {}

#: Entries of a list that make an entry of the frontier.
PART = 256

#: Entries of a block's own frontier that are not too many for it.
ROOM = 128

#: Entries of a frontier per block up to which blocks go on alone, for how many levels.
NARROW, STAY = 640, 32

#: A phase that has found something ends when it is so many eighths as deep as when it found the last.
PATIENCE = 10


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: 4 indices for each column, 6 and its slots for each row.
    """
    begin = perf_counter()
    report = search(graph, matching, run, **shape(graph))
    if not run.detailed:
        run.steps.append(StepInfo("ms_bfs", perf_counter() - begin))
        return
    _, _, phases, levels, found, _ = (int(x) for x in report[12:18].tolist())
    run.steps.append(StepInfo("ms_bfs", perf_counter() - begin, phases, levels, 0, found))


def shape(graph: BipartiteCSR) -> dict[str, int]:
    """Return the macros that suit lists of this length."""
    mean = graph.indices.size / max(graph.n_major, 1)
    width = 4 if mean <= 3 else 8 if mean <= 8 else 16 if mean <= 15 else 0
    return {"WIDTH": width, "LANES": width or (32 if mean >= 32 else 8), "UNROLL": 2, "PREFETCH": 1}


def search(
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    *,
    narrow: int = NARROW,
    stay: int = STAY,
    patience: int = PATIENCE,
    graft: bool = True,
    threads: int = 0,
    blocks: int = 1,
    **macros: int,
) -> Any:
    """Run the kernels; return the words that they keep account in."""
    xp, dtype, n_rows, n_cols = namespace(graph.indptr), graph.dtype, graph.n_major, graph.n_minor
    threads = threads or (1024 if dtype.itemsize == 4 else 512)
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels = compile.load("ms_bfs", dtype, THREADS=threads, BLOCKS=blocks, **{"PART": PART, "ROOM": ROOM, **macros})
    index, seed, width = dtype.type, np.uint32(run.seed & 0xFFFFFFFF), macros["WIDTH"]
    control = xp.zeros(18 + (6 + 3 * 8192 * macros.get("PROFILE", 0)) * 8 // dtype.itemsize, dtype)
    linked = graph.indices.size // (width - 2) + 1 if width else 0
    link, slots = xp.empty(4 * n_cols, dtype), xp.empty(max((n_rows + linked) * width, 1), dtype)
    visited = xp.zeros(n_cols // 32 + 1, np.uint32)
    roots, leaf = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    queue = xp.empty(4 * (n_rows + linked + graph.indices.size // macros.get("PART", PART) + 1), dtype)
    kernels.launch("count_free", -(-n_cols // 8), index(n_cols), col_mate, control)
    bits = np.int32(max(n_rows - 1, 0).bit_length())
    kernels.launch("collect", -(-n_rows // 8), index(n_rows), bits, seed, graph.indptr, row_mate, roots, leaf, control)
    if width:
        kernels.launch("spread", n_rows * width, index(n_rows), graph.indptr, graph.indices, slots)
    arrays = graph.indptr, graph.indices, slots, roots, row_mate, col_mate, visited, link, leaf, queue, control
    limits = np.int32(narrow), np.int32(stay), np.int32(patience), np.bool_(graft)
    kernels.launch_resident(
        "search",
        index(n_cols),
        *arrays,
        xp.zeros(2, np.int32),
        seed,
        *limits,
        threads=threads,
        blocks_per_processor=blocks,
    )
    return control
