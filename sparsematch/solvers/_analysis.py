"""What is found out about a matrix once, and then used for all matrices with the same pattern."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._api.decomposition import block_form
from sparsematch._api.weighted import maximum_product_transversal
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import BoolArray, IndexArray
from sparsematch._types.block_form import BlockForm, square_form
from sparsematch._types.errors import unknown_choice
from sparsematch._types.factors import BlockLU, BlockPlan, QuickAnalysis
from sparsematch._types.matching import Matching
from sparsematch.solvers._errors import structurally_singular
from sparsematch.solvers._lu import BlockTriangularLU
from sparsematch.solvers._external import Make, SuperLUFactor, find_solver
from sparsematch.solvers._pattern import Pattern, Survey, read_pattern

_PIVOTING = ("auto", "structure", "product")

#: Entries, as a share of those of the matrix, that the rows of poor pivots' large blocks may come
#: to before the values are asked for better pivots.
_POOR = 0.125


class Cut(NamedTuple):
    """A plan, where its blocks begin, its blocks outside by number, and what their solvers remember of them."""

    plan: BlockPlan
    starts: IndexArray
    blocks: dict[int, list[IndexArray]]
    memory: dict[int, dict[str, Any]]
    backend: str

    def new_numbers(self, values: NDArray[Any]) -> BlockLU:
        """Return room for a factorisation."""
        return operations(self.backend).block_lu(self.plan, values)


class Analysis:
    """The block form of a square matrix, orders within its blocks, and where each of its values goes.

    It depends on the pattern alone, and serves any number of factorisations: Newton steps, time
    steps, scenarios.

    Attributes
    ----------
    shape : tuple of int
        The shape of the matrix.
    form : BlockForm
        Its block triangular form. Where pivots bring far more fill than was foreseen, another
        transversal may come to the diagonals in the first factorisation.
    outside : list of int
        Blocks that are left to a solver from outside: large ones in which much fill is to be
        expected.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import analyse
    >>> A = csc_array([[4.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 3.0]])
    >>> analysis = analyse(A)
    >>> analysis
    Analysis(3x3, 2 blocks, the largest of 2 rows)
    >>> for _ in range(2):
    ...     x = analysis.factorise(A).solve(np.array([5.0, 3.0, 4.0]))
    ...     A.data *= 2
    >>> x.tolist()
    [0.5, 0.5, 0.5]
    """

    def __init__(
        self, pattern: Pattern, look: QuickAnalysis, make_outside: Make, may_exchange: bool
    ) -> None:
        self._pattern, self._make_outside, self._may_exchange = pattern, make_outside, may_exchange
        self._forced: BoolArray | None = None
        self._look = look
        self._form: BlockForm | None = None
        self._make_cut()

    @property
    def form(self) -> BlockForm:
        """The block triangular form."""
        if self._form is None:
            self._form = square_form(*self._look[:3])
        return self._form

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self._pattern.graph.shape

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self._cut.starts.size - 1

    @property
    def outside(self) -> list[int]:
        """Blocks that are left to a solver from outside."""
        return list(self._cut.blocks)

    def factorise(self, A: Any) -> BlockTriangularLU:
        """Factorise a matrix of this pattern. No matching and no block search is done.

        Parameters
        ----------
        A : sparse array or matrix, or ndarray of shape (nnz,)
            A matrix with the same entries in the same format, or just the values, in the order of
            ``A.data``.

        Returns
        -------
        BlockTriangularLU
            The factorisation.

        Raises
        ------
        TypeError
            If `A` is neither a sparse matrix nor an array of numbers.
        ValueError
            If its pattern is another one, or a value is not finite.
        SingularMatrixError
            If it is numerically singular.
        """
        return BlockTriangularLU(A, analysis=self)

    def __repr__(self) -> str:
        n, blocks = self.shape[0], "1 block" if self.n_blocks == 1 else f"{self.n_blocks} blocks"
        largest = int(np.diff(self._cut.starts).max(initial=0))
        return f"Analysis({n}x{n}, {blocks}, the largest of {largest} rows)"

    def _make_cut(self) -> None:
        plan: Any = self._look.plan
        blocks, memory = {}, {}
        for k in plan.outside:
            # which takes any order
            *blocks[k], foreseen = plan.block(k, self._make_outside is not SuperLUFactor)
            memory[k] = {"foreseen": foreseen} if foreseen else {}
        self._form = None
        self._cut = Cut(plan, self._look.row_blocks, blocks, memory, self._pattern.graph.backend)

    def _relieve(self, cut: Cut, k: int, values: NDArray[Any]) -> None:
        """Do something about a block whose pivots have brought more fill than was foreseen.

        Let the values choose the diagonal, once; after that, leave such a block to a solver from
        outside.
        """
        if cut is not self._cut:  # another thread has been here
            return
        if self._may_exchange:
            self._may_exchange = False
            self._look = _exchange(self._pattern, values, self._look)
        else:
            if self._forced is None:
                self._forced = np.zeros(self.n_blocks, bool)
            self._forced[k] = True
            graph = self._pattern.graph
            plan = operations(graph.backend).block_plan(graph, *self._look[:3], self._forced)
            self._look = self._look._replace(plan=plan)
        self._make_cut()


def analyse(
    A: Any, *, matching: Any = None, pivoting: str = "auto", solver: Any = "auto"
) -> Analysis:
    """Find the block triangular form of a square matrix, and prepare for factorising matrices with its pattern.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        In any format; CSC spares a conversion. Every stored entry counts, whatever its value.
    matching : Matching, (row_mate, col_mate) or row_mate, optional
        A matching to start from, or one to be kept: its entries are on the diagonals of the blocks.
    pivoting : {"auto", "structure", "product"}, optional
        What goes to the diagonal: entries found by the pattern alone, or, by the values of `A`,
        those with the largest product. The latter costs more and moves fewer pivots; ``"auto"``
        asks for it where those that would move could fill much: in blocks of more than 500 rows.
    solver : {"auto", "superlu", "umfpack", "pardiso", "klu"} or callable, optional
        Who factorises large blocks in which much fill is to be expected: by default SuperLU, which
        comes with SciPy. The others need a library of their own.

    Returns
    -------
    Analysis
        With ``factorise``, to be called for as many matrices of the same pattern as there are.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or an argument is of the wrong type.
    ValueError
        If `A` is not square, its index arrays are inconsistent, or an argument is none of the
        choices.
    SingularMatrixError
        If `A` is structurally singular; it carries the explanation.

    See Also
    --------
    BlockTriangularLU : Analysis and factorisation in one.

    Notes
    -----
    Davis, Palamadai Natarajan, Algorithm 907: KLU (ACM TOMS 37, 2010); within blocks, Amestoy,
    Davis, Duff, An approximate minimum degree ordering algorithm (SIAM J. Matrix Anal. Appl. 17,
    1996). Time: that of `block_triangular_form`, and nearly O(n + nnz) for the orderings.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import analyse
    >>> analyse(csc_array([[0.0, 1.0], [1.0, 1.0]]))
    Analysis(2x2, 2 blocks, the largest of 1 rows)
    """
    return prepare(A, matching, pivoting, solver)[0]


def prepare(A: Any, matching: Any, pivoting: str, solver: Any) -> tuple[Analysis, Survey]:
    """Return what `analyse` does, and the values of the matrix, looked at."""
    if not isinstance(pivoting, str) or pivoting not in _PIVOTING:
        raise unknown_choice("pivoting", pivoting, _PIVOTING)
    make_outside = find_solver(solver)
    pattern = read_pattern(A)
    graph = pattern.graph
    values = pattern.arrange(A.data) if A.format == pattern.layout else pattern.any_values(A)
    poor = _POOR if pivoting == "auto" else -1.0  # not even a good diagonal is good enough
    if matching is not None or pivoting == "structure":
        poor = math.inf
    quick_analysis = operations(graph.backend).quick_analysis
    look = quick_analysis(graph, values, None, poor) if matching is None else None
    if look is None:
        form = block_form(graph, matching)
        if form.structural_rank < graph.n_rows:
            raise structurally_singular(A)
        look = quick_analysis(graph, values, (form.row_perm, form.col_perm, form.row_blocks), poor)
    may_exchange = poor == _POOR and look.plan is not None and look.poor > 0
    if look.plan is None:
        look = _exchange(pattern, values, look)
    return Analysis(pattern, look, make_outside, may_exchange), Survey(
        values, look.largest, look.norm
    )


def _exchange(pattern: Pattern, values: NDArray[Any], look: QuickAnalysis) -> QuickAnalysis:
    """Put the transversal with the largest product on the diagonal, if there is one: the blocks stay what they are."""
    best, graph = _best_diagonal(pattern, values), pattern.graph
    cols = look.col_perm if best is None else best.row_mate[look.row_perm]
    forced = np.zeros(look.row_blocks.size - 1, bool)
    plan = operations(graph.backend).block_plan(graph, look.row_perm, cols, look.row_blocks, forced)
    return look._replace(col_perm=cols, plan=plan)


def _best_diagonal(pattern: Pattern, values: NDArray[Any]) -> Matching | None:
    """Return the transversal with the largest product, if there is one without zeros."""
    graph = pattern.graph
    modulus = np.abs(values)
    if modulus.size and modulus.min() > 0 and modulus.max() < math.inf:
        matching = operations(graph.backend).least_cost(graph, -np.log(modulus)).matching
    else:
        columns = sp.csc_array((values, graph.indices, graph.indptr), shape=graph.shape)
        matching = maximum_product_transversal(columns, scaling=False).matching
    return matching if matching.is_perfect else None
