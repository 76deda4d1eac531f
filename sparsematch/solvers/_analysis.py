"""What is found out about a matrix once, and then used for all matrices with the same pattern."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._api.decomposition import block_form
from sparsematch._api.weighted import maximum_product_transversal
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import IndexArray
from sparsematch._types.block_form import BlockForm
from sparsematch._types.errors import unknown_choice
from sparsematch._types.factors import BlockLU, BlockPlan
from sparsematch._types.matching import Matching
from sparsematch.solvers._errors import structurally_singular
from sparsematch.solvers._lu import BlockTriangularLU
from sparsematch.solvers._outside import Make, find_solver
from sparsematch.solvers._pattern import Pattern, read_pattern

_PIVOTING = ("auto", "structure", "product")

#: Share of pivots that may be poor before the values are asked for better ones.
_POOR = 0.02


class Cut(NamedTuple):
    """A plan, the form it is of, its blocks outside by number, and what their solvers remember of them."""

    plan: BlockPlan
    form: BlockForm
    blocks: dict[int, tuple[IndexArray, IndexArray, IndexArray]]
    memory: dict[int, dict[str, Any]]
    backend: str

    def new_numbers(self, values: NDArray[Any]) -> BlockLU:
        """Return room for a factorisation."""
        return operations(self.backend).block_lu(self.plan, values)


class Analysis:
    """The block form of a square matrix, orders within its blocks, and where each of its values goes.

    It depends on the pattern alone, and serves any number of factorisations: Newton steps, time steps, scenarios.

    Attributes
    ----------
    shape : tuple of int
        The shape of the matrix.
    form : BlockForm
        Its block triangular form. Where pivots bring far more fill than was foreseen, another transversal may come to
        the diagonals in the first factorisation.
    outside : list of int
        Blocks that are left to a solver from outside: large ones in which much fill is to be expected.

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

    def __init__(self, pattern: Pattern, form: BlockForm, make_outside: Make, may_exchange: bool) -> None:
        self._pattern, self._make_outside, self._may_exchange = pattern, make_outside, may_exchange
        self._forced = np.zeros(form.n_blocks, bool)
        self._make_cut(form)

    @property
    def form(self) -> BlockForm:
        """The block triangular form."""
        return self._cut.form

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self.form.shape

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self.form.n_blocks

    @property
    def outside(self) -> list[int]:
        """Blocks that are left to a solver from outside."""
        return list(self._cut.blocks)

    def factorise(self, A: Any) -> BlockTriangularLU:
        """Factorise a matrix of this pattern. No matching and no block search is done.

        Parameters
        ----------
        A : sparse array or matrix, or ndarray of shape (nnz,)
            A matrix with the same entries in the same format, or just the values, in the order of ``A.data``.

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
        largest = int(np.diff(self.form.row_blocks).max(initial=0))
        return f"Analysis({n}x{n}, {blocks}, the largest of {largest} rows)"

    def _make_cut(self, form: BlockForm) -> None:
        graph = self._pattern.graph
        plan = operations(graph.backend).block_plan(graph, form, self._forced)
        blocks = {k: plan.block(k) for k in plan.outside}
        self._cut = Cut(plan, form, blocks, {k: {} for k in blocks}, graph.backend)

    def _relieve(self, cut: Cut, k: int, values: NDArray[Any]) -> None:
        """Do something about a block whose pivots have brought more fill than was foreseen.

        Let the values choose the diagonal, once; after that, leave such a block to a solver from outside.
        """
        if cut is not self._cut:  # another thread has been here
            return
        best = _best_diagonal(self._pattern, values) if self._may_exchange else None
        self._may_exchange = False
        if best is None:
            self._forced[k] = True
            self._make_cut(cut.form)
        else:
            self._forced[:] = False
            self._make_cut(block_form(self._pattern.graph, best))


def analyse(A: Any, *, matching: Any = None, pivoting: str = "auto", solver: Any = "superlu") -> Analysis:
    """Find the block triangular form of a square matrix, and prepare for factorising matrices with its pattern.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        In any format; CSC spares a conversion. Every stored entry counts, whatever its value.
    matching : Matching, (row_mate, col_mate) or row_mate, optional
        A matching to start from, or one to be kept: its entries are on the diagonals of the blocks.
    pivoting : {"auto", "structure", "product"}, optional
        What goes to the diagonal: entries found by the pattern alone, or, by the values of `A`, those with the largest
        product. The latter costs more and moves fewer pivots; ``"auto"`` asks for it where many would move.
    solver : {"superlu", "umfpack", "pardiso", "klu"} or callable, optional
        Who factorises large blocks in which much fill is to be expected; all but the first need a library of their own.

    Returns
    -------
    Analysis
        With ``factorise``, to be called for as many matrices of the same pattern as there are.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix, or an argument is of the wrong type.
    ValueError
        If `A` is not square, its index arrays are inconsistent, or an argument is none of the choices.
    SingularMatrixError
        If `A` is structurally singular; it carries the explanation.

    See Also
    --------
    BlockTriangularLU : Analysis and factorisation in one.

    Notes
    -----
    Davis, Palamadai Natarajan, Algorithm 907: KLU (ACM TOMS 37, 2010); within blocks, Amestoy, Davis, Duff, An
    approximate minimum degree ordering algorithm (SIAM J. Matrix Anal. Appl. 17, 1996). Time: that of
    `block_triangular_form`, and nearly O(n + nnz) for the orderings.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import analyse
    >>> analyse(csc_array([[0.0, 1.0], [1.0, 1.0]]))
    Analysis(2x2, 2 blocks, the largest of 1 rows)
    """
    if not isinstance(pivoting, str) or pivoting not in _PIVOTING:
        raise unknown_choice("pivoting", pivoting, _PIVOTING)
    make_outside = find_solver(solver)
    pattern = read_pattern(A)
    form = block_form(pattern.graph, matching)
    if form.structural_rank < pattern.graph.n_rows:
        raise structurally_singular(A)
    may_exchange = matching is None and pivoting == "auto"
    if (may_exchange and _is_poor(pattern, form, A)) or (matching is None and pivoting == "product"):
        may_exchange = False
        best = _best_diagonal(pattern, pattern.any_values(A))
        if best is not None:
            form = block_form(pattern.graph, best)
    return Analysis(pattern, form, make_outside, may_exchange)


def _is_poor(pattern: Pattern, form: BlockForm, A: Any) -> bool:
    """Whether many of the pivots will hardly stay where the pattern has put them."""
    values, graph = pattern.any_values(A), pattern.graph
    if not math.isfinite(operations(graph.backend).survey(graph, values)[1]):
        return False
    return operations(graph.backend).poor_diagonal(graph, form, values) > _POOR * graph.n_rows


def _best_diagonal(pattern: Pattern, values: NDArray[Any]) -> Matching | None:
    """Return the transversal with the largest product, if there is one without zeros."""
    graph = pattern.graph
    columns = sp.csc_array((values, graph.indices, graph.indptr), shape=graph.shape)
    matching = maximum_product_transversal(columns, scaling=False).matching
    return matching if matching.is_perfect else None
