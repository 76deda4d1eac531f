"""Is a distributed matching valid, and maximal: every rank checks its own rows and columns.

In host memory or on GPUs. Whether a matching is maximum, a forest without a path shows.
"""

from sparsematch._base.arrays import Array
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error, exchange_of
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._types.matching import FLAWS
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

_Flaw = tuple[str, int, int]
_ROW, _COLUMN, _ENTRY = FLAWS


def wrong_pair(A: DistributedCSR, given: DistributedMatching) -> _Flaw | None:
    """Return the flaw found on the first rank that has one; see `FLAWS`. Collective."""
    with abort_on_error(A.comm):
        exchange = exchange_of(A.comm, A.indptr)
        rows, cols = given.row_mate, given.col_mate
        # each is collective, so all run, whatever this rank finds
        flaws = [
            _one_sided(exchange, _ROW, (rows, A.first_row), cols, A.col_starts),
            _one_sided(exchange, _COLUMN, (cols, A.first_col), rows, A.row_starts),
            _not_an_entry(Side.of_rows(A, exchange), rows),
        ]
        return exchange.first(next((flaw for flaw in flaws if flaw), None))


def free_pair(A: DistributedCSR, given: DistributedMatching) -> tuple[int, int] | None:
    """Return an entry whose row and column are both unmatched. Collective."""
    with abort_on_error(A.comm):
        exchange, pair = exchange_of(A.comm, A.indptr), None
        side, free_rows = Side.of_rows(A, exchange), given.row_mate < 0
        for begin, end in side.slices(0 if not free_rows.nonzero()[0].size else None):
            rows = side.majors_of_entries(begin, end)
            of_free = free_rows[rows - A.first_row]
            rows, cols = rows[of_free], A.indices[begin:end][of_free]
            free = exchange.lookup(A.col_starts, cols, given.col_mate < 0).nonzero()[0]
            if pair is None and free.size:
                p = int(free[0])
                pair = int(rows[p]), int(cols[p])
        return exchange.first(pair)


def _one_sided(
    exchange: Exchange, flaw: str, own: tuple[Array, int], their_mate: Array, starts: Array
) -> _Flaw | None:
    """Return the first own vertex whose mate names another one. Collective."""
    mate, first = own
    here = exchange.xp.flatnonzero(mate >= 0)
    wrong = here[exchange.lookup(starts, mate[here], their_mate) != here + first]
    if not wrong.size:
        return None
    k = int(wrong[0])
    pair = k + first, int(mate[k])
    return (flaw, *pair) if flaw == _ROW else (flaw, *pair[::-1])


def _not_an_entry(side: Side, row_mate: Array) -> _Flaw | None:
    """Return the first own row that is matched to a column without an entry in it."""
    missing, step = row_mate >= 0, side.slice_size
    for begin in range(0, side.indices.size, step):
        part = side.indices[begin : begin + step]
        rows = side.majors_of_entries(begin, begin + part.size) - side.first_major
        missing[rows[part == row_mate[rows]]] = False
    left = missing.nonzero()[0]
    if not left.size:
        return None
    i = int(left[0])
    return _ENTRY, i + side.first_major, int(row_mate[i])
