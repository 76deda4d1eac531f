"""The analysis of a matrix: what all factorisations of its pattern have in common."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._types.block_form import BlockForm, square_form
from sparsematch._types.lazy import lazy_attribute
from sparsematch._types.sparse_like import SparseLike
from sparsematch.solvers._factors import NO_STATE
from sparsematch.solvers._plan import FactorisationPlan

if TYPE_CHECKING:
    from sparsematch.solvers._lu import BlockTriangularLU


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
        from sparsematch.solvers._lu import BlockTriangularLU  # which is made by an analysis

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
