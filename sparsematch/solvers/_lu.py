"""The analysis of a matrix, and the factorisation in block triangular form that is based on it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import onenormest

from sparsematch._types.arrays import IndexArray
from sparsematch._types.block_form import BlockForm, square_form
from sparsematch._types.choices import Pivoting, Side, Solver
from sparsematch._types.errors import unknown_choice, wrong_type
from sparsematch._types.factors import SIDES
from sparsematch._types.lazy import lazy_attribute
from sparsematch._types.sparse_like import SparseLike
from sparsematch.solvers._external import MakeExternal
from sparsematch.solvers._factors import NO_STATE, BlockFactors
from sparsematch.solvers._operator import InverseOperator
from sparsematch.solvers._pattern import Survey
from sparsematch.solvers._permutations import inverse
from sparsematch.solvers._plan import FactorisationPlan, plan_factorisation
from sparsematch.solvers._refinement import Refinement


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """The block form of a square matrix, orders within its blocks, and where its values go.

    It serves any number of factorisations of matrices with this pattern: Newton steps, time steps,
    scenarios. It never changes, so threads may share it. Where pivots bring far more fill than was
    foreseen, the factorisation makes another analysis, its attribute ``analysis``: use that one to
    spare later factorisations the same detour.

    Attributes
    ----------
    shape : tuple of int
        The shape of the matrix.
    form : BlockForm
        Its block triangular form.
    outside : list of int
        Blocks that are left to an external solver: large ones in which much fill is to be expected.
    solvers : dict of int to str
        The solver that each of these is left to; the package's own factorises all others.

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

    _plan: FactorisationPlan

    @lazy_attribute
    def form(self) -> BlockForm:
        """The block triangular form."""
        return square_form(self._plan.row_perm, self._plan.col_perm, self._plan.starts)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self._plan.pattern.graph.shape

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self._plan.n_blocks

    @property
    def outside(self) -> list[int]:
        """Blocks that are left to an external solver."""
        return list(self._plan.external)

    @property
    def solvers(self) -> dict[int, str]:
        """The solver of each of these; the package's own factorises all others."""
        return self._plan.solvers

    def factorise(self, A: SparseLike | NDArray[Any]) -> "BlockTriangularLU":
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

    factorize = factorise

    def __copy__(self) -> "Analysis":
        return self  # it never changes

    def __deepcopy__(self, memo: Any) -> "Analysis":
        return self

    def __getstate__(self) -> Any:
        raise TypeError(f"an Analysis {NO_STATE}: send the matrix and call analyse there")

    def __repr__(self) -> str:
        largest = int(np.diff(self._plan.starts).max(initial=0))
        return f"Analysis({self._plan.describe()}, the largest of {largest} rows)"


