"""Breadth-first search by one block of threads: one launch for a small matrix. See one_block.cu."""

from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import lane_shift
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Multi-source breadth-first search by one block of threads, for small matrices."
OPTIONS: dict[str, bool | float] = {}

#: Threads of the block.
THREADS = 512

#: Bytes of shared memory that the arrays may take, four for the rows and two for the columns; the
#: least that any GPU has for a block is 48 KiB.
ROOM = 46_080


def fits(graph: BipartiteCSR) -> bool:
    """Tell whether the arrays fit into shared memory, and a block reads the lists in no time."""
    numbers = 4 * graph.n_major + 2 * graph.n_minor
    room = ROOM // graph.dtype.itemsize
    return numbers <= room and graph.nnz <= 4 * room


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: four indices for each row and two for each
    column, unless they fit into shared memory.
    """
    begin = perf_counter()
    xp, dtype = namespace(graph.indptr), graph.dtype
    kernels, index = compile.load("matching/one_block", dtype, **macros(dtype)), dtype.type
    numbers = 0 if fits(graph) else 4 * graph.n_major + 2 * graph.n_minor
    memory = xp.empty(numbers + 3, dtype)
    sizes = index(graph.n_major), index(graph.n_minor)
    mates = graph.orient(matching.row_mate, matching.col_mate)
    shift = np.int32(lane_shift(graph.nnz, graph.n_major, each=4, most=3))
    arrays = kernels.csr(graph), *mates, shift, memory, memory[numbers:]
    kernels.launch("one_block", 1, *sizes, *arrays, threads=THREADS)
    facts: dict[str, Any] = {}
    if run.detailed:
        phases, levels, found = memory[numbers:].tolist()  # waits
        facts = {"phases": phases, "levels": levels, "augmentations": found}
    run.steps.append(StepInfo("one_block", perf_counter() - begin, **facts))


def macros(dtype: np.dtype[Any]) -> dict[str, int]:
    """Return the macros for an index type."""
    return {"ROOM": ROOM // dtype.itemsize, "THREADS": THREADS}
