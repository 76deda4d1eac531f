"""Breadth-first search by one block of threads: one launch for a small matrix. See one_block.cu."""

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import Before
from sparsematch._engines.cuda.core.device import INT_MAX, HostNumbers, lane_shift
from sparsematch._engines.cuda.matching import ms_bfs
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "Multi-source breadth-first search by one block of threads, for small matrices."

#: Vertices of a side and entries that 16 bits count, with one number to spare.
MOST = 65_534

#: Threads of the block by the least number of rows: a barrier of more threads takes longer.
THREADS = {0: 256, 384: 512, 3072: 1024}

#: What the kernel reports.
_COUNTS = "stopped", "phases", "levels", "augmentations"

load = compile.declare("matching/one_block")


def fits(graph: BipartiteCSR) -> bool:
    """Tell whether all of it fits into the shared memory of a block."""
    sizes = graph.n_major, graph.n_minor, graph.nnz
    return max(sizes) <= MOST and _shared_bytes(*sizes) <= compile.shared_room()


def improve(graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None) -> Before:
    """Make the matching maximum: of what does not fit, by as many blocks as `ms_bfs` has."""
    # Reads: the graph. Writes: both mates. Workspace: none if it `fits`.
    if fits(graph):
        search(graph, matching, run)
    else:
        with run.step("one_block") as counts:
            counts |= ms_bfs.account(ms_bfs.search((graph, matching, run, before)), run)
    return before


def search(graph: BipartiteCSR, matching: Matching, run: Run, depth: int | None = None) -> bool:
    """Search until the matching is maximum; return whether a phase was deeper than is allowed."""
    # The rest is then left. The graph must fit. Waits for the device if there is a limit.
    with run.step("one_block") as counts:
        xp, n_rows, n_cols = namespace(graph.indptr), graph.n_major, graph.n_minor
        kernels = load(graph.dtype)
        mates = Matching(*graph.orient(matching.row_mate, matching.col_mate))
        # a level takes as long as its longest list: twice as many threads as the mean
        shift = lane_shift(2 * graph.nnz, n_rows, each=1, most=5)
        limits = {"n_rows": n_rows, "n_cols": n_cols, "depth": depth or INT_MAX}
        work = kernels.struct("Work", graph, mates, shift=shift, **limits)
        threads = max(number for rows, number in THREADS.items() if rows <= n_rows)
        how = {"threads": threads, "shared_bytes": _shared_bytes(n_rows, n_cols, graph.nnz)}
        if not run.detailed and not depth:
            kernels.launch("one_block", 1, work, np.uint64(0), **how)
            return False
        report = HostNumbers(xp, len(_COUNTS))
        kernels.launch("one_block", 1, work, report.pointer, **how)
        counts |= zip(_COUNTS, report.read(), strict=True)  # waits
        return bool(counts.pop("stopped"))


def _shared_bytes(n_rows: int, n_cols: int, nnz: int) -> int:
    """Return the bytes of shared memory that the kernel takes, as it lays them out."""
    words = n_rows // 32 + 1 + n_cols // 32 + 1 + n_cols // 2 + 1
    return 4 * words + 2 * (5 * n_rows + 2 * n_cols + 1 + nnz)
