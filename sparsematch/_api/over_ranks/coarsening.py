"""Coarsening over ranks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._api.arguments import check_flags
from sparsematch._api.over_ranks.check import read_own
from sparsematch._engines.distributed_operations import DistributedCoarseningOps
from sparsematch._engines.registry import operations
from sparsematch._types.coarsening import Coarsening
from sparsematch._types.mates import Mates
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def coarsen(G: DistributedCSR, matching: Any, join_unmatched: Any) -> Coarsening:
    """Return the coarse matrix and the prolongation. Collective."""
    with agreed(G, "coarsen", join_unmatched=join_unmatched):
        check_flags(join_unmatched=join_unmatched)
        if G.backend != "mpi":
            raise TypeError(
                "G is on GPUs, but this is done in host memory only; G.get() copies it there"
            )
        if join_unmatched:
            raise ValueError("join_unmatched is True, but over ranks it must be False")
        if G.n_rows != G.n_cols:
            raise ValueError(f"G has shape {G.shape}, but the matrix of a graph must be square")
        values = _added_up_in(G.values)
        given = matching.row_mate if isinstance(matching, Mates) else matching
        mate = read_own(given, ("row", G.own_rows), ("row", G.n_rows), G, "matching")
    G = DistributedCSR(G.comm, G.indptr, G.indices, G.first_row, G.shape, values)
    ops = operations(DistributedCoarseningOps, G.backend)
    if (v := ops.wrong_mate(G, mate)) >= 0:
        raise ValueError(
            f"matching is not one of a graph: the mate of vertex {v} is another one, whose mate is "
            f"not {v}; approximate_matching gives such mates"
        )
    return Coarsening(*ops.coarsen(G, mate))


def _added_up_in(values: NDArray[Any] | None) -> NDArray[Any]:
    """Return the values in the type of their sums."""
    if values is None:
        raise ValueError("G has no values, which are added up")
    if values.dtype.kind not in "biufc" or values.dtype.char in "egG":
        raise TypeError(
            "G.values must hold numbers in single or double precision or integers, not "
            f"{values.dtype}"
        )
    if values.dtype.kind in "fc":
        return values
    return values.astype(np.uint64 if values.dtype.kind == "u" else np.int64, copy=False)
