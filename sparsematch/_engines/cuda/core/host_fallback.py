"""What the device leaves to the host: searches whose levels are many.

A level takes the device as long with one vertex as with thousands. A search is left to the
host when its levels took a share of the time that the copies and one core of the host are expected
to take: noticing costs no more than that. The host starts again: the few rows that are free by then
are those that take longest, and a start that knows them all often has no such rows.
"""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import DeviceByProducts, HostResult
from sparsematch._engines.cuda.core.device import INT_MAX
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._engines.registry import Run, select
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

#: Vertices of a level that take as long as its barrier. No figures were kept.
WIDE = 8192

#: Time of a byte copied to pageable memory, in seconds: 6 GB/s. No figures were kept.
BYTE = 1 / 6e9


class TooDeepError(Exception):
    """Raised where the levels of a decomposition are too many."""


class Work(NamedTuple):
    """What may be left to the host."""

    level: float  #: Seconds that the device takes for a level.
    entry: float  #: Seconds that the host takes for an entry.
    share: float  #: The share of the host's time that noticing may cost.
    least: int  #: Levels that are done in any case.

    def levels(self, copied_bytes: int, nnz: int) -> int:
        """Return how many levels the device may do before it leaves the rest to the host."""
        # A level counts once more for every `WIDE` vertices.
        seconds = copied_bytes * BYTE + nnz * self.entry
        return min(max(self.least, int(self.share * seconds / self.level)), INT_MAX)


#: What decompositions may leave to the host; the second where lists follow an order, along which it
#: finds blocks. Forty families, 2^18 rows, in four orders: those that suit the device took up to
#: 0.04 of the host's time, the others 1.5 and more; the former 200 levels with 2^14 rows, 370 here.
DECOMPOSITION = Work(3e-6, 25e-9, 0.05, 448)
DECOMPOSITION_IN_ORDER = Work(3e-6, 7e-9, 0.1, 128)


def allowed_levels(graph: BipartiteCSR, before: DeviceByProducts) -> int:
    """Return how many levels a decomposition may do before the rest is left to the host."""
    work = DECOMPOSITION_IN_ORDER if before.in_order else DECOMPOSITION
    return work.levels(bytes_to_copy(graph), graph.nnz) if before.host else INT_MAX


class Allowance:
    """The levels that a decomposition may do, counted on the device by all its launches."""

    def __init__(self, used: Any, most: int) -> None:
        self.used, self.most = used, most

    def struct(self, kernels: compile.Kernels) -> Struct:
        """Return what a kernel needs to count."""
        return kernels.struct("Allowance", used=self.used, most=self.most, wide=WIDE)

    def check(self, used: int | None = None) -> None:
        """Raise `TooDeepError` if it is used up; waits for the device unless `used` is known."""
        if self.most < INT_MAX and (int(self.used[0]) if used is None else used) > self.most:
            raise TooDeepError


def bytes_to_copy(graph: BipartiteCSR) -> int:
    """Return the bytes of the index arrays."""
    return (graph.n_major + 1 + graph.nnz) * graph.dtype.itemsize


def on_host(graph: BipartiteCSR) -> BipartiteCSR:
    """Return a copy of the graph in host memory."""
    there: Any = graph.indptr, graph.indices[: graph.nnz]
    indptr, indices = (array.get() for array in there)
    return BipartiteCSR(graph.n_rows, graph.n_cols, indptr, indices, "numpy", graph.flipped)


def finish_matching(graph: BipartiteCSR, matching: Matching, run: Run, reason: str) -> HostResult:
    """Replace the matching by that of the host's `auto`, grown from it if the run is warm."""
    # Steps are reported: "host_fallback", with the bytes copied both ways, and those of the host.
    row_mate: Any = matching.row_mate
    col_mate: Any = matching.col_mate
    mates = row_mate.nbytes + col_mate.nbytes
    copied = bytes_to_copy(graph) + (1 + run.warm) * mates
    with run.step("host_fallback", copied_bytes=copied, reason=reason) as counts:
        here = on_host(graph)
        found = Matching(row_mate.get(), col_mate.get()) if run.warm else Matching.start(here)
        counts["cardinality"] = found.cardinality
    host = Run(run.workers, run.seed, detailed=run.detailed, warm=run.warm)
    host.for_blocks = run.for_blocks
    by_products = select("auto", "numpy", "exact").improve(here, found, host)
    run.include(host)
    row_mate.set(found.row_mate)
    col_mate.set(found.col_mate)
    return HostResult(here, found, by_products)


def match_in_order(graph: BipartiteCSR, matching: Matching, run: Run) -> HostResult:
    """Return the matching in host memory, or one by first fit if that has as many pairs."""
    # That follows the order of the lists. Where this is local, blocks are found along it ten times
    # as fast; where it is not, the pass takes a small part of what they take.
    here = on_host(graph)
    in_order = Matching.start(here)
    select("cheap", "numpy", "heuristic").improve(here, in_order, Run(run.workers))
    found = matching.get()
    best = in_order if in_order.cardinality == found.cardinality else found
    return HostResult(here, best, None)


def to_device(array: Any, like: Any) -> Any:
    """Return a copy of an array of the host, in the type of one on the device."""
    return namespace(like).asarray(np.ascontiguousarray(array, like.dtype))
