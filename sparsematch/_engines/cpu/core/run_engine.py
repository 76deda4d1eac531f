"""One run of one engine of the core: every engine of this back-end, and each step of `auto`.

A row of the core is what `indptr` runs over, a column what `indices` names; the mates of a flipped
graph are passed in the other order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, NamedTuple

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, mates
from sparsematch._engines.registry import ByProducts, Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo


class Forced(NamedTuple):
    """The core's rows of pairs that degree one has forced, in the order they were found in."""

    #: From the front those that had come down to one column, from the back those whose column had
    #: come down to one row; and how many there are of each.
    rows: IndexArray
    by_row: int
    by_col: int


@dataclass(kw_only=True, slots=True)
class HostByProducts(ByProducts):
    """Those in host memory."""

    #: Pairs that are the same in every maximum matching of the square part.
    forced: Forced | None = None


ENGINES = {row["name"]: row for row in _core.engines()}

#: Engines that read or write flags of finished rows and columns.
_FINISHING = "karp_sipser", "single_source_bfs", "pothen_fan"


def run_engine(
    name: str,
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    before: HostByProducts | None = None,
    *,
    sides: Literal["both", "exchanged", "one"] = "both",
    edge_limit: int = 0,
    options: Mapping[str, bool | float] | None = None,
    workers: int | None = None,
    reason: str = "",
) -> tuple[StepInfo, HostByProducts]:
    """Run one engine on a matching, add its account to the run's; return it, and by-products."""
    # `before` are those of the step before, to which this one adds. If they have flags of finished
    # rows and columns, Karp-Sipser, from the empty matching, writes them, and the forced pairs if
    # the run is for blocks; depth-first and single-source searches read them, unless one-sided, and
    # the latter add their failed trees. `sides`: exchanged, the engine's rows are what `indices`
    # names, which needs the transpose; one, the transpose is left out, also of push-relabel, which
    # may give up then. After about `edge_limit` entries (0: never) it stops short of the goal,
    # ``exhausted``. `options` and `workers` replace the run's; `reason`: why it runs.
    known = before or HostByProducts()
    transposed = known.transposed
    needs = "unused" if sides == "one" else ENGINES[name]["transpose"]
    if sides == "exchanged" or needs == "required":
        transposed = transposed or transpose(graph, run)
    matrix, other = graph, transposed if needs != "unused" else None
    pair = mates(graph, matching)
    finished = known.finished if sides != "one" and name in _FINISHING else None
    if sides == "exchanged" and transposed:
        matrix, other, pair = transposed, graph if other else None, pair[::-1]
        finished = finished and finished[::-1]
    forced = None
    if finished and name == "karp_sipser" and run.for_blocks:
        forced = np.empty(matrix.n_major, graph.dtype)
    lists, threads = (csr(matrix), csr(other) if other else None), workers or run.workers
    how = (edge_limit, run.detailed, run.seed), run.options if options is None else options
    found = reason, finished, forced
    account, n_forced = _core.run_engine(name, *lists, pair, threads, *how, *found)
    info = StepInfo._make(account)
    run.steps.append(info)
    if forced is not None:
        known.forced = Forced(forced, *n_forced)
    known.transposed = transposed
    return info, known


def transpose(graph: BipartiteCSR, run: Run) -> BipartiteCSR:
    """Build the transpose of the graph, and count that. Time: O(n_rows + n_cols + nnz)."""
    begin = perf_counter()
    indptr = np.empty(graph.n_minor + 1, graph.dtype)
    indices = np.empty(graph.nnz, graph.dtype)
    _core.transpose(csr(graph), indptr, indices, run.workers)
    run.stage("transpose", perf_counter() - begin)
    return graph._replace(indptr=indptr, indices=indices, flipped=not graph.flipped)
