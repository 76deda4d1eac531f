"""What is known of a graph, and of a matching of it, from the parts that ranks have.

What is for messages, and `symmetrize=True`, is done in host memory wherever the parts are.
"""

import math
from dataclasses import replace

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray, namespace
from sparsematch._engines import edges
from sparsematch._engines.distributed_operations import GraphPartOps
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error, exchange_of
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._engines.registry import Run, operations
from sparsematch._types.graph import GraphProperties
from sparsematch._types.over_ranks.graph_part import GraphPart
from sparsematch._types.over_ranks.matrix import DistributedCSR


def validate_graph(part: GraphPart, run: Run) -> GraphProperties:
    """Return the properties, found in one pass over the own entries. Collective."""
    with abort_on_error(part.layout.comm):
        exchange = exchange_of(part.layout.comm, part.indptr)
        own = exchange.allgather(_operations(part).part_properties(part, run))
        ascending, finite, balance = zip(*own, strict=True)
        return GraphProperties(all(ascending), all(finite), sum(balance) % 2**64)


def matched_weight(part: GraphPart, mate: IndexArray) -> float:
    """Return the sum of the magnitudes of the matched edges. Collective."""
    with abort_on_error(part.layout.comm):
        own = _operations(part).part_weight(part, mate)
        return math.fsum(exchange_of(part.layout.comm, mate).allgather(own))


def mates_by_column(A: DistributedCSR, mate: IndexArray) -> IndexArray:
    """Return the mates of the own columns, which other ranks may own as rows. Collective."""
    # Where ranks own the same rows and columns, the array given. Time: O(own rows + columns).
    if np.array_equal(A.row_starts, A.col_starts):
        return mate
    with abort_on_error(A.comm):
        xp = namespace(mate)
        rows = xp.arange(A.own_rows.start, A.own_rows.stop, dtype=mate.dtype)
        cols, mates = exchange_of(A.comm, mate).alltoallv(A.col_starts, rows, mate)
        by_column: IndexArray = xp.empty_like(mates)
        by_column[cols - A.first_col] = mates
        return by_column


def first_infinite(part: GraphPart) -> tuple[int, int, float]:
    """Return the first entry off the diagonal that is not finite, and its value. Collective."""
    with abort_on_error(part.layout.comm):
        return Exchange(part.layout.comm).first(edges.first_infinite(part))


def one_sided_entry(part: GraphPart) -> tuple[int, int] | None:
    """Return the first entry whose partner is absent or of other magnitude. Collective."""
    part = part.get()
    with abort_on_error(part.layout.comm):
        exchange = Exchange(part.layout.comm)
        return exchange.first(edges.first_difference(part, *_mirrored(part, exchange)))


def take_larger(part: GraphPart) -> GraphPart:
    """Return the graph whose edges weigh the larger of two entries, where it is. Collective."""
    here, to = part.get(), namespace(part.indptr).asarray
    with abort_on_error(here.layout.comm):
        larger = edges.merge_larger(here, *_mirrored(here, Exchange(here.layout.comm)))
    weight = None if larger.weight is None else to(larger.weight)
    indptr, indices = to(larger.indptr), to(larger.indices)
    return replace(part, indptr=indptr, indices=indices, weight=weight, nnz=larger.nnz)


def _mirrored(part: GraphPart, exchange: Exchange) -> tuple[IndexArray, FloatArray | None]:
    """Return place and magnitude of the entries whose transposed entry is in an own row."""
    starts = part.layout.row_starts
    side = Side(part.indptr.astype(np.int64), part.indices, (starts, starts), exchange)
    arrived = []
    for begin, end in side.slices():
        columns = [part.indices[begin:end], side.majors_of_entries(begin, end)]
        if part.weight is not None:
            columns.append(np.abs(part.weight[begin:end]))
        arrived.append(exchange.alltoallv(starts, *columns))
    rows, cols, *weight = (np.concatenate(column) for column in zip(*arrived, strict=True))
    code = (rows - part.first_row).astype(np.int64) * part.n + cols
    return code, weight[0] if weight else None


def _operations(part: GraphPart) -> GraphPartOps:
    """Return those of the memory of the part."""
    return operations(GraphPartOps, "numpy" if namespace(part.indptr) is np else "cupy")
