"""Breadth-first search from all free rows at once, in one kernel, until no path is left.

The blocks of `search` are all resident and wait for each other by themselves, so that a level costs
no launch and no transfer. The host reads nothing back unless details are wanted.
"""

import functools
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set, index_bits, seed_of
from sparsematch._engines.cuda.matching.features import LINKED, features
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

#: As in ms_bfs.cuh. A frontier is narrow up to so many entries per block, and blocks then go on by
#: themselves for so many levels. A phase that has found something ends when it is so many eighths
#: as deep as when it found the last; its trees are kept for the next from so many levels on, when
#: growing them again would take longer. It does as many levels of few entries as there are, unless
#: a driver allows fewer.
LIMITS = {"narrow": 640, "stay": 32, "depth_eighths": 16, "graft": 100, "alone": 0}
LIMITS |= {"few": 0, "allowance": 2**31 - 1}

#: What the ticks of the control are counted for.
KINDS = ("plant", "wide", "narrow", "augment")


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: 4 indices for each column, 6 and its slots for
    each row.
    """
    begin = perf_counter()
    account("ms_bfs", search(graph, matching, run), begin, run)


def account(
    name: str, report: Callable[[], Any], begin: float, run: Run, cardinality: int = 0
) -> None:
    """Report what the kernels did, if details are wanted."""
    if not run.detailed:
        run.steps.append(StepInfo(name, perf_counter() - begin))
        return
    done = report()  # waits
    seconds, ticks = perf_counter() - begin, done["ticks"].tolist()
    phases, levels, found = (int(done[key]) for key in ("phases", "levels", "found"))
    steps = {kind: seconds * t / max(sum(ticks), 1) for kind, t in zip(KINDS, ticks, strict=True)}
    facts: dict[str, Any] = {"augmentations": found, "cardinality": cardinality}
    run.steps.append(StepInfo(name, seconds, phases, levels, **facts, seconds_by_step=steps))


def preload(graph: BipartiteCSR) -> None:
    """Start the compiler for the search of such lists."""
    macros = shape(graph)
    compile.load("matching/ms_bfs", graph.dtype, **macros)
    compile.load("matching/ms_bfs_setup", graph.dtype, **_of_slots(macros))


def _of_slots(macros: dict[str, int]) -> dict[str, int]:
    return {key: macros[key] for key in ("WIDTH", "LANES", "LINKED")}


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
        "LINKED": LINKED,
        "THREADS": 512 if small else 1024,
        "BLOCKS": 2 if small and graph.dtype.itemsize == 4 else 1,
    }


def search(
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    limits: dict[str, int] | None = None,
    linked: int | None = None,
    **macros: int,
) -> Callable[[], Any]:
    """Run the kernels; return what reads their control.

    `linked` is what `features` counts, if it is known.
    """
    xp, dtype, n_rows, n_cols = namespace(graph.indptr), graph.dtype, graph.n_major, graph.n_minor
    macros = shape(graph) | macros
    kernels, index = compile.load("matching/ms_bfs", dtype, **macros), dtype.type
    setup = compile.load("matching/ms_bfs_setup", dtype, **_of_slots(macros))
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    width, control = macros["WIDTH"], kernels.zeros(xp, "Control")
    if linked is None:
        linked = features(graph, width).linked
    slots = xp.empty(max((n_rows + linked) * width, 1), dtype)
    roots, leaf = xp.empty((2, n_rows), dtype)
    setup.launch("count_free", -(-n_cols // 8), index(n_cols), col_mate, control)
    order = index(n_rows), index_bits(n_rows), seed_of(run)
    arrays = graph.indptr, row_mate, roots, leaf, control
    setup.launch("collect", -(-n_rows // 8), *order, *arrays)
    if width:
        if linked:
            setup.launch("link_rows", n_rows, index(n_rows), graph.indptr, slots, control)
        arrays = graph.indptr, graph.indices, slots
        setup.launch("spread", n_rows * width, index(n_rows), *arrays)
    entries = n_rows + linked + graph.indices.size // macros["PART"] + 1
    state = kernels.struct(
        "MsBfs",
        indptr=graph.indptr,
        indices=graph.indices,
        slots=slots,
        roots=roots,
        row_mate=row_mate,
        col_mate=col_mate,
        visited=bit_set(xp, n_cols),
        link=xp.empty(4 * n_cols, dtype),
        leaf=leaf,
        queue=xp.empty(4 * entries, dtype),
        control=control,
    )
    bounds = kernels.struct("Limits", **(LIMITS | (limits or {})))
    how = {"threads": macros["THREADS"], "blocks_per_processor": macros["BLOCKS"]}
    barrier = xp.zeros(2, np.int32)
    kernels.launch_resident("search", index(n_cols), state, bounds, seed_of(run), barrier, **how)
    return functools.cache(lambda: kernels.read("Control", control))
