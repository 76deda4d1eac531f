"""How a matrix is to be factorised: what the core has found out, and what takes which block."""

import atexit
import functools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import Array, IndexArray, IndexPair
from sparsematch._base.errors import check_choice
from sparsematch._base.lazy import lazy_attribute
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._input.foreign import from_other_library
from sparsematch._input.names import BothNames, read_both_names
from sparsematch._input.pattern import Pattern
from sparsematch._systems.checks import PIVOTING
from sparsematch._systems.errors import NamedSystem, structurally_singular
from sparsematch._systems.external import Choice
from sparsematch._systems.named_solvers import Chooser, find_solver, installed
from sparsematch._systems.pattern import LAYOUTS, convert, pattern_of
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import BlockAnalysis, BlockLU, Found
from sparsematch._types.view import without_view

#: Which entries of a block may be its diagonal, by the name of a way of pivoting: `Diagonal` of
#: cost.hpp; those of the matching, of the largest product, or any of both.
DIAGONALS = {"structure": {"diagonal": 0}, "product": {"diagonal": 2}, "auto": {"diagonal": 3}}


class ExternalBlock(NamedTuple):
    """A diagonal block by columns, left to an external solver."""

    #: Its pattern.
    indptr: IndexArray
    rows: IndexArray
    places: IndexArray  #: Where its values are among those of the matrix.
    memory: dict[str, Any]  #: What its solvers have learnt about the pattern; they write to it.
    choice: Choice  #: What factorises it.


@dataclass(eq=False)
class FactorisationPlan:
    """What all factorisations of matrices with one pattern have in common. It never changes."""

    blocks: BlockAnalysis  #: What the core has found.
    chooser: Chooser
    names: BothNames  #: What the user calls the rows and columns.
    converted: Pattern | None  #: How values get into the order of the columns, if not as they are.
    shape: tuple[int, int]  #: That of the matrix.

    @lazy_attribute
    def pattern(self) -> Pattern:
        """The entries of the matrix as the user stores them."""
        return self.converted or pattern_of(self.blocks)

    @lazy_attribute
    def starts(self) -> IndexArray:
        """Where the diagonal blocks begin."""
        return self.blocks.starts

    @lazy_attribute
    def external(self) -> dict[int, ExternalBlock]:
        """Blocks that are left to external solvers."""
        blocks, chosen = self.blocks, self.blocks.chosen
        choices = {k: self.chooser.choose(chosen[k][2]) for k in blocks.outside}
        return {k: ExternalBlock(*blocks.block(k, True), {}, by) for k, by in choices.items()}

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self.starts.size - 1

    def block(self, k: int) -> IndexPair:
        """Return the rows and columns of the user's matrix in block k."""
        inside = slice(*self.starts[k : k + 2].tolist())
        return self.blocks.row_perm[inside], self.blocks.col_perm[inside]

    @property
    def solvers(self) -> dict[int, str]:
        """The external solver of each block that is left to one."""
        return {k: block.choice.name for k, block in self.external.items()}

    def describe(self) -> str:
        """Return the size, the number of blocks, and the solver of the external ones."""
        n, blocks = self.blocks.n, self.n_blocks
        text = f"{n}x{n}, " + ("1 block" if blocks == 1 else f"{blocks} blocks")
        if solvers := Counter(self.solvers.values()):
            text += f" ({', '.join(f'{count} by {name}' for name, count in solvers.items())})"
        return text

    def matrix(self, values: Array) -> Any:
        """Return the columns with these values; nobody may change them."""
        indptr, rows = self.blocks.columns
        return csc_array((values, rows, indptr), shape=self.shape)

    def system(self, values: Array) -> NamedSystem:
        """Return the same, to be explained."""
        return NamedSystem(self.matrix(values), *self.names)


#: What a matrix begins with, beside what the core makes of it: what a plan has.
Beginning = tuple[Chooser, BothNames, Pattern | None, tuple[int, int]]


