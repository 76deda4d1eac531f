"""Breadth-first search from all free rows at once, in one kernel that stays on the device until it finds no more.

The blocks of `search` are all resident and wait for each other by themselves, so that a level costs
no launch and no word to the host. What it needs to know it reads on the device; the host reads
nothing back unless details are wanted.
"""

from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Multi-source breadth-first search with disjoint trees; one resident kernel."
OPTIONS: dict[str, bool | float] = {}

#: Entries of a list that make an entry of the frontier.
PART = 128

#: Entries of a block's own frontier that are not too many for it.
ROOM = 128

#: Entries of a frontier per block up to which blocks go on alone, for how many levels.
NARROW, STAY = 640, 32

#: A phase that has found something ends when it is so many eighths as deep as when it found the
#: last.
PATIENCE = 16

#: Levels of a phase from which on its trees are kept for the next: to grow them again would take
#: longer.
GRAFT = 100


#: Words in which the kernels keep account: of three rounds, four each; what is in ACCOUNT; clock
#: ticks; and votes.
ROUNDS, ACCOUNT, KINDS, VOTES = 12, 6, ("plant", "wide", "narrow", "augment"), 2


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: 4 indices for each column, 6 and its slots for
    each row.
    """
    begin = perf_counter()
    account("ms_bfs", search(graph, matching, run), begin, run)


def account(name: str, report: Any, begin: float, run: Run, cardinality: int = 0) -> None:
    """Tell what the kernels did, if details are wanted."""
    if not run.detailed:
        run.steps.append(StepInfo(name, perf_counter() - begin))
        return
    words = report.tolist()  # waits
    seconds = perf_counter() - begin
    _, _, phases, levels, found, _ = words[ROUNDS : ROUNDS + ACCOUNT]
    ticks = report[ROUNDS + ACCOUNT :].view(np.int64).tolist()[: len(KINDS)]
    steps = {kind: seconds * t / max(sum(ticks), 1) for kind, t in zip(KINDS, ticks, strict=True)}
    facts = {"augmentations": found, "cardinality": cardinality, "seconds_by_step": steps}
    run.steps.append(StepInfo(name, seconds, phases, levels, **facts))


def shape(graph: BipartiteCSR) -> dict[str, int]:
    """Return the macros that suit lists of this length.

    Short lists stand in slots, where a row is found without its bounds. Two small blocks on a
    processor hide each other's waits, but a long list keeps a large one busy.
    """
    mean = graph.indices.size / max(graph.n_major, 1)
    width = 4 if mean <= 3 else 8 if mean <= 8 else 16 if mean <= 15 else 0
    if width and graph.n_major + graph.indices.size // (width - 2) >= np.iinfo(graph.dtype).max - 8:
        width = 0  # no numbers left for the rows of slots
    small = width in (4, 8) or graph.dtype.itemsize == 8
    return {
        "LOCKSTEP": 0,
        "WIDTH": width,
        "LANES": width or (32 if mean >= 32 else 8),
        "UNROLL": 2,
        "PART": PART,
        "ROOM": ROOM,
        "THREADS": 512 if small else 1024,
        "BLOCKS": 2 if small and graph.dtype.itemsize == 4 else 1,
    }


def search(
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    *,
    narrow: int = NARROW,
    stay: int = STAY,
    patience: int = PATIENCE,
    graft: int = GRAFT,
    alone: int = 0,
    **macros: int,
) -> Any:
    """Run the kernels; return the words that they keep account in."""
    xp, dtype, n_rows, n_cols = namespace(graph.indptr), graph.dtype, graph.n_major, graph.n_minor
    macros = shape(graph) | macros
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    kernels = compile.load("matching/ms_bfs", dtype, **macros)
    index, seed, width = dtype.type, np.uint32(run.seed & 0xFFFFFFFF), macros["WIDTH"]
    linked = graph.indices.size // (width - 2) + 1 if width else 0
    control = xp.zeros(ROUNDS + ACCOUNT + (len(KINDS) + VOTES) * 8 // dtype.itemsize, dtype)
    link, slots = xp.empty(4 * n_cols, dtype), xp.empty(max((n_rows + linked) * width, 1), dtype)
    visited, barrier = xp.zeros(n_cols // 32 + 1, np.uint32), xp.zeros(2, np.int32)
    roots, leaf = xp.empty(n_rows, dtype), xp.empty(n_rows, dtype)
    queue = xp.empty(4 * (n_rows + linked + graph.indices.size // macros["PART"] + 1), dtype)
    kernels.launch("count_free", -(-n_cols // 8), index(n_cols), col_mate, control)
    bits = np.int32(max(n_rows - 1, 0).bit_length())
    kernels.launch(
        "collect",
        -(-n_rows // 8),
        index(n_rows),
        bits,
        seed,
        graph.indptr,
        row_mate,
        roots,
        leaf,
        control,
    )
    if width:
        kernels.launch("spread", n_rows * width, index(n_rows), graph.indptr, graph.indices, slots)
    lists = graph.indptr, graph.indices, slots, roots
    state = row_mate, col_mate, visited, link, leaf, queue, control, barrier
    limits = np.int32(narrow), np.int32(stay), np.int32(patience), np.int32(graft), np.int32(alone)
    size = {"threads": macros["THREADS"], "blocks_per_processor": macros["BLOCKS"]}
    kernels.launch_resident("search", index(n_cols), *lists, *state, seed, *limits, **size)
    return control
