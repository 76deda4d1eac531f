"""Approximate matchings of general graphs over ranks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsematch._api.arguments import Rng, check_flags, read_seed
from sparsematch._api.runs import checked, matched
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import namespace
from sparsematch._base.compressed import INT32_MAX, check_values
from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.registry import Run, operations, read_options, select
from sparsematch._input.graph import read_weights
from sparsematch._types.mates import frozen
from sparsematch._types.over_ranks.graph_part import GraphPart
from sparsematch._types.over_ranks.matching import DistributedGraphMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def approximate_matching(
    G: DistributedCSR,
    method: str,
    flags: dict[str, Any],
    rng: Rng,
    workers: int | None,
    options: Mapping[str, Any] | None,
) -> DistributedGraphMatching:
    """Find a heavy matching of a graph. Collective."""
    with agreed(G, "approximate_matching", method=method, **flags):
        check_flags(**flags)
        graph = _part(G, bool(flags["weights"]))
        engine = select(method, G.backend, "approximate", also=("auto",))
        settings = read_options(options, engine)
        run = Run(resolve_workers(workers), read_seed(rng), settings, bool(flags["return_info"]))
    with agreed(G, "approximate_matching with a seed", **{"the seed drawn from rng": run.seed}):
        pass  # which makes the order of the edges
    mate, rest = matched(checked(graph, run, flags["symmetrize"]), engine, method, run)
    mate = mate.astype(G.dtype, copy=False)
    weight, guarantee, info = rest
    mates = mate, operations(DistributionOps, G.backend).mates_by_column(G, mate)
    found = {"weight": weight, "guarantee": guarantee, "info": info}
    return frozen(DistributedGraphMatching(*mates, G, info.cardinality, **found))


def _part(G: DistributedCSR, weights: bool) -> GraphPart:
    """View the own rows as those of a graph. No rank waits for another."""
    if G.n_rows != G.n_cols:
        raise ValueError(f"G has shape {G.shape}, but the matrix of a graph must be square")
    weight = None
    if weights:
        if G.values is None:
            raise ValueError(
                "G has no values, which are the weights: give it some, or weights=False, by which "
                "all edges weigh the same"
            )
        check_values(G.values, G.local_nnz, "G")
        weight = read_weights(G.values[: G.local_nnz])
    # the same type on all ranks, which send each other numbers
    dtype = G.dtype if G.largest_nnz <= INT32_MAX else np.dtype(np.int64)
    xp = namespace(G.indptr)
    indptr, indices = (xp.ascontiguousarray(a, dtype) for a in (G.indptr, G.indices))
    return GraphPart(G.n_rows, indptr, indices, weight, G.backend, G.local_nnz, G)
