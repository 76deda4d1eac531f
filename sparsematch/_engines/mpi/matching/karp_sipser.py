"""Karp-Sipser over ranks: vertices with one free neighbour are matched to it, else random rows.

Karp, Sipser, Maximum matching in sparse random graphs (FOCS 1981), in rounds over ranks as in Azad,
Buluc, Distributed-memory algorithms for maximal cardinality matching using matrix algebra (IEEE
Cluster 2015). Between exchanges the compiled kernel of a rank (`over_ranks/karp_sipser.hpp` of the
back-end for host memory) matches vertices of residual degree one whose neighbour it owns; degree
updates and proposals to other ranks are messages. When no rank has such a vertex, each picks some
rows. It needs the lists of both sides, that is, the transpose. Proposals (cheap.py) make the
matching maximal where all columns that a picked row has tried were matched.

Invariant: the owner of a vertex alone decides which proposal is accepted.
"""

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.mpi.core.sides import Before, Side, SideByProducts
from sparsematch._engines.mpi.core.steps import Account, step
from sparsematch._engines.mpi.matching.cheap import propose
from sparsematch._engines.mpi.matching.ms_bfs import count_free, from_columns
from sparsematch._engines.rank_operations import on_rank
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

SUMMARY = "Rows and columns with one free neighbour first, then some at random, over all ranks."


def improve(A: DistributedCSR, matching: DistributedMatching, run: Run, before: Before) -> Before:
    """Make the matching maximal. Collective."""
    # Reads: the matrix. Writes: both mates. Workspace: the transpose, two numbers per own vertex.
    # Time: O(nnz / ranks), and an exchange for each link of a chain that leads to another rank.
    with step("karp_sipser", A, matching.row_mate, run) as (exchange, account):
        side = Side.of_rows(A, exchange)
        rows, found = _match(side, matching, run, before, account)
        propose(side, (matching.row_mate, matching.col_mate), run.seed, account, rows)
    return found


def _match(
    side: Side, matching: DistributedMatching, run: Run, before: Before, account: Account
) -> tuple[IndexArray, Before]:
    """Run the kernel; return the free rows that still have free columns."""
    other = side.transposed(run, before)
    # degree, and exclusive or of the free neighbours, of each vertex
    left = [np.empty(2 * mate.size, side.dtype) for mate in (matching.row_mate, matching.col_mate)]
    majors = (side.indptr, side.indices), matching.row_mate, left[0]
    minors = (other.indptr, other.indices), matching.col_mate, left[1]
    limits = side.slice_size, run.seed
    kernel = on_rank().karp_sipser_over_ranks(majors, minors, *side.owners, *limits)
    account.levels += side.exchange.run_until_quiescent(kernel)
    account.edges += kernel.edges()
    free = count_free(side.exchange, matching.row_mate, matching.col_mate)
    rows = np.flatnonzero((matching.row_mate < 0) & (left[0][::2] > 0))
    return rows, SideByProducts(other=other) if from_columns(*free) else None
