"""A matrix in block triangular form: its analysis, its factorisation, and checked solutions.

An analysis serves any number of factorisations, and each factorisation has the analysis that suits
its values: another than it was given where these brought far more fill than was predicted, or where
they came so often that to look for a better order pays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sparsematch._base.arrays import Array, FloatArray, IndexArray, inverse
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import check_choice, warn, wrong_type
from sparsematch._base.lazy import lazy_attribute
from sparsematch._base.tolerances import SINGULAR, UNSTABLE
from sparsematch._systems.batch import finish, read_batch, solve_over_workers
from sparsematch._systems.condition import inverse_norm
from sparsematch._systems.errors import IllConditionedWarning, name_block
from sparsematch._systems.factors import NEAR, NO_STATE, BlockFactors, Solutions
from sparsematch._systems.like_scipy import Singular
from sparsematch._systems.operator import InverseOperator
from sparsematch._systems.plan import FactorisationPlan
from sparsematch._systems.whole_matrix import WholeMatrix
from sparsematch._types.choices import Side
from sparsematch._types.factorisation_report import FactorisationReport
from sparsematch._types.factors import SIDES
from sparsematch._types.sparse_like import SparseLike

if TYPE_CHECKING:
    from sparsematch._types.block_form import BlockForm


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """The block form of a square matrix, orders within its blocks, and where its values go.

    It serves any number of factorisations of matrices with this pattern: Newton steps, time steps,
    scenarios. It never changes, so threads may share it. Where pivots bring far more fill than was
    predicted, the factorisation makes another analysis, its attribute ``analysis``: use that one to
    spare later factorisations the same detour.

    Attributes
    ----------
    shape : tuple of int
        The shape of the matrix.
    form : BlockForm
        Its block triangular form.
    outside : list of int
        Blocks that are left to an external solver.
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
    def form(self) -> "BlockForm":
        """The block triangular form."""
        from sparsematch._types.block_form import square_form  # which a solution does not need

        return square_form(*self._plan.blocks.form)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self._plan.shape

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

    def factorise(self, A: SparseLike | Array) -> "BlockTriangularLU":
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
        TypeError, ValueError
            If `A` is no matrix of numbers, its pattern is another one, or a value is not finite.
        SingularMatrixError
            If it is numerically singular.
        """
        factors = BlockFactors(self._plan)
        factors.factorise(A)
        return BlockTriangularLU._of(factors, self)

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
    as a minimum degree order gives, or, where much fill is to be expected, by dense fronts. The
    entries above the blocks are only multiplied with. It offers what SciPy's
    ``SuperLU`` does; ``L`` and ``U`` where the matrix is one block, as by ``order="whole"``.

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

    See Also
    --------
    splu, analyse : What makes one.

    Notes
    -----
    Gilbert, Peierls, Sparse partial pivoting in time proportional to arithmetic operations (SIAM J.
    Sci. Stat. Comput. 9, 1988). The pivot is the diagonal entry if that is at least a hundredth of
    the largest in its column, rows scaled by their largest, or 1e-5 while there is more fill than
    was predicted; otherwise that of the row first in order with a tenth of the largest. A row much
    fuller than the others is the last choice. Several threads may solve at once.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import splu
    >>> A = csc_array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [4.0, 0.0, 5.0]])
    >>> lu = splu(A)
    >>> lu
    BlockTriangularLU(3x3, 2 blocks, 5 entries)
    >>> lu.solve(np.array([2.0, 4.0, 9.0]))
    array([1., 1., 1.])
    >>> lu.refactorise(2 * A)
    >>> lu.solve(np.array([2.0, 4.0, 9.0]))
    array([0.5, 0.5, 0.5])
    """

    _factors: BlockFactors
    _analysis: Analysis | None
    _rcond: FloatArray | None = None
    _whole: WholeMatrix | None = None
    _is_doubtful = False  # whether the condition of the whole may be worse than that of blocks
    _coupled = 0.0  # the reciprocal of that, when it was asked for last, with about these pivots
    _n_refactorised = 0  # calls, by which `PatternSolver` knows that somebody else called

    def __init__(self) -> None:
        raise TypeError("call splu, or analyse and Analysis.factorise, to make a BlockTriangularLU")

    @classmethod
    def _of(cls, factors: BlockFactors, analysis: Analysis | None = None) -> "BlockTriangularLU":
        lu = cls.__new__(cls)
        lu._factors, lu._analysis, lu.shape = factors, analysis, factors.shape
        if factors.ill_conditioned:
            lu._warn_of_ill_conditioned()
        return lu

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """float64 or complex128."""
        return self._factors.dtype

    @property
    def analysis(self) -> Analysis:
        """What it is based on: the one given, or a better one where blocks have filled up."""
        plan = self._factors.plan
        if self._analysis is None or plan is not self._analysis._plan:
            self._analysis = Analysis(plan)
        return self._analysis

    @property
    def n_blocks(self) -> int:
        """Number of diagonal blocks."""
        return self._factors.plan.n_blocks

    def __getstate__(self) -> Any:
        raise TypeError(f"a BlockTriangularLU {NO_STATE}: send the matrix and call splu there")

    @property
    def nnz(self) -> int:
        """Entries stored: factors of the blocks, and what stands above them."""
        return self._factors.nnz

    def refactorise(self, A: SparseLike | Array) -> None:
        """Factorise new values for the same pattern, without matching and block search.

        Pivots stay where they are up to the first that has become too small beside its column; a
        block whose entries grow too much gets new ones. Where a better order is predicted to pay by
        the number of calls, blocks are ordered again. Not while another thread solves.

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
        self._rcond = self._whole = None
        self._n_refactorised += 1
        try:
            self._factors.factorise(A)
            self._warn_of_ill_conditioned()
        except BaseException:  # KeyboardInterrupt, and warnings that are errors, as well
            self._factors.discard()
            raise

    def _warn_of_ill_conditioned(self) -> None:
        estimates = self._factors.ill_conditioned.values()
        self._coupled = 0.0 if None in estimates else self._coupled
        self._is_doubtful = bool(estimates) and self._coupled < NEAR * SINGULAR
        for k, rcond in self._factors.singular_blocks():
            block = name_block(self._factors.plan.block(k), self._factors.plan.names)
            self._warn_singular(f"{block} has", rcond)

    def _warn_of_coupling(self, x: Array, trans: Side) -> None:
        """Ask once for the condition of the whole: what couples blocks may multiply theirs."""
        self._is_doubtful = False
        if np.isfinite(x).all():
            self._coupled = self._factors.rcond_for(x, trans)
            if self._coupled < SINGULAR:
                self._warn_singular("for this right-hand side the matrix has", self._coupled)

    def _warn_singular(self, what: str, rcond: float) -> None:
        self._is_doubtful = False
        text = f"singular to working precision: {what} a reciprocal condition of {rcond:.0e}"
        why = "explain_singularity(A, numeric=True) says what depends on what"
        warn(IllConditionedWarning, f"{text}; {why}")

    def solve(self, b: ArrayLike, trans: Side = "N", *, check: bool = True) -> Array:
        """Solve a linear system.

        A solution is measured, and refined where its componentwise backward error is above 1e-13,
        or its normwise one above 1e-15. Where one remains above 1e-12, the blocks are factorised
        again with partial pivoting, or the whole matrix is, once, and the system is solved with
        that. A row whose terms are tiny beside its norm and that of the solution is measured by
        those after one step (Arioli, Demmel, Duff 1989).

        Parameters
        ----------
        b : array_like, shape (n,) or (n, k)
            One right-hand side, or k of them as columns. Where one is not finite, nor is its
            solution.
        trans : {"N", "T", "H"}, optional
            Solve with A, its transpose, or its conjugate transpose.
        check : bool, optional
            Whether solutions are measured. Without, what comes out is returned as it is, in half
            the time of one that is measured: no refinement, no other pivots and no warning where
            pivots kept by `refactorise`, or growth, have cost digits.

        Returns
        -------
        ndarray, shape of `b`
            The solution, of float64 or complex128.

        Warns
        -----
        IllConditionedWarning
            If a backward error remains above 1e-12, or a solution is not finite: it may be beyond
            the range of doubles. Of the first solution, where a pivot is small, also if its
            reciprocal condition (Skeel 1979) is below 1.1e-14: it may have no digit that is right.

        Raises
        ------
        TypeError
            If `b` does not hold numbers, or `check` is not True or False.
        ValueError
            If `b` is of another length, or `trans` is none of the choices.
        RuntimeError
            If the last factorisation has failed.
        """
        if check is not True and check is not False:
            raise wrong_type("check", check, "True or False")
        if trans not in SIDES:
            check_choice("trans", trans, SIDES)
        factors, b = self._factors, b if type(b) is np.ndarray else np.asarray(b)
        x = b.copy()
        if error := factors.solve_copied(b, x, trans, check):
            if error == -1:
                x, error = factors.solve(b, trans, check)
            if not error <= UNSTABLE:
                return self._solve_poor(factors, b, trans)
        if self._is_doubtful and check and x.size:
            self._warn_of_coupling(x.reshape(x.shape[0], -1)[:, 0], trans)
        return x

    @documented
    def solve_batch(
        self,
        values: ArrayLike,
        b: ArrayLike,
        trans: Side = "N",
        *,
        singular: Singular = "raise",
        workers: int | None = None,
    ) -> Array:
        """Factorise many matrices with this pattern, and solve a system with each, in one call.

        Parameters
        ----------
        {batch}
        workers : int, optional
            Number of threads, which share the items; -1 for all cores, by default that of
            `set_workers`, which is 1.

        Returns
        -------
        ndarray, shape (k, n)
            The solutions, each measured and refined as by `solve`, with its warnings.

        {raises_of_batches}

        See Also
        --------
        DeviceLU.solve_batch : The same on a GPU.

        Notes
        -----
        This factorisation stays as it is. A worker goes on as `refactorise` does, so how items are
        shared may change last digits. Of some thousand entries Python factorises one at a time.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.sparse import csc_array
        >>> from sparsematch.solvers import splu
        >>> A = csc_array([[4.0, 1.0], [0.0, 2.0]])
        >>> values = np.outer([1.0, 2.0, 4.0], A.data)
        >>> splu(A).solve_batch(values, np.array([5.0, 2.0])).tolist()
        [[1.0, 1.0], [0.5, 0.5], [0.25, 0.25]]
        """
        values, b, n = np.asarray(values), np.asarray(b), self.shape[0]
        sizes = self._factors.plan.pattern.arrays[-1].size, n
        right, kind = read_batch(np, values, b, sizes, trans, singular)
        found = solve_over_workers(self.analysis, values, right, trans, kind, workers)
        return finish(*found, singular)

    def _solve_poor(self, factors: BlockFactors, right: Array, trans: Side) -> Array:
        """Solve by partial pivoting where refinement did not suffice; warn of what remains."""
        b = right[:, np.newaxis] if right.ndim == 1 else right
        b = b.astype(np.result_type(self.dtype, b.dtype), order="C")
        x, errors = factors.solve_each(b, trans)
        finite = np.isfinite(b).all(axis=0)
        if (errors[finite] <= UNSTABLE).all():
            return x.reshape(right.shape)  # what is not finite has no error to reduce
        adopted = np.zeros(errors.size, bool)
        for other, errors_of_other in self._other_solutions(factors, b, trans):
            poor = ~(errors <= UNSTABLE) & finite
            better = poor & ~(errors_of_other >= errors) & np.isfinite(other).all(axis=0)
            x[:, better], errors[better] = other[:, better], errors_of_other[better]
            adopted |= better
            if (errors[finite] <= UNSTABLE).all():
                break
        if self._whole is not None and adopted.any():  # whose errors were normwise
            rowwise = self._whole.rowwise_errors(x[:, adopted], b[:, adopted], trans)
            errors[adopted] = np.maximum(errors[adopted], rowwise)
        if (poor := ~(errors <= UNSTABLE) & finite).any():
            worst = np.max(errors[poor])
            what = f"a backward error of {worst:.0e}" if worst < np.inf else "no finite solution"
            text = f"solved with {what} after refinement and partial pivoting"
            why = "is too ill-conditioned (see rcond), or the solution beyond the range of doubles"
            warn(IllConditionedWarning, f"{text}: the matrix {why}")
        return x.reshape(right.shape)

    def _other_solutions(self, factors: BlockFactors, b: Array, trans: str) -> Iterator[Solutions]:
        """Solve by larger pivots in the blocks, from now on, then without blocks and scaling."""
        strict: BlockFactors | None = self._factors  # another thread's, perhaps, who goes on so
        if strict is factors:
            strict = factors.with_stricter_pivoting()
        while strict:
            self._factors = strict
            yield strict.solve_each(b, trans)
            strict = strict.with_stricter_pivoting()
        if self._whole is None:
            self._whole = WholeMatrix(self._factors.matrix())
        yield from self._whole.solve(b, trans)

    def report(self) -> FactorisationReport:
        """Return what this consists of: blocks, orders, fill, which solvers made it, and why.

        Returns
        -------
        FactorisationReport
            Its ``str`` is a text.

        Raises
        ------
        RuntimeError
            If the last factorisation has failed.
        """
        return self._factors.report()

    @property
    def rcond(self) -> FloatArray:
        """Reciprocal conditions of the diagonal blocks in the 1-norm, shape (n_blocks,).

        Each is that of the block scaled by powers of two, so that units do not count, estimated
        from above, usually within a factor of 3 (Hager 1984; Higham, ACM TOMS 14, 1988); 1 of a
        block of one entry. Below 1.1e-14, with the factors of the transversal of largest product,
        too, a block is singular to working precision. The first call costs a few solves for each
        block.
        """
        if (rcond := self._rcond) is None:
            self._rcond = rcond = np.array([self._factors.rcond(k) for k in range(self.n_blocks)])
            rcond.flags.writeable = False
        return rcond

    def condition(self) -> float:
        """Estimate the condition number in the 1-norm, from below, usually within a factor of 3.

        Higham, FORTRAN codes for estimating the one-norm of a real or complex matrix (ACM TOMS 14,
        1988). Costs a few solves. That of the matrix as it is: units count; see `rcond`.
        """
        norm = float(abs(self._factors.matrix()).sum(axis=0).max(initial=0))
        return norm * inverse_norm(self._factors.solve_unrefined, self.shape[0], self.dtype)

    @property
    def L(self) -> Any:
        """Unit lower triangular: ``A[row_perm][:, col_perm]`` is ``L @ U`` but for rounding."""
        return self._factors.triangles()[0]

    @property
    def U(self) -> Any:
        """Upper triangular; of several blocks, or an external solver, an AttributeError."""
        return self._factors.triangles()[1]

    @property
    def growth(self) -> float:
        """The largest entry of U over the largest of the scaled blocks: digits are lost by it.

        Above 1e6 a block is factorised again, pivots on the diagonal less and less preferred.
        NaN if an external solver does not report it.
        """
        return self._factors.growth

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
        return inverse(self.row_perm)

    @property
    def perm_c(self) -> IndexArray:
        """The same as `col_perm` in SuperLU's convention, its inverse: where each column goes."""
        return inverse(self.col_perm)

    def __repr__(self) -> str:
        if self._factors.failed:
            return "BlockTriangularLU(the last factorisation failed)"
        return f"BlockTriangularLU({self._factors.plan.describe()}, {self.nnz} entries)"
