"""Checks of the own rows of a graph over GPUs, and the weight of a matching of them.

Properties and weights are found on the GPU. The entries of error messages, and `symmetrize=True`,
need host memory, and are left to the back-end for ranks.
"""

from dataclasses import replace
from typing import Any

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.graph import rounds
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.graph import Graph
from sparsematch._types.over_ranks.graph_part import GraphPart, PartProperties


def own_rows(part: GraphPart) -> Graph:
    """Return the own rows of a part as the kernels for one GPU see them."""
    return Graph(part.indptr.size - 1, part.indptr, part.indices, part.weight, "cupy", part.nnz)


def part_properties(part: GraphPart, run: Run) -> PartProperties:
    """Return what one pass over the own entries finds."""
    return PartProperties(*rounds.survey(own_rows(part), part.layout.first_row))


def part_weight(part: GraphPart, mate: IndexArray) -> float:
    """Return the sum of the magnitudes of the matched edges whose smaller end is an own vertex."""
    return float(rounds.matched_weight(own_rows(part), mate, part.layout.first_row))


def one_sided_entry(part: GraphPart) -> tuple[int, int] | None:
    """Return the first entry whose partner is absent or differs in magnitude. Collective."""
    return operations(GraphOps, "mpi").one_sided_entry(_on_host(part))


def first_infinite(part: GraphPart) -> tuple[int, int, float]:
    """Return the first entry off the diagonal that is not finite, and its value. Collective."""
    return operations(GraphOps, "mpi").first_infinite(_on_host(part))


def take_larger(part: GraphPart) -> GraphPart:
    """Return the graph whose edges weigh the larger of two entries. Collective."""
    xp = namespace(part.indptr)
    larger = operations(GraphOps, "mpi").take_larger(_on_host(part))
    weight = None if larger.weight is None else xp.asarray(larger.weight)
    arrays = {"indptr": xp.asarray(larger.indptr), "indices": xp.asarray(larger.indices)}
    return replace(part, **arrays, weight=weight, nnz=larger.nnz)


def _on_host(part: GraphPart) -> GraphPart:
    arrays: Any = {name: getattr(part, name) for name in ("indptr", "indices", "weight")}
    here: Any = {name: None if array is None else array.get() for name, array in arrays.items()}
    return replace(part, **here, backend="mpi", layout=part.layout.get())
