"""What the device leaves to the host: searches whose levels are many.

A level costs the device the same whether it holds one vertex or thousands. The rule: a search is
left to the host when its levels took a share of the time that the copies and one core of the host
are expected to take. So noticing costs no more than that share; a search that is suited to the
device ends long before. The host begins anew: the few rows that are free by then are those that
take longest, and a start that knows them all often has no such rows.

The host's back-end is reached through the registry, like any engine. What is copied is counted, in
bytes, and shown by ``return_info``.
"""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._engines.registry import Run, select
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

#: Vertices of a level that take as long as its barrier.
WIDE = 8192

#: Seconds of a level on the device, and of a byte copied to pageable memory.
LEVEL, BYTE = 2e-6, 1 / 6e9

#: Levels that are done in any case: below them nothing is worth a wait for the device.
LEAST = 1024

_MOST = 2**31 - 1


class TooDeepError(Exception):
    """Raised where the levels of a decomposition are too many."""


class Work(NamedTuple):
    """What may be left to the host.

    Attributes
    ----------
    entry : float
        Seconds that the host takes for an entry.
    share : float
        The share of the host's time that noticing may cost.
    """

    entry: float
    share: float


#: Forty families, 2^18 rows, in four orders: searches that suit the device took up to 0.11 of the
#: host's time, the others 4.5 and more; decompositions up to 0.03, the others 2.9 and more.
SEARCH, DECOMPOSITION = Work(60e-9, 0.2), Work(25e-9, 0.1)


def allowed_levels(graph: BipartiteCSR, run: Run, work: Work) -> int:
    """Return how many levels the device may do before it leaves the rest to the host.

    A level counts once more for every `WIDE` vertices.
    """
    if not run.host:
        return _MOST
    copied = 0 if run.on_host else bytes_of(graph)
    seconds = copied * BYTE + graph.nnz * work.entry
    return min(max(LEAST, int(work.share * seconds / LEVEL)), _MOST)


class Allowance:
    """The levels that a decomposition may do, counted on the device by all its launches."""

    def __init__(self, used: Any, most: int) -> None:
        self.used, self.most = used, most

    def struct(self, kernels: compile.Kernels) -> Struct:
        """Return what a kernel needs to count."""
        return kernels.struct("Allowance", used=self.used, most=self.most, wide=WIDE)

    def check(self, used: int | None = None) -> None:
        """Raise `TooDeepError` if it is used up; waits for the device unless `used` is known."""
        if self.most < _MOST and (int(self.used[0]) if used is None else used) > self.most:
            raise TooDeepError


def bytes_of(graph: BipartiteCSR) -> int:
    """Return the bytes of the index arrays."""
    return (graph.n_major + 1 + graph.nnz) * graph.dtype.itemsize


def on_host(graph: BipartiteCSR, run: Run) -> BipartiteCSR:
    """Return a copy of the graph in host memory, made the first time."""
    if run.on_host is None:
        indptr: Any = graph.indptr
        indices: Any = graph.indices[: graph.nnz]
        arrays = indptr.get(), indices.get()
        run.on_host = BipartiteCSR(graph.n_rows, graph.n_cols, *arrays, "numpy", graph.flipped)
    return run.on_host


def finish_matching(graph: BipartiteCSR, matching: Matching, run: Run, reason: str) -> None:
    """Replace the matching by that of the host's `auto`, which is grown from it if the run is warm.

    Two steps or more are reported: ``"hand_over"``, with the bytes that are copied both ways, and
    those of the host.
    """
    begin = perf_counter()
    row_mate: Any = matching.row_mate
    col_mate: Any = matching.col_mate
    mates = row_mate.nbytes + col_mate.nbytes
    copied = (0 if run.on_host else bytes_of(graph)) + (1 + run.warm) * mates
    here = on_host(graph, run)
    found = Matching(row_mate.get(), col_mate.get()) if run.warm else Matching.start(here)
    seconds, rank = perf_counter() - begin, found.cardinality
    run.steps.append(
        StepInfo("hand_over", seconds, cardinality=rank, copied_bytes=copied, reason=reason)
    )
    host = Run(run.workers, run.seed, detailed=run.detailed, warm=run.warm)
    select("auto", "numpy", "exact", argument="method").improve(here, found, host)
    run.steps += host.steps
    row_mate.set(found.row_mate)
    col_mate.set(found.col_mate)
    run.transposes_built += host.transposes_built
    run.transpose_seconds += host.transpose_seconds


def to_device(array: Any, like: Any) -> Any:
    """Return a copy of an array of the host, in the type of one on the device."""
    return namespace(like).asarray(np.ascontiguousarray(array, like.dtype))
