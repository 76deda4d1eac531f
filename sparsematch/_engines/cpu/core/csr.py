"""How matrices, matchings and settings reach the compiled core: as tuples, the cheapest to make."""

from typing import Any

from sparsematch._base.arrays import FloatArray, IndexArray, IndexPair
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.graph import Graph
from sparsematch._types.matching import Matching

#: A pattern: number of columns, indptr, indices. A row of the core is a stored row (major), what
#: `indptr` runs over; a column is what `indices` names (minor).
Csr = tuple[int, IndexArray, IndexArray]

#: How an engine runs: limit of entries (0: none), whether details are wanted, seed.
Settings = tuple[int, bool, int]

_MANY = 1 << 15  # entries: fewer are done before other threads have started


def worthwhile(workers: int, entries: int) -> int:
    """Return how many workers pay for a number of entries: all of them, or one."""
    return workers if entries > _MANY else 1


def workers_of(run: Run, entries: int) -> Any:
    """Return those of a run that are worthwhile; if it is detailed, with what is told its times."""
    workers = run.workers if entries > _MANY else 1
    return (workers, run.stage) if run.detailed else workers


def csr(graph: BipartiteCSR) -> Csr:
    """Return the pattern of a graph."""
    return graph.n_rows if graph.flipped else graph.n_cols, graph.indptr, graph.indices


def graph_arrays(graph: Graph) -> tuple[IndexArray, IndexArray, FloatArray | None]:
    """Return the lists of a general graph, and weights."""
    return graph.indptr, graph.indices, graph.weight


def mates(graph: BipartiteCSR, matching: Matching) -> IndexPair:
    """Return the mates of the core's rows and columns."""
    return graph.orient(matching.row_mate, matching.col_mate)
