"""Is a matching over GPUs valid, maximal, maximum: each rank checks its own rows and columns."""

from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.mpi.core.exchange import abort_on_error
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.core.layout import SendBuffers, owners
from sparsematch._engines.nccl.matching.cheap import TRIES
from sparsematch._engines.nccl.matching.forest import Forest
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.labels import VertexCover
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

#: Keys of FLAWS: a row, a column whose mate has another mate; a pair that is no entry.
_ROW, _COLUMN, _ENTRY = "col_disagrees", "row_disagrees", "no_entry"


def wrong_pair(A: DistributedCSR, given: DistributedMatching) -> tuple[str, int, int] | None:
    """Return the flaw found on the first rank that has one; see `FLAWS`. Collective.

    Time: O(own vertices and entries). Workspace: two indices for each own vertex of a side.
    """
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm, namespace(A.indptr))
        kernels = compile.load("matching/over_ranks/certificates", A.dtype)
        rows, cols = (owners(kernels, A, what) for what in ("rows", "cols"))
        row_side, col_side = (rows, given.row_mate), (cols, given.col_mate)
        # each is collective, so all run, whatever this rank finds
        found = [
            (_ROW, _one_sided(exchange, kernels, row_side, col_side)),
            (_COLUMN, _one_sided(exchange, kernels, col_side, row_side)),
            (_ENTRY, _not_an_entry(A, kernels, rows, given.row_mate)),
        ]
        flaws = [_flaw(kind, *place) for kind, place in found if place[0]]
        first: tuple[str, int, int] | None = exchange.first(flaws[0] if flaws else None)
        return first


def free_pair(A: DistributedCSR, given: DistributedMatching) -> tuple[int, int] | None:
    """Return an entry whose row and column are both unmatched. Collective.

    Time: O(own entries of unmatched rows). Workspace: a bit for each column.
    """
    with abort_on_error(A.comm):
        xp = namespace(A.indptr)
        exchange, matched = Exchange(A.comm, xp), bit_set(xp, A.n_cols)
        starts = compile.load("matching/over_ranks/proposals", A.dtype, TRIES=TRIES)
        cols = owners(starts, A, "cols")
        starts.launch("mark", len(A.own_cols), cols, given.col_mate, matched)
        exchange.allreduce_array(matched, "SUM")
        kernels, found = compile.load("matching/over_ranks/certificates", A.dtype), _nothing(xp)
        arrays = owners(kernels, A, "rows"), given.row_mate, matched, found
        kernels.launch("free_pair", 32 * len(A.own_rows), A.indptr, A.indices, *arrays)
        here, row, col = found.tolist()
        first: tuple[int, int] | None = exchange.first((row, col) if here else None)
        return first


def vertex_cover(A: DistributedCSR, given: DistributedMatching) -> VertexCover | None:
    """Return the own part of Koenig's cover, or None on all ranks if there is a path. Collective.

    Rows not reached by alternating paths from free rows, and columns reached. Time: O(own vertices
    and entries), and two exchanges a level.
    """
    with abort_on_error(A.comm):
        xp = namespace(A.indptr)
        forest = Forest(A, given.row_mate, given.col_mate, Exchange(A.comm, xp))
        if forest.plant() and forest.grow():
            return None
        rows, cols = given.row_mate >= 0, xp.empty(len(A.own_cols), bool)
        forest.cover(rows, cols)
        places = xp.flatnonzero(rows) + A.first_row, xp.flatnonzero(cols) + A.first_col
        return VertexCover(*(side.astype(A.dtype) for side in places))


def _nothing(xp: Any) -> Any:
    """Return where a kernel writes a flag, and the two vertices found."""
    return xp.zeros(3, np.int64)


def _flaw(kind: str, _: int, first: int, second: int) -> tuple[str, int, int]:
    return (kind, second, first) if kind == _COLUMN else (kind, first, second)


def _one_sided(
    exchange: Exchange, kernels: Any, own: tuple[Any, IndexArray], other: tuple[Any, IndexArray]
) -> list[int]:
    """Return whether an own vertex has a mate that names another one, and both. Collective."""
    (owned, mate), (others, their_mate) = own, other
    xp, size = namespace(mate), exchange.size
    found, counts = _nothing(xp), xp.zeros(size, np.int64)
    buffers = SendBuffers(exchange, counts, 2, mate.size, mate.dtype)
    arguments = owned, mate, others, their_mate, buffers.struct(kernels), found
    kernels.launch("check_mates", mate.size, *arguments)
    arrived, n = buffers.alltoallv(exchange.allgather_numbers(counts.tolist()))
    kernels.launch("check_arrived", int(n), arrived, n, others, their_mate, found)
    here: list[int] = found.tolist()
    return here


def _not_an_entry(A: DistributedCSR, kernels: Any, rows: Any, row_mate: IndexArray) -> list[int]:
    """Return whether an own row is matched to a column without an entry in it, and both."""
    found = _nothing(namespace(row_mate))
    arrays = A.indptr, A.indices, rows, row_mate, found
    kernels.launch("find_entries", 32 * row_mate.size, *arrays)
    here: list[int] = found.tolist()
    return here
