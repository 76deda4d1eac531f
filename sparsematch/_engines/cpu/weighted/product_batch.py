"""Largest products or least costs of many matrices with one pattern, in one call."""

from dataclasses import replace

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, mates, worthwhile
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.transversal_batch import LeastCostBatch, TransversalBatch
from sparsematch._types.weighted import WeightedMatching, WeightedTransversal
from sparsematch._types.weighted_proof import warn_of_cut_factors

#: Steps towards central duals. 5, 10, 20, 40 of them: 42, 40, 38, 34 us for each of 2,000 matrices
#: of 300 rows whose values differ by a tenth.
_STEPS = 20
#: Beyond any slack of interest, in logarithms: where a row or a column has a single entry.
_FAR = 10.0
#: Passes over the pattern of a matrix whose searches, those beyond six, take longer than an auction
#: does: random ones of 300 rows take nine, and 160 us without, 100 us with it.
_LONG = 7.5


def write_products(
    graph: BipartiteCSR,
    values: FloatArray,
    order: IndexArray | None,
    batch: TransversalBatch | LeastCostBatch,
    begin: int,
    first: WeightedTransversal | WeightedMatching | None,
    auction_first: bool,
    workers: int,
) -> tuple[int, bool]:
    """Write the results of rows of values to the batch; return the first row that is refused.

    Or how many rows there are; and whether, of a single one, searches took long, so that an auction
    first is better for others. Entry p of the graph has value ``order[p]`` of a row, or p. `first`
    is what each of them begins with. Time: that of `least_cost` for each; workspace: three arrays
    of nnz for each worker.
    """
    rows = slice(begin, begin + len(values))
    costs = isinstance(batch, LeastCostBatch)
    scales_of: tuple[FloatArray | None, FloatArray | None] = None, None
    if isinstance(batch, TransversalBatch):
        scales_of = batch.row_scale, batch.col_scale
    sides = (
        (batch.row_mate[rows], batch.col_mate[rows]),
        (batch.row_dual[rows], batch.col_dual[rows]),
        tuple(np.empty((0, 0)) if side is None else side[rows] for side in scales_of),
    )
    written = (graph.orient(*(side.reshape(-1) for side in pair)) for pair in sides)
    start = np.empty(0, graph.dtype), np.empty(0)
    if first is not None:
        start = mates(graph, first.matching)[0], graph.orient(first.row_dual, first.col_dual)[1]
    in_range = np.ones(0 if scales_of[0] is None else len(values), bool)
    given = values.reshape(-1), np.empty(0, np.int64) if order is None else order
    numbers, flags = (batch.objective[rows], in_range), (graph.flipped, auction_first, costs)
    arrays = given, *written, numbers, start, flags
    done, passes = _core.product_batch(csr(graph), *arrays, worthwhile(workers, values.size))
    if done == len(values) and not in_range.all():
        warn_of_cut_factors()
    return done, passes > _LONG * len(values)


def central_duals(
    graph: BipartiteCSR, magnitude: FloatArray, transversal: WeightedTransversal
) -> WeightedTransversal:
    """Return a transversal of a square matrix with duals far from those that are not feasible.

    A dual of a pair's column may grow, and that of its row shrink, by the least reduced cost of
    another entry of the column; the other way by that of the row. Each step moves both half way to
    the middle, all pairs at once, which keeps every reduced cost positive. Time: some passes.
    """
    if not transversal.is_perfect or graph.n_rows < 2:
        return transversal
    mate, _ = mates(graph, transversal.matching)
    u, v = (dual.copy() for dual in graph.orient(transversal.row_dual, transversal.col_dual))
    majors = np.repeat(np.arange(u.size), np.diff(graph.indptr))
    other = (graph.indices[: graph.nnz] != mate[majors]) & (magnitude > 0)
    rows, cols, cost = majors[other], graph.indices[: graph.nnz][other], -np.log(magnitude[other])
    for _ in range(_STEPS):
        slack = np.maximum(cost - u[rows] - v[cols], 0)
        by_row, by_col = np.full(u.size, np.inf), np.full(v.size, np.inf)
        np.minimum.at(by_row, rows, slack)
        np.minimum.at(by_col, cols, slack)
        up, down = by_col[mate], by_row
        most = np.minimum(np.maximum(up, down), _FAR)
        move = (np.minimum(up, most) - np.minimum(down, most)) / 4
        v[mate] += move
        u -= move
    row_dual, col_dual = graph.orient(u, v)
    return replace(transversal, row_dual=row_dual, col_dual=col_dual)
