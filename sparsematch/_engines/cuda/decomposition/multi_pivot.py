"""What a pivot reaches and is reached from, by many searches where one is long: multi_pivot.cu."""

from typing import Any

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.alternating_bfs import COUNTS, SECOND, AlternatingSearch, reach
from sparsematch._engines.cuda.core.device import bit_set
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._engines.cuda.decomposition.square import Square

#: Rows drawn at random.
ROOTS = 1024

load = compile.declare("decomposition/multi_pivot", ROOTS=ROOTS)

#: Levels that the searches from the pivot alone may take.
PIVOT_LEVELS = 64


def reach_both_ways(square: Square, pivot: Any) -> tuple[Any, Any]:
    """Return the columns that the pivot or another row leads to, and the rows that lead there."""
    # They are bits; the pivot is an array of one row, int64. Bits outside what is in question are
    # set as well. Workspace: an index per row and column, twice that where the search is long.
    searches = _Searches(square)
    searches.kernels.launch("start_at", 1, pivot, square.matching.row_mate, searches.first_levels())
    if not int(searches.run(max_levels=PIVOT_LEVELS)[1]):
        return searches.seen
    del searches  # its memory serves the next
    return _from_many(square, pivot).seen


class _Searches:
    """Two searches in the square part, one along the rows, one along the columns."""

    def __init__(self, square: Square) -> None:
        graph = square.by_row
        xp = namespace(graph.indptr)
        self.kernels = load(graph.dtype)
        # the searches stay in what is in question: all else counts as seen
        self.seen = ~square.cols_in, ~square.rows_in
        self.queues = [xp.empty(n + ROOTS, graph.dtype) for n in graph.shape]
        self.count = xp.zeros(COUNTS, graph.dtype)
        self._square = square

    def first_levels(self) -> Struct:
        """Return what a kernel needs to begin the searches."""
        seen = {"ahead_cols": self.seen[0], "behind_rows": self.seen[1]}
        queues = {"rows": self.queues[0], "cols": self.queues[1]}
        counts = {"row_count": self.count, "col_count": self.count[SECOND:]}
        return self.kernels.struct("FirstLevels", **seen, **queues, **counts)

    def run(self, owners: Any = (None, None), *, max_levels: int = 0) -> Any:
        """Go on until nothing new is met, or for `max_levels`; return the flags of `reach`."""
        square, seen, queues = self._square, self.seen, self.queues
        rows, cols = square.matching.row_mate, square.matching.col_mate
        ahead = AlternatingSearch(square.by_row, cols, seen[0], queues[0], rows, owners[0])
        behind = AlternatingSearch(square.by_col, rows, seen[1], queues[1], cols, owners[1])
        limits: Any = {"max_levels": max_levels, "allowance": square.allowance}
        return reach(ahead, behind, self.count, **limits)


def _from_many(square: Square, pivot: Any) -> _Searches:
    """Find many rows of one component, the pivot's if it is a large one, and search from them."""
    graph, row_mate = square.by_row, square.matching.row_mate
    xp, dtype = namespace(graph.indptr), graph.dtype
    n, searches = dtype.type(graph.n_rows), _Searches(square)
    kernels, root = searches.kernels, xp.empty(ROOTS, dtype)
    owners = xp.empty(graph.n_cols, dtype), xp.empty(graph.n_rows, dtype)
    begin = root, searches.first_levels(), *owners
    kernels.launch("plant", ROOTS, n, pivot, row_mate, square.rows_in, *begin)
    searches.run(owners)
    arcs = bit_set(xp, ROOTS**2), bit_set(xp, ROOTS**2)
    met = square.rows_in, *searches.seen, *owners
    kernels.launch("meet", graph.n_rows, n, row_mate, *met, *arcs)
    del searches, owners, begin, met  # their memory serves the next
    together, searches = bit_set(xp, ROOTS), _Searches(square)
    kernels.launch("unite", 1, root, *arcs, together, threads=256)
    kernels.launch("start_from", ROOTS, root, together, row_mate, searches.first_levels())
    searches.run()
    return searches
