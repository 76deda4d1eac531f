"""Is a distributed matching valid, and maximal: every rank checks its own rows and columns.

Whether it is maximum, a forest without a path shows: `matching/cover.py`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR

_Array = NDArray[Any]
_Flaw = tuple[str, int, int]

#: Keys of FLAWS: a row, a column whose mate has another, a pair that is no entry.
_ROW, _COLUMN, _ENTRY = "col_disagrees", "row_disagrees", "no_entry"


def wrong_pair(A: DistributedCSR, given: DistributedMatching) -> _Flaw | None:
    """Return the flaw found on the first rank that has one; see `FLAWS`. Collective.

    Time: O(own vertices and entries).
    """
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        rows, cols = given.row_mate, given.col_mate
        # each is collective, so all run, whatever this rank finds
        flaws = [
            _one_sided(exchange, _ROW, (rows, A.first_row), (cols, A.first_col), A.col_starts),
            _one_sided(exchange, _COLUMN, (cols, A.first_col), (rows, A.first_row), A.row_starts),
            _not_an_entry(Side.of_rows(A, exchange), rows),
        ]
        flaw: _Flaw | None = exchange.first(next((flaw for flaw in flaws if flaw), None))
        return flaw


def free_pair(A: DistributedCSR, given: DistributedMatching) -> tuple[int, int] | None:
    """Return an entry whose row and column are both unmatched. Collective.

    Time: O(own entries of unmatched rows).
    """
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        side = Side.of_rows(A, exchange)
        groups = side.slices_of(np.flatnonzero(given.row_mate < 0))
        (n,) = exchange.allreduce(len(groups), op="MAX")
        pair = None
        for k in range(n):
            rows = groups[k] if k < len(groups) else np.empty(0, np.int64)
            entries, counts = side.entries_of(rows)
            cols = A.indices[entries]
            free = exchange.query(
                A.col_starts, cols, lambda keys: given.col_mate[keys - A.first_col] < 0
            )
            if pair is None and free.any():
                p = int(np.flatnonzero(free)[0])
                pair = int(np.repeat(rows, counts)[p]) + A.first_row, int(cols[p])
        found: tuple[int, int] | None = exchange.first(pair)
        return found


def _one_sided(
    exchange: Exchange,
    flaw: str,
    own: tuple[_Array, int],
    other: tuple[_Array, int],
    starts: _Array,
) -> _Flaw | None:
    """Return the first own vertex whose mate names another one. Collective."""
    (mate, first), (their_mate, their_first) = own, other
    here = np.flatnonzero(mate >= 0)
    named = exchange.query(starts, mate[here], lambda keys: their_mate[keys - their_first])
    wrong = np.flatnonzero(named != here + first)
    if not wrong.size:
        return None
    k = int(here[wrong[0]])
    pair = k + first, int(mate[k])
    return (flaw, *pair) if flaw == _ROW else (flaw, *pair[::-1])


def _not_an_entry(side: Side, row_mate: _Array) -> _Flaw | None:
    """Return the first own row that is matched to a column without an entry in it."""
    for rows in side.slices_of(np.flatnonzero(row_mate >= 0)):
        entries, counts = side.entries_of(rows)
        hits = side.indices[entries] == np.repeat(row_mate[rows], counts)
        found = np.bincount(np.repeat(np.arange(rows.size), counts)[hits], minlength=rows.size)
        if not found.all():
            i = int(rows[np.flatnonzero(found == 0)[0]])
            return _ENTRY, i + side.first_major, int(row_mate[i])
    return None
