"""The transversal with a large product of magnitudes, over ranks, with factors and a bound.

Azad, Buluc, Li, Wang, Langguth, A distributed-memory algorithm for computing a heavy-weight perfect
matching on bipartite graphs (SIAM J. Sci. Comput. 42, 2020): first a matching of large entries, then
a maximum one that begins with it, then cycles of four that make it heavier. What is large is told
by the scaling of Knight, Ruiz, Ucar, A symmetry preserving algorithm for matrix scaling (SIAM J.
Matrix Anal. Appl. 35, 2014), in the maximum norm.
"""

import warnings
from typing import Any

import numpy as np

from sparsematch._engines.mpi.core.exchange import Exchange, finishing
from sparsematch._engines.mpi.matching.gathered import is_small
from sparsematch._engines.mpi.weighted.duals import Duals, best_duals
from sparsematch._engines.mpi.weighted.gathered import on_one_rank
from sparsematch._engines.mpi.weighted.interchange import Interchange
from sparsematch._engines.mpi.weighted.scaled_costs import ScaledCosts
from sparsematch._engines.registry import Run, select
from sparsematch._types.arrays import FloatArray
from sparsematch._types.distributed import DistributedCSR
from sparsematch._types.distributed_matching import DistributedMatching
from sparsematch._types.distributed_transversal import DistributedTransversal
from sparsematch._types.errors import stack_level

#: Entries within this factor of the largest, once scaled, are matched first.
_LARGE = 2.0
_LARGEST, _SMALLEST = np.finfo(np.float64).max, np.finfo(np.float64).tiny


def maximum_product(A: DistributedCSR, scaling: bool, run: Run) -> DistributedTransversal:
    """Return a transversal; the values of the matrix are positive, its lists ascend. Collective.

    Time: that of two maximum matchings and of at most a hundred passes over the own entries.
    Workspace: an index and a double for each own entry, beside that of the matchings.
    """
    with finishing(A.comm):
        exchange = Exchange(A.comm)
        if A.n_ranks == 1 or is_small(A):
            return _result(A, *on_one_rank(A, exchange, run), scaling)
        costs = ScaledCosts(A, exchange)
        matching = _maximum(A, costs, run)
        pairs = Interchange(costs, matching)
        pairs.run()
        rows = np.flatnonzero(matching.row_mate >= 0)
        duals = best_duals(costs, pairs, matching.cardinality)
        places = costs.find(rows, matching.row_mate[rows])
        assert A.values is not None
        (objective,) = exchange.sum(float(np.log(A.values[places]).sum()))
        return _result(A, matching, duals, objective, scaling)


def _maximum(A: DistributedCSR, costs: ScaledCosts, run: Run) -> DistributedMatching:
    """Return a maximum matching that begins with large entries. Collective."""
    match = select("auto", "mpi", "exact", argument="method").improve
    keep = costs.cost <= np.log(_LARGE)
    before = np.concatenate([[0], np.cumsum(keep, dtype=np.int64)])
    large = DistributedCSR(A.comm, before[A.indptr], A.indices[keep], A.first_row, A.shape)
    del keep, before
    start = DistributedMatching.start(large)
    match(large, start, Run(run.workers, run.seed))
    matching = DistributedMatching(A, start.row_mate, start.col_mate, 0)
    del large, start
    match(A, matching, Run(run.workers, run.seed, warm=True))
    return matching.freeze(writeable=True)


def _result(
    A: DistributedCSR,
    matching: DistributedMatching,
    duals: Duals,
    objective: float,
    scaling: bool,
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
        scale: Any = np.exp(dual)
    if scale.size and not (scale.min() >= _SMALLEST and scale.max() <= _LARGEST):
        text = (
            "factors beyond the range of doubles are cut off; row_dual and col_dual hold their "
            "logarithms"
        )
        warnings.warn(text, RuntimeWarning, stacklevel=stack_level())
        scale = np.clip(scale, _SMALLEST, _LARGEST)
    return scale