def begin(
    A: Any,
    matching: Any = None,
    pivoting: Any = "auto",
    solver: Any = "auto",
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    drops_zeros: bool = False,
    pivots: tuple[float | None, float] = (None, 0.0),
    order: Any = "blocks",
    workers: int | None = None,
) -> tuple[BlockLU, Found, Beginning]:
    """Analyse a matrix as `analyse` does; factorise it if `pivots`, as of factors, are wanted."""
    # Calls without * or **, elements singly: other Python operations cost 1 us in empty caches.
    searches, count, begun, converted = matching is None, resolve_workers(workers), None, None
    find: Any = _remembered_settings
    also: Any = ()
    available = installed()
    if (layout := LAYOUTS.get(type(A))) is None:
        A, dropped = without_view(A)
        A, drops_zeros = from_other_library(A), drops_zeros or dropped
        layout = LAYOUTS.get(type(A))
    are_names = type(solver) is type(pivoting) is type(order) is str
    if not (are_names and solver == "auto" and order == "blocks"):
        find, also = _settings, _as_one_block(order, solver, getattr(A, "shape", (0,))[-1])
    factorise, chooser, wishes = find(solver, pivoting, searches, count, pivots, available, also)
    if layout and len(shape := A.shape) == 2 and (n := shape[0]) == shape[1]:
        begun = factorise(A.indptr, A.indices, A.data, n, layout == "csr", drops_zeros, wishes)
    if begun is None:
        converted, values = convert(A)
        graph = converted.graph
        arrays = graph.indptr, graph.indices, values, graph.n_rows
        begun, shape = factorise(*arrays, False, drops_zeros, wishes), graph.shape
        assert begun is not None
    numbers, found = begun
    names: BothNames = (None, None)
    if row_names is not None or col_names is not None:
        names = read_both_names(row_names, col_names, A.shape)
    beginning = chooser, names, converted, shape
    if found and found[0] == "unmatched":
        found = _match(FactorisationPlan(numbers.analysis, *beginning), numbers, matching)
    if available:  # one that turns out to be broken leaves its blocks to what is faster without it
        for k in (blocks := numbers.analysis).outside:
            chooser.choose(blocks.chosen[k][2])
        if available != installed():
            return begin(A, matching, pivoting, solver, *names, drops_zeros, pivots, order, workers)
    return numbers, found, beginning


def _settings(
    solver: Any, pivoting: str, searches: bool, workers: int, pivots: Any, available: Any, also: Any
) -> tuple[Callable[..., Any], Chooser, Any]:
    """Return what factorises, what chooses external solvers, and all else as the core reads it."""
    check_choice("pivoting", pivoting, PIVOTING)
    chooser, lu = find_solver(solver), operations(LuOps, "numpy")
    policy = chooser.policy | DIAGONALS[pivoting if searches else "structure"] | dict(also)
    return lu.factorise, chooser, lu.wishes(policy | {"workers": workers}, searches, *pivots)


#: What is installed is one of the arguments, as one that turns out to be broken is left out.
_remembered_settings = functools.cache(_settings)
atexit.register(_remembered_settings.cache_clear)  # before nanobind looks for what is left


def _as_one_block(order: Any, solver: Any, n: int) -> dict[str, Any]:
    """Return the policy that leaves out the block form; the order of the columns may be given."""
    if isinstance(order, str) and order == "blocks":
        return {}
    if solver != "auto":
        raise ValueError('only solver="auto" factorises a matrix as one block, or in a given order')
    if isinstance(order, str):
        check_choice("order", order, ("blocks", "whole"))
        return {"whole": True}
    columns = np.asarray(order)
    if columns.dtype.kind not in "iu" or not np.array_equal(np.sort(columns, None), np.arange(n)):
        raise ValueError(f'order must be "blocks", "whole", or have each of {n} columns once')
    return {"whole": True, "order": columns.tolist()}


def _match(plan: FactorisationPlan, numbers: BlockLU, matching: Any) -> Found:
    """Go on by a general search for a matching; SingularMatrixError if there is no perfect one."""
    from sparsematch._api.transversal import maximum_matching  # needed where the core gives up

    graph = BipartiteCSR(*plan.shape, *plan.blocks.columns, "numpy", True)
    maximum = maximum_matching(graph, matching, name="matching")[0]
    del graph  # a copy, which is not to lie beside the factors
    if not maximum.is_perfect:
        raise structurally_singular(plan.system(numbers.values), maximum.cardinality)
    return numbers.match(maximum.row_mate)
