"""Checks of the own rows of a graph over GPUs, and the weight of a matching of them."""

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cuda.graph import rounds
from sparsematch._engines.registry import Run
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
