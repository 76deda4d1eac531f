"""Checks of a graph over GPUs, and the weight of a matching.

Properties and weights are found on the GPUs. The entries of error messages, and `symmetrize=True`,
need host memory, and are left to the back-end for ranks.
"""

import math
from dataclasses import replace
from typing import Any

from sparsematch._engines.cuda.graph import rounds
from sparsematch._engines.mpi.core.exchange import abort_on_error
from sparsematch._engines.mpi.core.graph_parts import of_all_parts
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.graph import Graph, GraphProperties
from sparsematch._types.graph_part import GraphPart


def part_of(graph: Graph) -> tuple[GraphPart, Graph]:
    """Return the part with its type here, and its own rows as the kernels for one GPU see them."""
    assert isinstance(graph, GraphPart)  # the registry has brought it here
    arrays = graph.indptr, graph.indices, graph.weight
    return graph, Graph(graph.indptr.size - 1, *arrays, "cupy", graph.nnz)


def validate_graph(graph: Graph, run: Run) -> GraphProperties:
    """Return the properties, found in one pass over the own entries. Collective.

    Time: O(own rows + entries).
    """
    part, own = part_of(graph)
    with abort_on_error(part.layout.comm):
        found = rounds.survey(own, part.layout.first_row)
        return of_all_parts(Exchange(part.layout.comm, namespace(part.indptr)), found)


def matched_weight(graph: Graph, mate: IndexArray) -> float:
    """Return the sum of the magnitudes of the matched edges. Collective.

    Time: O(own rows log(degree)).
    """
    part, own = part_of(graph)
    with abort_on_error(part.layout.comm):
        weight = float(rounds.matched_weight(own, mate, part.layout.first_row))
        return math.fsum(Exchange(part.layout.comm, namespace(mate)).allgather(weight))


def one_sided_entry(graph: Graph) -> tuple[int, int] | None:
    """Return the first entry whose partner is absent or differs in magnitude. Collective."""
    return operations(GraphOps, "mpi").one_sided_entry(_on_host(graph))


def first_infinite(graph: Graph) -> tuple[int, int, float]:
    """Return the first entry off the diagonal that is not finite, and its value. Collective."""
    return operations(GraphOps, "mpi").first_infinite(_on_host(graph))


def take_larger(graph: Graph) -> Graph:
    """Return the graph whose edges weigh the larger of two entries. Collective."""
    xp = namespace(graph.indptr)
    larger = operations(GraphOps, "mpi").take_larger(_on_host(graph))
    weight = None if larger.weight is None else xp.asarray(larger.weight)
    arrays = {"indptr": xp.asarray(larger.indptr), "indices": xp.asarray(larger.indices)}
    return replace(graph, **arrays, weight=weight, nnz=larger.nnz)


def _on_host(graph: Graph) -> GraphPart:
    part, _ = part_of(graph)
    arrays: Any = {name: getattr(part, name) for name in ("indptr", "indices", "weight")}
    here: Any = {name: None if array is None else array.get() for name, array in arrays.items()}
    return replace(part, **here, backend="mpi", layout=part.layout.get())
