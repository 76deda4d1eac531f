"""The transversal with a large product of magnitudes, over ranks, with factors and a bound.

A heavy matching, extended to a maximum one, as in Azad, Buluc, Li, Wang, Langguth, A
distributed-memory algorithm for computing a heavy-weight perfect matching on bipartite graphs (SIAM
J. Sci. Comput. 42, 2020). It is that of an auction, where the paper has a greedy one: its prices
are duals, which give a bound, and the paper's cycles of four then gain next to nothing.
"""

import numpy as np

from sparsematch._base.arrays import FloatArray
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.host import is_small, local_pattern
from sparsematch._engines.mpi.weighted.auction import auction
from sparsematch._engines.mpi.weighted.duals import Duals, best_duals
from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import Run, match_alone, operations
from sparsematch._types.over_ranks.matching import DistributedMatching, DistributedTransversal
from sparsematch._types.over_ranks.matrix import DistributedCSR
from sparsematch._types.weighted import WeightedCSR
from sparsematch._types.weighted_proof import cut_factors, warn_of_cut_factors


def maximum_product(A: DistributedCSR, scaling: bool, run: Run) -> DistributedTransversal:
    """Return a transversal of a matrix whose values are positive. Collective."""
    # By an auction, a maximum matching, and some passes over the own entries.
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        if A.n_ranks == 1 or is_small(A):
            return _result(*_on_one_rank(A, exchange, run), scaling)
        with run.step("auction"):
            costs, matching = ScaledCosts(A, exchange), DistributedMatching.start(A)
            price = auction(costs, matching)
        run.include(match_alone(A, matching, run, detailed=run.detailed, warm=True))
        matching.freeze(writeable=True)
        duals = run.timed("duals", best_duals, costs, matching, -price)
        rows = np.flatnonzero(matching.row_mate >= 0)
        places = costs.find(rows, matching.row_mate[rows])
        assert A.values is not None
        (objective,) = exchange.allreduce(float(np.log(A.values[places]).sum()))
        return _result(matching, duals, objective, scaling)


def _on_one_rank(
    A: DistributedCSR, exchange: Exchange, run: Run
) -> tuple[DistributedMatching, Duals, float]:
    """Return the best transversal, by rank 0, duals, and its objective. Collective."""
    assert A.values is not None
    degrees = exchange.gatherv(np.diff(A.indptr))
    indices, magnitude = exchange.gatherv(A.indices), exchange.gatherv(A.values)
    whole: list[np.ndarray] | list[None] = [None] * 4
    objective, before = 0.0, len(run.steps)
    if degrees is not None and indices is not None and magnitude is not None:
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        graph, largest = local_pattern(indptr, indices, A.shape), float(magnitude.max(initial=0))
        product = operations(WeightedOps, "numpy").maximum_product
        best = product(WeightedCSR(graph, magnitude, largest), False, False, run)
        whole = [best.matching.row_mate, best.matching.col_mate, best.row_dual, best.col_dual]
        objective = best.objective
    row_mate = exchange.scatterv(A.row_starts, whole[0], A.dtype)
    col_mate = exchange.scatterv(A.col_starts, whole[1], A.dtype)
    row_dual = exchange.scatterv(A.row_starts, whole[2], np.float64)
    col_dual = exchange.scatterv(A.col_starts, whole[3], np.float64)
    # the account, too, is that of rank 0
    objective, run.steps[before:] = exchange.allgather((objective, run.steps[before:]))[0]
    matching = DistributedMatching(row_mate, col_mate, A).freeze()
    # the engine has proved that it is optimal
    return matching, Duals(row_dual, col_dual, -objective), objective


def _result(
    matching: DistributedMatching, duals: Duals, objective: float, scaling: bool
) -> DistributedTransversal:
    both = duals.row_dual, duals.col_dual
    scales = map(_factors, both) if scaling else ()
    return DistributedTransversal(matching, objective, -duals.bound, *both, *scales).freeze()


def _factors(dual: FloatArray) -> FloatArray:
    """Return the exponentials of duals."""
    with np.errstate(all="ignore"):
        scale: FloatArray = np.exp(dual)
    if cut_factors(scale):
        warn_of_cut_factors()
    return scale
