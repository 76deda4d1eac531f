"""Coarsening over ranks."""

from typing import Any

from sparsematch._api.arguments import check_flags
from sparsematch._api.over_ranks.check import read_own
from sparsematch._engines.distributed_operations import DistributedCoarseningOps
from sparsematch._engines.registry import operations
from sparsematch._types.coarsening import Coarsening, type_of_products
from sparsematch._types.mates import Mates
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def coarsen(G: DistributedCSR, matching: Any, join_unmatched: Any) -> Coarsening:
    """Return the coarse matrix and the prolongation. Collective."""
    with agreed(G, "coarsen", join_unmatched=join_unmatched):
        check_flags(join_unmatched=join_unmatched)
        if G.backend != "mpi":
            text = "G is on GPUs, but this is done in host memory only; G.get() copies it there"
            raise TypeError(text)
        if join_unmatched:
            raise ValueError("join_unmatched is True, but over ranks it must be False")
        if G.n_rows != G.n_cols:
            raise ValueError(f"G has shape {G.shape}, but the matrix of a graph must be square")
        if G.values is None:
            raise ValueError("G has no values, which are added up")
        values = G.values.astype(type_of_products(G.values.dtype, "G.values"), copy=False)
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
