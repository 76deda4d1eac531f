"""The block triangular form over ranks: coarse parts, strong components, permutation, labels.

Pothen, Fan, Computing the block triangular form of a sparse matrix (ACM TOMS 16, 1990): the fine
blocks of the square part are the strong components of its graph of pairs.
"""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import BoolArray, IndexArray
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error
from sparsematch._engines.mpi.decomposition.coarse_parts import coarse_parts
from sparsematch._engines.mpi.decomposition.pair_graph import pair_graph
from sparsematch._engines.mpi.decomposition.strong_components import Order, strong_components
from sparsematch._engines.registry import Run
from sparsematch._types.labels import HORIZONTAL, SQUARE, VERTICAL, CoarseParts
from sparsematch._types.over_ranks.block_form import DistributedBlockForm
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR


def block_form(A: DistributedCSR, given: DistributedMatching, run: Run) -> DistributedBlockForm:
    """Return the block form of a matrix; the matching must be maximum. Collective."""
    coarse = run.timed("coarse parts", coarse_parts, A, given)
    with abort_on_error(A.comm):
        exchange = Exchange(A.comm)
        in_square = coarse.row_part == SQUARE
        mate = np.where(coarse.col_part == SQUARE, given.col_mate, A.dtype.type(-1))
        with run.step("strong components"):
            # the graph has no name here, so that it can be freed there
            order = strong_components(pair_graph(A, in_square, mate, exchange), in_square, run.seed)
        with run.step("block permutation"):
            blocks = _numbered(order, in_square, exchange, A.dtype)
            return _assembled(given, coarse, blocks, exchange)


class _Blocks(NamedTuple):
    """Fine blocks of the square part: labels of own rows, sizes of own blocks, first, number."""

    place: IndexArray  #: That of each own row.
    block: IndexArray
    sizes: IndexArray
    first: int
    n: int


def _numbered(order: Order, in_square: BoolArray, exchange: Exchange, dtype: Any) -> _Blocks:
    """Give numbers to the blocks, by their first places. Collective."""
    places, rank = order.places, exchange.rank
    rows = np.flatnonzero(in_square)
    first_rows = rows[order.place[rows] == order.start[rows]]
    (arrived,) = exchange.alltoallv(places.starts, order.place[first_rows])
    begins = np.zeros(places.n_own, bool)
    begins[arrived - places.first] = True
    starts = exchange.starts_of(np.count_nonzero(begins))
    first, n = int(starts[rank]), int(starts[-1])
    number = (np.cumsum(begins) - 1 + first).astype(dtype)
    block = np.full(in_square.size, -1, dtype)
    block[rows] = places.query(order.start[rows], number)
    own = np.flatnonzero(begins) + places.first
    # the last own block ends where the first one of a later rank begins
    ends = exchange.allgather_numbers([own[0] if own.size else -1])[rank + 1 :, 0]
    end = next((int(place) for place in ends if place >= 0), int(places.starts[-1]))
    return _Blocks(order.place, block, np.diff(own, append=end).astype(dtype), first, n)


def _assembled(
    matching: DistributedMatching, coarse: CoarseParts, square: _Blocks, exchange: Exchange
) -> DistributedBlockForm:
    """Put the horizontal part in front of the square part, the vertical part behind. Collective."""
    dtype, sizes = matching.layout.dtype, coarse.sizes
    (h_rows, h_cols), (n_square, _), (v_rows, v_cols) = sizes
    has_horizontal, has_vertical = int(h_cols > 0), int(v_rows > 0)
    n_blocks = has_horizontal + square.n + has_vertical
    row_place = square.place + dtype.type(h_rows)
    row_block = square.block + dtype.type(has_horizontal)
    groups = (
        (coarse.row_part == HORIZONTAL, 0),
        ((coarse.row_part == VERTICAL) & (matching.row_mate >= 0), h_rows + n_square),
        (matching.row_mate < 0, h_rows + n_square + v_cols),
    )
    _number_groups(row_place, groups, exchange)
    row_block[groups[0][0]] = 0
    row_block[coarse.row_part == VERTICAL] = n_blocks - 1
    col_place, col_block = (np.zeros(matching.col_mate.size, dtype) for _ in range(2))
    matched = matching.col_mate >= 0
    row_starts, mates = matching.layout.row_starts, matching.col_mate[matched]
    col_place[matched] = exchange.lookup(row_starts, mates, row_place) + dtype.type(h_cols - h_rows)
    col_block[matched] = exchange.lookup(row_starts, mates, row_block)
    # unmatched columns come first, the others as their mates
    _number_groups(col_place, ((~matched, 0),), exchange)
    own_sizes = np.stack([square.sizes, square.sizes], axis=1)
    first = square.first + has_horizontal
    if has_horizontal and exchange.rank == 0:
        own_sizes, first = np.concatenate([np.array([sizes[0]], dtype), own_sizes]), 0
    if has_vertical and exchange.rank == exchange.size - 1:
        own_sizes = np.concatenate([own_sizes, np.array([sizes[2]], dtype)])
    own = row_place, col_place, row_block, col_block, own_sizes
    return DistributedBlockForm(*own, first, n_blocks, sizes, matching).freeze()


def _number_groups(place: IndexArray, groups: Any, exchange: Exchange) -> None:
    """Write the places of the vertices of groups, each from a place on, by rank. Collective."""
    counts = exchange.allgather_numbers([np.count_nonzero(flags) for flags, _ in groups])
    before = counts[: exchange.rank].sum(axis=0).tolist()
    for (flags, begin), earlier, n in zip(groups, before, counts[exchange.rank], strict=True):
        place[flags] = begin + earlier + np.arange(n)
