"""A small matrix is gathered on one GPU, matched there, and its mates are sent back.

Exchanges would take longer than the whole work. What "small" means is a constant, and a share of
the memory that is free there.
"""

import itertools
from typing import Any

import numpy as np

from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.registry import Run, select
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching
from sparsematch._types.matching import Matching

#: Rows, columns and entries together, up to which a matrix is gathered. Two GPUs exchange some 200
#: times in a search, half a millisecond each with the launches and waits around it: 0.1 s, in which
#: one of them finishes a matrix of 5e8 entries. The links bring 2e8 in a few milliseconds.
GATHERED = 200_000_000

#: Indices that it takes for each of them on that GPU: what comes, its copy in one piece, slots, and
#: the workspace of a search; at most this share of what is free.
INDICES, SHARE = 6, 1 / 3


def is_small(A: DistributedCSR) -> bool:
    """Tell whether a matrix is gathered. Collective."""
    size = A.n_rows + A.n_cols + A.nnz
    if size > GATHERED:
        return False
    xp = namespace(A.indptr)
    free = int(Exchange(A.comm, xp).share([_free_memory(xp)])[0, 0])
    return INDICES * A.dtype.itemsize * size <= SHARE * free


def _free_memory(xp: Any) -> int:
    """Return the bytes that are free on the GPU, and in what CuPy keeps of it."""
    free, _ = xp.cuda.runtime.memGetInfo()
    return int(free) + int(xp.get_default_memory_pool().free_bytes())


def match_on_one_gpu(A: DistributedCSR, matching: DistributedMatching, run: Run) -> None:
    """Make the matching maximum by the engines for one GPU: all rows are here."""
    graph = _pattern(A, A.indptr, A.indices)
    mates = Matching(matching.row_mate.astype(graph.dtype), matching.col_mate.astype(graph.dtype))
    alone = Run(run.workers, run.seed, warm=run.warm, detailed=run.detailed)
    select("auto", "cupy", "exact", argument="method").improve(graph, mates, alone)
    matching.row_mate[:] = mates.row_mate
    matching.col_mate[:] = mates.col_mate
    run.steps.extend(alone.steps)


def improve_gathered(A: DistributedCSR, matching: DistributedMatching, run: Run) -> Exchange:
    """Make the matching maximum on rank 0; return the exchanges. Collective.

    Its account is in the run of rank 0 only.
    """
    xp = namespace(A.indptr)
    exchange = Exchange(A.comm, xp)
    nnz = exchange.share([A.local_nnz])[:, 0]
    rows, cols = (np.diff(starts) for starts in (A.row_starts, A.col_starts))
    degrees = gather(exchange, xp.diff(A.indptr).astype(A.dtype), rows)
    indices = gather(exchange, A.indices, nnz)
    mates = [
        gather(exchange, mate, sizes)
        for mate, sizes in ((matching.row_mate, rows), (matching.col_mate, cols))
    ]
    if exchange.rank == 0:
        indptr = xp.zeros(A.n_rows + 1, np.int64)
        indptr[1:] = xp.cumsum(degrees)
        graph = _pattern(A, indptr, indices)
        whole = Matching(*(mate.astype(graph.dtype) for mate in mates))
        alone = Run(run.workers, run.seed, warm=run.warm, detailed=run.detailed)
        select("auto", "cupy", "exact", argument="method").improve(graph, whole, alone)
        run.steps.extend(alone.steps)
        mates = [mate.astype(A.dtype) for mate in (whole.row_mate, whole.col_mate)]
    matching.row_mate[:] = _scatter(exchange, mates[0], A.row_starts)
    matching.col_mate[:] = _scatter(exchange, mates[1], A.col_starts)
    return exchange


def _pattern(A: DistributedCSR, indptr: IndexArray, indices: IndexArray) -> BipartiteCSR:
    """View index arrays as a matrix on one GPU; both get the type in which the entries count."""
    xp, dtype = namespace(indptr), A.dtype if A.nnz < 2**31 else np.dtype(np.int64)
    ends, entries = (xp.ascontiguousarray(a.astype(dtype, copy=False)) for a in (indptr, indices))
    return BipartiteCSR(A.n_rows, A.n_cols, ends, entries, "cupy", False, A.nnz)


def gather(exchange: Exchange, array: Any, sizes: Any) -> Any:
    """Return the arrays of all ranks, in their order, on rank 0; an empty one elsewhere."""
    at_root = exchange.rank == 0
    parts = [array[:0] if to or at_root else array for to in range(exchange.size)]
    arrived = exchange.swap(parts, sizes if at_root else np.zeros_like(sizes))
    return namespace(array).concatenate([array, arrived]) if at_root else arrived


def _scatter(exchange: Exchange, whole: Any, starts: Any) -> Any:
    """Return the own part of an array that rank 0 has."""
    at_root, sizes = exchange.rank == 0, np.diff(starts)
    parts = [whole[begin:end] for begin, end in itertools.pairwise(starts)]
    arriving = np.zeros_like(sizes)
    if not at_root:
        parts, arriving[0] = [whole[:0]] * exchange.size, sizes[exchange.rank]
    arrived = exchange.swap(parts, arriving)
    return parts[0] if at_root else arrived
