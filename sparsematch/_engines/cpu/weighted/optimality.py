"""The proof that a weighted transversal is optimal, by its duals alone."""

from collections.abc import Callable

import numpy as np

from sparsematch._base.arrays import FloatArray
from sparsematch._base.pieces import in_pieces
from sparsematch._engines.cpu.weighted.transversals import matched_entries
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.weighted import WeightedCSR, WeightedTransversal
from sparsematch._types.weighted_proof import is_least_cost


def is_optimal(
    weighted: WeightedCSR, transversal: WeightedTransversal, tolerance: float | None, workers: int
) -> bool:
    """Tell whether the duals prove a maximum matching of the graph optimal.

    And whether its objective and its factors are those of its pairs and duals. Time: O(n_rows +
    n_cols + nnz).
    """
    if transversal.job == "bottleneck":
        return _is_bottleneck(weighted, transversal)
    magnitude = weighted.magnitude
    pairs = matched_entries(weighted.graph, transversal.matching, workers)

    def slack(factor: float, u: FloatArray, v: FloatArray) -> tuple[float, float, float]:
        slack, sums = np.empty_like(magnitude), _dual_sums(weighted.graph, u, v)

        def write(begin: int, end: int) -> tuple[float, float]:
            piece = slack[begin:end]
            if transversal.job == "product":
                np.log(magnitude[begin:end], out=piece)
                piece *= factor
            else:
                np.multiply(magnitude[begin:end], factor, out=piece)
            largest = float(np.abs(piece).max(initial=0))
            np.subtract(piece, sums(begin, end), out=piece)
            return largest, float(piece.min(initial=0))

        costs, least = zip(*in_pieces(write, slack.size, workers), strict=True)
        return max(costs), min(least), float(slack[pairs].max(initial=0))

    return is_least_cost(weighted, transversal, magnitude[pairs], slack, tolerance)


def _is_bottleneck(weighted: WeightedCSR, transversal: WeightedTransversal) -> bool:
    """Tell whether vertices with duals cover all larger entries, and are fewer than the pairs."""
    u, v, magnitude = transversal.row_dual, transversal.col_dual, weighted.magnitude
    covered = _dual_sums(weighted.graph, u, v)(0, magnitude.size) >= 1
    matched = magnitude[matched_entries(weighted.graph, transversal.matching)]
    fewer = u.sum() + v.sum() < transversal.cardinality or transversal.cardinality == 0
    signs = u.min(initial=0) >= 0 and v.min(initial=0) >= 0
    larger = magnitude > transversal.objective
    exact = matched.min(initial=np.inf) == transversal.objective
    return bool(exact and fewer and signs and covered[larger].all())


def _dual_sums(
    graph: BipartiteCSR, row_dual: FloatArray, col_dual: FloatArray
) -> Callable[[int, int], FloatArray]:
    """Return a function of a range of entries: the sums of the duals of their rows and columns."""
    stored_rows, stored_cols = graph.orient(row_dual, col_dual)

    def sums(begin: int, end: int) -> FloatArray:
        first = max(int(np.searchsorted(graph.indptr, begin, side="right")) - 1, 0)
        last = int(np.searchsorted(graph.indptr, end, side="left"))
        starts = np.clip(graph.indptr[first : last + 1], begin, end)
        found: FloatArray = np.repeat(stored_rows[first:last], starts[1:] - starts[:-1])
        found += stored_cols[graph.indices[begin:end]]
        return found

    return sums
