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

#: Vertices of a side and entries that 16 bits count, with one number to spare.
MOST = 65_534

#: Threads of the block by the least number of rows: a barrier of more threads takes longer.
THREADS = {0: 256, 384: 512, 3072: 1024}


def fits(graph: BipartiteCSR) -> bool:
    """Tell whether all of it fits into the shared memory of a block."""
    sizes = graph.n_major, graph.n_minor, graph.nnz
    return max(sizes) <= MOST and _shared_bytes(*sizes) <= compile.shared_room()


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: none if it `fits`, else four indices for each
    row and two for each column.
    """
    begin = perf_counter()
    xp, dtype = namespace(graph.indptr), graph.dtype
    n_rows, n_cols = graph.n_major, graph.n_minor
    kernels = compile.load("matching/one_block", dtype)
    shared, memory, bits = 0, None, None
    if fits(graph):
        shared = _shared_bytes(n_rows, n_cols, graph.nnz)
    else:
        memory = xp.empty(4 * n_rows + 2 * n_cols, dtype)
        bits = xp.empty(_words(n_rows, n_cols), np.uint32)
    report = xp.empty(3, dtype) if run.detailed else None
    row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
    work = kernels.struct(
        "Work",
        indptr=graph.indptr,
        indices=graph.indices,
        n_rows=n_rows,
        n_cols=n_cols,
        row_mate=row_mate,
        col_mate=col_mate,
        memory=memory,
        bits=bits,
        report=report,
        shift=lane_shift(graph.nnz, n_rows, each=1, most=4),
    )
    threads = max(number for rows, number in THREADS.items() if rows <= n_rows)
    kernels.launch("one_block", 1, work, threads=threads, shared_bytes=shared)
    facts: dict[str, Any] = {}
    if report is not None:
        phases, levels, found = report.tolist()  # waits
        facts = {"phases": phases, "levels": levels, "augmentations": found}
    run.steps.append(StepInfo("one_block", perf_counter() - begin, **facts))


def _words(n_rows: int, n_cols: int) -> int:
    """Return the words of the bits, and of the degrees of the columns."""
    return n_rows // 32 + 1 + n_cols // 32 + 1 + n_cols // 2 + 1


def _shared_bytes(n_rows: int, n_cols: int, nnz: int) -> int:
    """Return the bytes of shared memory that the kernel takes, as it lays them out."""
    return 4 * _words(n_rows, n_cols) + 2 * (5 * n_rows + 2 * n_cols + 1 + nnz)
