"""What a pivot reaches and is reached from, by searches from many rows at once where one takes long. See regions.cu."""

from typing import TYPE_CHECKING, Any

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.alternating_bfs import Search, bits, reach
from sparsematch._types.arrays import namespace

if TYPE_CHECKING:
    from sparsematch._engines.cuda.decomposition.strong_components import Square

_ROOTS = 1024  # as in regions.cu
#: Levels that the searches from the pivot alone may take.
_PATIENCE = 64


def reach_both_ways(square: "Square", pivot: Any) -> tuple[Any, Any]:
    """Return the columns that the pivot or another row leads to, and the rows that lead there, as bits.

    The pivot is an array of one row, int64. Bits outside what is in question are set as well.
    Workspace: an index per row and column, twice that where the search is long.
    """
    state = _State(square)
    state.kernels.launch("start_at", 1, pivot, square.matching.row_mate, *state.first_level())
    if int(state.search(max_levels=_PATIENCE)[1]):
        state = _from_many(square, pivot)
    return state.seen


class _State:
    """Two searches in the square part, one along the rows, one along the columns."""

    def __init__(self, square: "Square") -> None:
        graph = square.by_row
        xp = namespace(graph.indptr)
        self.kernels = compile.load("decomposition/multi_pivot", graph.dtype)
        self.seen = ~square.cols_in, ~square.rows_in
        self.queues = (
            xp.empty(graph.n_rows + _ROOTS, graph.dtype),
            xp.empty(graph.n_cols + _ROOTS, graph.dtype),
        )
        self.count = xp.zeros(12, graph.dtype)
        self._square = square

    def first_level(self) -> tuple[Any, ...]:
        """Return what a kernel needs to begin the searches."""
        return *self.seen, *self.queues, self.count

    def search(self, owners: Any = (None, None), *, max_levels: int = 0) -> Any:
        """Go on until nothing new is met, or for so many levels; return the flags of `reach`."""
        square, mates = self._square, self._square.matching
        along_rows = Search(
            square.by_row, mates.col_mate, self.seen[0], self.queues[0], mates.row_mate, owners[0]
        )
        along_cols = Search(
            square.by_col, mates.row_mate, self.seen[1], self.queues[1], mates.col_mate, owners[1]
        )
        return reach(along_rows, along_cols, self.count, max_levels=max_levels)


def _from_many(square: "Square", pivot: Any) -> _State:
    """Find many rows of one component, the pivot's if it is a large one, and search from all of them."""
    graph, row_mate = square.by_row, square.matching.row_mate
    xp, dtype = namespace(graph.indptr), graph.dtype
    n, state = dtype.type(graph.n_rows), _State(square)
    kernels, root = state.kernels, xp.empty(_ROOTS, dtype)
    owners = xp.empty(graph.n_cols, dtype), xp.empty(graph.n_rows, dtype)
    begin = *state.seen, *owners, *state.queues, state.count
    kernels.launch("plant", _ROOTS, n, pivot, row_mate, square.rows_in, root, *begin)
    state.search(owners)
    facts = bits(xp, _ROOTS**2), bits(xp, _ROOTS**2)
    kernels.launch("meet", graph.n_rows, n, row_mate, square.rows_in, *state.seen, *owners, *facts)
    together, state = bits(xp, _ROOTS), _State(square)
    kernels.launch("unite", 1, root, *facts, together, threads=256)
    kernels.launch("start_from", _ROOTS, root, together, row_mate, *state.first_level())
    state.search()
    return state
