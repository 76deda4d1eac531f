"""Local max over ranks: an edge that precedes all its neighbours is matched, round by round.

Birn, Osipov, Sanders, Schulz, Sitchinava, Efficient parallel and external matching (Euro-Par 2013),
section 3.2: a rank has consecutive vertices with all their edges. The messages are those of Manne,
Bisseling, A parallel approximation algorithm for the weighted maximum matching problem (PPAM 2007):
a vertex requests the neighbour on another rank that it points at, and announces that it is matched.
Between two exchanges a rank processes all consequences of the messages within its own vertices, by
the engine for host memory (`cpu/graph/local_max_part.hpp`).

Invariant: an own vertex points at the first edge, in the one order of all back-ends, to a neighbour
that is not known to be matched. So the matching is that of `greedy`, on any number of ranks.
"""

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.mpi.core.steps import step
from sparsematch._engines.registry import Run, operations
from sparsematch._types.over_ranks.graph_part import GraphPart

SUMMARY = "Edges heavier than all their neighbours are matched; one exchange a round."


def improve(graph: GraphPart, mate: IndexArray, run: Run) -> None:
    """Match the graph. Collective."""
    # Reads: the own rows. Writes: the mates of the own vertices. Workspace: an index per entry,
    # some per own vertex and per neighbour on another rank. Time: O(own entries), expected, and
    # rounds: a chain of ever heavier edges takes one whenever it changes ranks.
    with step("local_max", graph.layout, mate, run) as (exchange, account):
        part = operations(GraphPartOps, "numpy").local_max_part(graph, run)
        to, what, edges = part.start(run.workers)
        while True:
            account.phases += 1
            account.edges += edges
            if run.detailed:
                part.mates(mate)
                account.matched.append(int(np.count_nonzero(mate >= 0)))
            if not exchange.any(to.size > 0):
                break
            arrived = exchange.alltoallv(graph.layout.row_starts, to, what)
            to, what, edges = part.receive(*map(np.ascontiguousarray, arrived))
        part.mates(mate)
    run.steps.amend_last(cardinality=run.steps[-1].cardinality // 2)  # edges, not vertices