class BlockTriangularLU(InverseOperator):
    """A sparse LU factorisation of the diagonal blocks of the block triangular form only.

    Blocks of one entry are divided by; others are factorised column by column, with as little fill
    as a minimum degree order gives; large blocks in which much fill is to be expected go to
    SuperLU. The entries above the blocks are only multiplied with. It offers what SciPy's
    ``SuperLU`` does, except ``L`` and ``U``, which exist for each block only.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        The matrix, of real or complex numbers. With `analysis`, an array of its values will do.
    analysis : Analysis, optional
        What `analyse` has found of a matrix with the same pattern.
    matching, pivoting, solver
        As those of `analyse`; without effect if `analysis` is given.

    Attributes
    ----------
    analysis : Analysis
        What it is based on: the one given, or a better one where blocks have filled up.
    shape : tuple of int
        The shape of the matrix.
    dtype : dtype
        float64 or complex128.
    nnz : int
        Entries stored: factors of the blocks, and what stands above them.

    Raises
    ------
    TypeError, ValueError, SingularMatrixError
        As `analyse` and ``Analysis.factorise`` do.

    See Also
    --------
    analyse, splu, spsolve

    Notes
    -----
    Gilbert, Peierls, Sparse partial pivoting in time proportional to arithmetic operations (SIAM J.
    Sci. Stat. Comput. 9, 1988). The pivot is the diagonal entry if that is at least a hundredth of
    the largest in its column, rows scaled by their largest. Several threads may solve at once.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import BlockTriangularLU
    >>> A = csc_array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [4.0, 0.0, 5.0]])
    >>> lu = BlockTriangularLU(A)
    >>> lu
    BlockTriangularLU(3x3, 2 blocks, 5 entries)
    >>> lu.solve(np.array([2.0, 4.0, 9.0]))
    array([1., 1., 1.])
    >>> lu.refactorise(2 * A)
    >>> lu.solve(np.array([2.0, 4.0, 9.0]))
    array([0.5, 0.5, 0.5])
    """

    def __init__(
        self,
        A: SparseLike | NDArray[Any],
        *,
        analysis: Analysis | None = None,
        matching: Any = None,
        pivoting: Pivoting = "auto",
        solver: Solver | MakeExternal = "auto",
    ) -> None:
        if analysis is None:
            plan, survey = plan_factorisation(A, matching, pivoting, solver)
            self.analysis: Analysis = Analysis(plan)
            plan.pattern.refuse_infinite(survey)
        else:
            plan, self.analysis = analysis._plan, analysis
            survey = plan.pattern.values(A)
        self.shape: tuple[int, int] = self.analysis.shape
        self._factors = BlockFactors(plan)
        self._refinement: Refinement | None = None
        self._factorise(survey)

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self.analysis.n_blocks

    def __getstate__(self) -> Any:
        raise TypeError(f"a BlockTriangularLU {NO_STATE}: send the matrix and call splu there")

    @property
    def nnz(self) -> int:
        """Entries stored: factors of the blocks, and what stands above them."""
        return self._factors.nnz

    def refactorise(self, A: SparseLike | NDArray[Any]) -> None:
        """Factorise new values for the same pattern, without matching, block search and ordering.

        Pivots stay where they are up to the first that has become too small beside its column; a
        block whose entries grow too much gets new ones. Not while another thread solves.

        Parameters
        ----------
        A : sparse array or matrix, or ndarray of shape (nnz,)
            As for ``Analysis.factorise``.

        Raises
        ------
        TypeError, ValueError, SingularMatrixError
            As ``Analysis.factorise`` does. After an error there is nothing to solve with until one
            succeeds.
        """
        self._factorise(self._factors.plan.pattern.values(A))

    refactorize = refactorise

    def _factorise(self, survey: Survey) -> None:
        values, self._largest_a, self._norm = survey
        self.dtype: np.dtype[Any] = values.dtype
        self._factors.factorise(values)
        if self._refinement is None or self._refinement.dtype != values.dtype:
            self._refinement = Refinement(self._factors.plan.pattern.graph, values)
        else:
            self._refinement.renew(values)
        if self._factors.plan is not self.analysis._plan:
            self.analysis = Analysis(self._factors.plan)

    def solve(self, b: ArrayLike, trans: Side = "N") -> NDArray[Any]:
        """Solve a linear system.

        The first solution for each `trans` after each factorisation is measured, and refined if its
        componentwise backward error is above 1e-14; so are all others if that one was, or where the
        factors have four times as many entries as the matrix or more: there, measuring costs
        little.

        Parameters
        ----------
        b : array_like, shape (n,) or (n, k)
            One right-hand side, or k of them as columns.
        trans : {"N", "T", "H"}, optional
            Solve with A, its transpose, or its conjugate transpose.

        Returns
        -------
        ndarray, shape of `b`
            The solution, of float64 or complex128.

        Raises
        ------
        TypeError
            If `b` does not hold numbers.
        ValueError
            If `b` is of another length, or `trans` is none of the choices.
        """
        if not isinstance(trans, str) or trans not in SIDES:
            raise unknown_choice("trans", trans, SIDES)
        b, n = np.asarray(b), self.shape[0]
        if b.dtype.kind not in "biufc":
            raise wrong_type("b", b, f"an array of numbers, not of {b.dtype}")
        if b.ndim not in (1, 2) or b.shape[0] != n:
            raise ValueError(f"b has shape {b.shape}, but must have shape ({n},) or ({n}, k)")
        wanted = np.result_type(self.dtype, b.dtype, np.float64)
        x = self._solve(b, wanted, trans)
        refinement = self._refinement
        if refinement is not None and trans in refinement.asked and x.size:
            return refinement.refine(
                x, b, trans, lambda r: self._solve(r, r.dtype, trans), self._factors.nnz
            )
        return x

    def _solve(self, b: NDArray[Any], wanted: Any, trans: str) -> NDArray[Any]:
        """Solve with the factors as they are; `wanted` is the type of the solution."""
        gather, scatter = self._factors.orders()[:: 1 if trans == "N" else -1]
        x = np.ascontiguousarray(b[gather], wanted)
        columns = x[:, np.newaxis] if x.ndim == 1 else x
        if x.size:  # a real factorisation sees a complex right-hand side as two real ones
            self._factors.solve(columns.view(self.dtype), trans)
        out = np.empty(b.shape, wanted)
        out[scatter] = x
        return out

    def condition(self) -> float:
        """Estimate the condition number in the 1-norm, from below, usually within a factor of 3.

        Higham, Tisseur, A block algorithm for matrix 1-norm estimation (SIAM J. Matrix Anal. Appl.
        21, 2000), in SciPy. Costs a few solves.
        """
        if (n := self.shape[0]) < 5:  # too small for the estimate
            return self._norm * float(np.abs(self.solve(np.eye(n))).sum(axis=0).max(initial=0))
        return self._norm * float(onenormest(self.as_operator()))

    @property
    def growth(self) -> float:
        """The largest entry of U over the largest of the matrix: digits are lost if it is large.

        NaN if an external solver does not report it.
        """
        return self._factors.largest_u / self._largest_a if self._largest_a else 1.0

    @property
    def row_perm(self) -> IndexArray:
        """The order of the rows: ``A[row_perm][:, col_perm]`` has the pivots on its diagonal."""
        return self._factors.orders()[0]

    @property
    def col_perm(self) -> IndexArray:
        """The order of the columns."""
        return self._factors.orders()[1]

    @property
    def perm_r(self) -> IndexArray:
        """The same as `row_perm` in SuperLU's convention, its inverse: where each row goes."""
        return inverse(self.row_perm, "row_perm")

    @property
    def perm_c(self) -> IndexArray:
        """The same as `col_perm` in SuperLU's convention, its inverse: where each column goes."""
        return inverse(self.col_perm, "col_perm")

    def __repr__(self) -> str:
        if self._factors.failed:
            return "BlockTriangularLU(the last factorisation failed)"
        return f"BlockTriangularLU({self.analysis._plan.describe()}, {self.nnz} entries)"
