"""What `auto` keeps of a matching from one step to the next, and what the steps have cost."""

from dataclasses import replace
from math import ceil, inf
from typing import Any, Literal

import numpy as np

from sparsematch._engines.cpu.core.csr import mates
from sparsematch._engines.cpu.core.run_engine import run_engine
from sparsematch._engines.cpu.ordering.features import Features
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import BoolArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

#: A search from the minors needs a transpose: it pays where so many times fewer minors than majors
#: are free.
TRANSPOSE_GAIN = 4

_FROM_EITHER_SIDE = ("single_source_bfs", "hopcroft_karp", "push_relabel")

#: For each major and minor, whether no augmenting path can need it any more: trees that failed mark
#: theirs, and so does Karp-Sipser.
Settled = tuple[BoolArray, BoolArray]


def nothing_settled(graph: BipartiteCSR) -> Settled:
    return np.zeros(graph.n_major, bool), np.zeros(graph.n_minor, bool)


def head(graph: BipartiteCSR, matching: Matching, n: int) -> tuple[BipartiteCSR, Matching]:
    """View the first majors of a graph, and the matching of these."""
    shape = (graph.n_rows, n) if graph.flipped else (n, graph.n_cols)
    part = replace(graph, n_rows=shape[0], n_cols=shape[1], indptr=graph.indptr[: n + 1])
    return part, Matching(matching.row_mate[: shape[0]], matching.col_mate[: shape[1]])


class Steps:
    """Runs engines on the matching of one call.

    Methods that run one return whether the matching is maximum.
    """

    def __init__(self, graph: BipartiteCSR, matching: Matching, run: Run) -> None:
        self.graph, self.matching, self.run = graph, matching, run
        self.features = Features(graph)
        self.rank = 0
        self.settled = nothing_settled(graph)
        self.peeled = False  # whether Karp-Sipser has made the matching

    def take(
        self,
        engine: str,
        matching: Matching,
        why: str,
        graph: BipartiteCSR | None = None,
        **settings: Any,
    ) -> StepInfo:
        """Run an engine on a matching of the graph, or of a part; say in the account why."""
        step = run_engine(engine, graph or self.graph, matching, self.run, **settings)
        self.run.steps[-1] = step = step._replace(reason=why)
        return step

    def start(self, heuristic: str, why: str, workers: int | None = None) -> bool:
        """Run a heuristic on the matching so far."""
        self.rank = self.take(heuristic, self.matching, why, workers=workers).cardinality
        return self.rank == min(self.graph.shape)

    def search(
        self,
        engine: str,
        passes: float,
        why: str,
        workers: int | None = None,
        sides: Literal["both", "one"] = "both",
    ) -> bool:
        """Run an exact algorithm, with an allowance; 0: to the end.

        From the minors, if far fewer of these are free.
        """
        graph = self.graph
        more: dict[str, Any] = {"sides": sides}
        if sides == "both" and engine in _FROM_EITHER_SIDE and self.minors_are_fewer:
            more["sides"] = "exchanged"
        if engine == "single_source_bfs":
            more["settled"] = None if sides == "one" else self.settled
            if self.features.ordered:
                workers = 1  # searches so short that one worker is done before two have agreed
        limit = ceil(passes * graph.nnz)
        step = self.take(engine, self.matching, why, edge_limit=limit, workers=workers, **more)
        self.rank = step.cardinality
        return not step.exhausted or self.rank == min(graph.shape)

    @property
    def minors_are_fewer(self) -> bool:
        """Whether so many fewer minors than majors are free that searches begin with them."""
        majors, minors = self.free()
        return minors * (1 if self.run.transposed else TRANSPOSE_GAIN) < majors

    def free(self) -> tuple[int, int]:
        """Count the majors and minors that are free and may be needed, as far as that is known."""
        if not self.peeled:
            return self.graph.n_major - self.rank, self.graph.n_minor - self.rank
        pair = mates(self.graph, self.matching)
        majors, minors = (
            int(np.count_nonzero((mate < 0) & ~done))
            for done, mate in zip(self.settled, pair, strict=True)
        )
        return majors, minors

    def may_match(self) -> float:
        """Estimate how many pairs are missing, from the searches of the last step."""
        last, bound = self.run.steps[-1], min(self.free())
        if last.engine != "single_source_bfs" or not last.phases:
            return bound
        untried = max(self.free())
        if not self.peeled:  # else those that have failed are settled
            untried += last.augmentations - last.phases - self.features.degrees.empty
        return min(bound, untried * last.augmentations / last.phases)

    def cost_of_a_path(self) -> float:
        """Return how many entries a search of the last step has scanned to find a path."""
        last = self.run.steps[-1]
        return (last.edges - last.failed_edges) / last.augmentations

    def cost_of_the_rest(self) -> float:
        """Return how many passes the others cost if none costs more than those of the last step."""
        if not self.run.steps[-1].augmentations:
            return inf
        return self.cost_of_a_path() * self.may_match() / self.graph.nnz

    def adopt(self, trial: Matching, rank: int, settled: Settled) -> None:
        """Go on from another matching."""
        self.matching.row_mate[:] = trial.row_mate
        self.matching.col_mate[:] = trial.col_mate
        self.rank, self.settled = rank, settled
