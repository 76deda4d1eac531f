"""The factorisation of a matrix in block triangular form, and solving with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, onenormest

from sparsematch._engines.registry import operations
from sparsematch._types.errors import unknown_choice, wrong_type
from sparsematch._types.factors import OUTCOMES
from sparsematch.solvers._errors import numerically_singular
from sparsematch.solvers._external import OutsideFactor, Singular
from sparsematch.solvers._permutations import inverse

if TYPE_CHECKING:
    from sparsematch.solvers._analysis import Analysis
    from sparsematch.solvers._pattern import Survey

_SIDES = {"N": 0, "T": 1, "H": 2}


class BlockTriangularLU:
    """A sparse LU factorisation that factorises the diagonal blocks of the block triangular form only.

    Blocks of one entry are divided by; others are factorised column by column, with as little fill
    as a minimum degree order gives; large blocks in which much fill is to be expected go to
    SuperLU. The entries above the blocks are only multiplied with. What it offers is that of
    SciPy's ``SuperLU``, but for ``L`` and ``U``, which there are for each block only.

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
        What it is based on.
    shape : tuple of int
        The shape of the matrix.
    dtype : dtype
        float64 or complex128.
    nnz : int
        Entries of all that is kept: factors of the blocks, and what stands above them.

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
    Sci. Stat. Comput. 9, 1988). A pivot is taken from the diagonal if it is at least a hundredth of
    the largest in its column, rows scaled by their largest entry. Solving does not write to the
    object: several threads may share it.

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
        A: Any,
        *,
        analysis: Analysis | None = None,
        matching: Any = None,
        pivoting: str = "auto",
        solver: Any = "auto",
    ) -> None:
        survey = None
        if analysis is None:
            from sparsematch.solvers._analysis import prepare

            analysis, survey = prepare(A, matching, pivoting, solver)
        self.analysis = analysis
        self._numbers: Any = None
        self._cut: Any = analysis._cut
        self._outside: dict[int, OutsideFactor] = {}
        self.dtype = np.dtype(np.float64)
        pattern = analysis._pattern
        self._factorise(pattern.refuse_infinite(survey) if survey else pattern.values(A))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self.analysis.shape

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self.analysis.n_blocks

    @property
    def nnz(self) -> int:
        """Entries of all that is kept."""
        inside = self._numbers.entries + self._cut.plan.n_upper
        starts = self._cut.starts
        outside = sum(
            factor.nnz - int(starts[k + 1] - starts[k]) for k, factor in self._outside.items()
        )
        return inside + outside

    def refactorise(self, A: Any) -> None:
        """Take new values for the same pattern. No matching, no block search and no ordering is done.

        Pivots stay where they are unless one has become too small beside its column. Not while
        another thread solves.

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
        self._factorise(self.analysis._pattern.values(A))

    def _factorise(self, survey: Survey) -> None:
        analysis = self.analysis
        values, self._largest_a, self._norm = survey
        reuse = self._numbers is not None and self.dtype == values.dtype
        numbers, self._numbers = self._numbers if reuse else None, None
        self.dtype = values.dtype
        again = numbers is not None
        while True:
            if numbers is None:
                self._cut, self._outside = analysis._cut, {}
                numbers = self._cut.new_numbers(values)
            code, block = numbers.factorise(values, again)
            outcome = OUTCOMES[code]
            if outcome == "done":
                break
            if outcome == "singular":
                raise self._singular(values, block)
            if outcome == "overfull":
                analysis._relieve(self._cut, block, values)
                numbers = None
            again = False
        self._factorise_outside(values)
        self._numbers = numbers
        self._permutations: tuple[NDArray[Any], NDArray[Any]] | None = None

    def solve(self, b: Any, trans: str = "N") -> NDArray[Any]:
        """Solve a linear system.

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
        if not isinstance(trans, str) or trans not in _SIDES:
            raise unknown_choice("trans", trans, _SIDES)
        if self._numbers is None:
            raise RuntimeError("there is nothing to solve with: the last factorisation failed")
        b = np.asarray(b)
        if b.dtype.kind not in "biufc":
            raise wrong_type("b", b, f"an array of numbers, not of {b.dtype}")
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise ValueError(
                f"b has shape {b.shape}, but must have shape ({self.shape[0]},) or ({self.shape[0]}, k)"
            )
        gather, scatter = self._orders()[:: 1 if trans == "N" else -1]
        wanted = np.result_type(self.dtype, b.dtype, np.float64)
        x = np.ascontiguousarray(b[gather], wanted)
        columns = x[:, np.newaxis] if x.ndim == 1 else x
        if x.size:  # a real factorisation sees a complex right-hand side as two real ones
            self._solve_in_order(columns.view(self.dtype), trans)
        out = np.empty(b.shape, wanted)
        out[scatter] = x
        return out

    def matvec(self, b: Any) -> NDArray[Any]:
        """Apply the inverse: what makes this a preconditioner, as in ``gmres(A, b, M=lu)``."""
        return self.solve(b)

    def rmatvec(self, b: Any) -> NDArray[Any]:
        """Apply the inverse of the conjugate transpose."""
        return self.solve(b, "H")

    def matmat(self, b: Any) -> NDArray[Any]:
        """Apply the inverse to several columns."""
        return self.solve(b)

    def as_operator(self) -> LinearOperator:
        """Return the inverse as a SciPy LinearOperator."""
        return LinearOperator(
            self.shape,
            self.solve,
            rmatvec=self.rmatvec,
            matmat=self.solve,
            rmatmat=self.rmatvec,
            dtype=self.dtype,
        )

    def condition(self) -> float:
        """Estimate the condition number in the 1-norm, from below, usually within a factor of three.

        Higham, Tisseur, A block algorithm for matrix 1-norm estimation (SIAM J. Matrix Anal. Appl.
        21, 2000), in SciPy. Costs a few solves.
        """
        if self.shape[0] == 0:
            return 0.0
        if self.shape[0] < 5:  # too small for the estimate
            return self._norm * float(np.abs(self.solve(np.eye(self.shape[0]))).sum(axis=0).max())
        return self._norm * float(onenormest(self.as_operator()))

    @property
    def growth(self) -> float:
        """The largest entry of U over the largest of the matrix: much above 1, and digits were lost.

        NaN if a solver from outside does not tell.
        """
        if not self._largest_a:
            return 1.0
        largest = [
            self._numbers.largest_u,
            *(getattr(f, "largest_u", np.nan) for f in self._outside.values()),
        ]
        return float(np.max(largest)) / self._largest_a

    @property
    def row_perm(self) -> NDArray[Any]:
        """The order of the rows: ``A[row_perm][:, col_perm]`` has the pivots of the blocks along its diagonal."""
        return self._orders()[0]

    @property
    def col_perm(self) -> NDArray[Any]:
        """The order of the columns."""
        return self._orders()[1]

    @property
    def perm_r(self) -> NDArray[Any]:
        """The same as `row_perm` in SuperLU's convention, its inverse: where each row goes."""
        return inverse(self.row_perm, "row_perm")

    @property
    def perm_c(self) -> NDArray[Any]:
        """The same as `col_perm` in SuperLU's convention, its inverse: where each column goes."""
        return inverse(self.col_perm, "col_perm")

    def __repr__(self) -> str:
        if self._numbers is None:
            return "BlockTriangularLU(the last factorisation failed)"
        n, blocks = self.shape[0], "1 block" if self.n_blocks == 1 else f"{self.n_blocks} blocks"
        return f"BlockTriangularLU({n}x{n}, {blocks}, {self.nnz} entries)"

    def _orders(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the orders of rows and columns; whoever asks first keeps them for the others."""
        if (orders := self._permutations) is None:
            plan = self._cut.plan
            self._permutations = orders = plan.row_perm[self._numbers.row_of], plan.col_perm
        return orders

    def _factorise_outside(self, values: NDArray[Any]) -> None:
        make, take = self.analysis._make_outside, operations(self._cut.backend).take
        for k, (indptr, rows, places) in self._cut.blocks.items():
            inside = take(values, places)
            try:
                if k in self._outside:
                    self._outside[k].refactorise(inside)
                else:
                    self._outside[k] = make(indptr, rows, inside, self._cut.memory[k])
            except Singular:
                raise self._singular(values, k) from None

    def _singular(self, values: NDArray[Any], k: int) -> RuntimeError:
        from scipy.sparse import csc_array

        analysis = self.analysis
        graph, plan, starts = analysis._pattern.graph, self._cut.plan, self._cut.starts
        A = csc_array((values, graph.indices, graph.indptr), shape=graph.shape)
        block = slice(int(starts[k]), int(starts[k + 1]))
        return numerically_singular(A, plan.row_perm[block], plan.col_perm[block])

    def _solve_in_order(self, x: NDArray[Any], trans: str) -> None:
        """Solve in place, `x` in the order of the blocks: those inside and outside by turns."""
        solve, side, starts, end = (
            self._numbers.solve,
            _SIDES[trans],
            self._cut.starts,
            self.n_blocks,
        )
        if trans == "N":
            for k in sorted(self._outside, reverse=True):
                solve(x, k + 1, end, side)
                rows = slice(starts[k], starts[k + 1])
                x[rows] = self._outside[k].solve(x[rows], trans)
                end = k + 1
            solve(x, 0, end, side)
            return
        begin = 0
        for k in sorted(self._outside):
            solve(x, begin, k + 1, side)  # of block k, only what stands above it
            rows = slice(starts[k], starts[k + 1])
            x[rows] = self._outside[k].solve(x[rows], trans)
            begin = k + 1
        solve(x, begin, end, side)
