"""Local max over GPUs: an edge that precedes all its neighbours is matched, round by round.

Birn, Osipov, Sanders, Schulz, Sitchinava, Efficient parallel and external matching (Euro-Par 2013).
Each GPU has the choices of all vertices, and a bit for each that is matched; changes are sent to
all the others, one exchange a round. The kernels are those of `local_max_part.cu` of the back-end
for a GPU. All back-ends order the edges alike, so the matching is the same on any number of GPUs.
"""

from typing import Any

import numpy as np

from sparsematch._base.arrays import UNMATCHED, IndexArray, n_set, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.cuda.graph import rounds
from sparsematch._engines.mpi.core.steps import Account, step
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import Counts
from sparsematch._engines.registry import Run
from sparsematch._types.graph import Graph
from sparsematch._types.over_ranks.graph_part import GraphPart

SUMMARY = "Edges heavier than all their neighbours are matched; one exchange a round."

_SOURCE = "graph/over_ranks/local_max_part"


def improve(graph: GraphPart, mate: IndexArray, run: Run) -> None:
    """Match the graph. Collective."""
    # Reads: the own rows. Writes: the mates of the own vertices. Workspace: an index and a bit for
    # each vertex of all ranks, five indices for each own one. Time: O(own entries), expected, and
    # rounds: a chain of edges, each heavier than the one before, takes one for every two edges.
    with step("local_max", graph.layout, mate, run) as (exchange, account):
        _Part(graph, mate, exchange, run).match(account, run.detailed)
    run.steps.amend_last(cardinality=run.steps[-1].cardinality // 2)  # edges, not vertices


def own_rows(part: GraphPart) -> Graph:
    """Return the own rows of a part as the kernels for one GPU see them."""
    return Graph(part.indptr.size - 1, part.indptr, part.indices, part.weight, "cupy", part.nnz)


class _Part:
    """The own vertices."""

    def __init__(self, graph: GraphPart, mate: IndexArray, exchange: Exchange, run: Run) -> None:
        xp, dtype = namespace(mate), graph.dtype
        own = own_rows(graph)
        self.exchange, self.n, self.first, self.mate = exchange, own.n, graph.layout.first_row, mate
        self.kernels = compile.load(_SOURCE, dtype, **rounds.shape(own))
        self.lanes = rounds.shape(own)["LANES"]
        adjacency = rounds.adjacency(self.kernels, own, run.seed, self.first)
        self.lists = adjacency, rounds.cuts(self.kernels, own)
        self.control = self.kernels.zeros(xp, "Control")
        self.counts = Counts(self.kernels, exchange, xp, buffers=0, cleared=2)
        self.changed = xp.empty(2 * own.n, dtype)  # messages: a vertex and its choice
        self.open = [xp.empty(own.n, dtype) for _ in range(2)]
        self.fields = {
            "choice": xp.full(graph.n, UNMATCHED, dtype),
            "mate": mate,
            "taken": bit_set(xp, graph.n),
            "lost": xp.empty(own.n, dtype),
            "changed": self.changed,
            "counts": self.counts.progress,
        }

    @property
    def state(self) -> Any:
        """The argument of kernels."""
        here, there = self.open
        return self.kernels.struct("Part", **self.fields, open=here, next=there)

    def match(self, account: Account, detailed: bool) -> None:
        """Match until no vertex has lost its choice. Collective."""
        n_lost, n_open = self.n, self.n
        while True:
            account.phases += 1
            sizes = self.exchange.allgather_numbers([n_lost])[:, 0]
            if not sizes.any():
                break
            every, first = np.bool_(account.phases == 1), self.mate.dtype.type(self.first)
            self._choose(every, n_lost, sizes)
            self._launch("sort_open", n_open, every, np.int64(n_open), first)
            n_open, n_lost = self.counts.read()
            self.open.reverse()
            if detailed:
                account.matched.append(n_set(self.mate >= 0))
        account.phases -= 1
        account.edges = int(self.kernels.read("Control", self.control)["scanned"])

    def _choose(self, every: np.bool_, n_lost: int, sizes: Any) -> None:
        """Renew the lost choices, and send the new ones to all other ranks. Collective."""
        count = np.int64(n_lost)
        arguments = every, count, *self.lists, self.state, self.control
        self.kernels.launch_resident("choose_part", *arguments)
        mine = self.changed[: 2 * n_lost]
        arrived = self.exchange.allgather_others(mine, 2 * sizes)
        n = np.int64(arrived.size // 2)
        self._launch("update_choices", int(n), arrived, n)
        self._launch("mark_pairs", n_lost, mine, count)
        self._launch("mark_pairs", int(n), arrived, n)

    def _launch(self, kernel: str, n: int, *arguments: Any) -> None:
        self.kernels.launch(kernel, n, self.state, *arguments)
