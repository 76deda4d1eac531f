"""The transversal with a large product of magnitudes, over ranks, with factors and a bound.

A heavy matching, extended to a maximum one, as in Azad, Buluc, Li, Wang, Langguth, A
distributed-memory algorithm for computing a heavy-weight perfect matching on bipartite graphs (SIAM
J. Sci. Comput. 42, 2020). It is that of an auction, where the paper has a greedy one: its prices
are duals, which give a bound, and the paper's cycles of four then gain next to nothing.
"""

import numpy as np

from sparsematch._base.arrays import FloatArray
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.host import is_small
from sparsematch._engines.mpi.weighted.auction import auction
from sparsematch._engines.mpi.weighted.duals import Duals, best_duals
from sparsematch._engines.mpi.weighted.gathered import on_one_rank
from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._engines.registry import Run, select
from sparsematch._types.over_ranks.matching import DistributedMatching, DistributedTransversal
from sparsematch._types.over_ranks.matrix import DistributedCSR
from sparsematch._types.weighted_proof import cut_factors, warn_of_cut_factors


def maximum_product(A: DistributedCSR, scaling: bool, run: Run) -> DistributedTransversal:
    """Return a transversal of a matrix whose values are positive. Collective.

    Time: that of an auction, a maximum matching, and some passes over the own entries.
    Workspace: a double for each own entry, beside that of the matching.
    """
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        if A.n_ranks == 1 or is_small(A):
            return _result(A, *on_one_rank(A, exchange, run), scaling)
        costs, matching = ScaledCosts(A, exchange), DistributedMatching.start(A)
        price = auction(costs, matching)
        settings = Run(run.workers, run.seed, warm=True)
        select("auto", "mpi", "exact").improve(A, matching, settings)
        matching.freeze(writeable=True)
        np.negative(price, out=price)
        duals = best_duals(costs, matching, price)
        rows = np.flatnonzero(matching.row_mate >= 0)
        places = costs.find(rows, matching.row_mate[rows])
        assert A.values is not None
        (objective,) = exchange.allreduce(float(np.log(A.values[places]).sum()))
        return _result(A, matching, duals, objective, scaling)


def _result(
    A: DistributedCSR, matching: DistributedMatching, duals: Duals, objective: float, scaling: bool
) -> DistributedTransversal:
    row_scale = col_scale = None
    if scaling:
        row_scale, col_scale = (_factors(dual) for dual in (duals.row_dual, duals.col_dual))
    return DistributedTransversal(
        matching, objective, -duals.bound, duals.row_dual, duals.col_dual, row_scale, col_scale
    ).freeze()


def _factors(dual: FloatArray) -> FloatArray:
    """Return the exponentials of duals."""
    with np.errstate(all="ignore"):
        scale: FloatArray = np.exp(dual)
    if cut_factors(scale):
        warn_of_cut_factors()
    return scale
