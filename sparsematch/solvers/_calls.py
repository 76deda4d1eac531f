"""The functions: `analyse`, and SciPy's calls, block by block: splu, spsolve."""

from __future__ import annotations  # readable names in help()

from collections.abc import Iterable
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, issparse

from sparsematch._base.arrays import on_gpu
from sparsematch._base.errors import check_choice
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._systems.checks import refuse_on_gpu
from sparsematch._systems.errors import NotFiniteError, SingularMatrixError
from sparsematch._systems.external import MakeExternal
from sparsematch._systems.factors import PIVOTS, BlockFactors
from sparsematch._systems.like_scipy import Singular, no_solution
from sparsematch._systems.lu import Analysis, BlockTriangularLU
from sparsematch._systems.pattern import LAYOUTS
from sparsematch._systems.plan import FactorisationPlan, begin
from sparsematch._types.choices import Pivoting, Settings, Solver
from sparsematch._types.sparse_like import SparseLike
from sparsematch._types.view import without_view


class _Settings(Settings, total=False):
    matching: Any
    pivoting: Pivoting
    solver: Solver | MakeExternal
    row_names: Iterable[Any] | None
    col_names: Iterable[Any] | None
    singular: Singular


def analyse(
    A: SparseLike,
    *,
    matching: Any = None,
    pivoting: Pivoting = "auto",
    solver: Solver | MakeExternal = "auto",
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    order: Literal["blocks", "whole"] | ArrayLike = "blocks",
    workers: int | None = None,
) -> Analysis:
    """Find the block triangular form of a square matrix, to factorise matrices with its pattern.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        In any format; CSC spares a conversion. Every stored entry counts, whatever its value,
        unless ``sparsematch.view(A, zeros="drop")`` is given, where they are zero in all matrices
        to come. That spares what they cost: smaller blocks, less fill. Matrices to come still have
        them, and a ValueError says where one is not zero.
    matching : Matching, (row_mate, col_mate) or row_mate, optional
        A matching to start from, or one to be kept: its entries are on the diagonals of the blocks.
    pivoting : {"auto", "structure", "product"}, optional
        What goes to the diagonal: entries found by the pattern alone, or, by the values of `A`,
        those with the largest product. The latter costs more and moves fewer pivots; ``"auto"``
        asks for it where it is predicted to save more time than it costs.
    solver : {"auto", "superlu", "umfpack", "pardiso", "mumps"} or callable, optional
        The external solver: by default one that is installed, for blocks in which it is predicted
        to be faster than the package's own. A name factorises all blocks of more than 16 rows; all
        but SuperLU, which comes with SciPy, need a library of their own, looked for here.
        ``Analysis.solvers`` and ``BlockTriangularLU.report`` say what is left to which.
    row_names, col_names : iterable of length n, optional
        What the equations and variables are called in errors and warnings, those of later
        factorisations, too. Made strings.
    order : {"blocks", "whole"} or array_like of int, shape (n,), optional
        How rows and columns are ordered: by the block triangular form, then for little fill in each
        block; as one block, for little fill; or as one block whose columns are eliminated in the
        order given, rows moving where pivots are small. The package itself factorises one block,
        whatever that costs, and ``BlockTriangularLU`` has its ``L`` and ``U``.
    workers : int, optional
        Number of threads that factorise, now and by `refactorise`: independent blocks by dense
        fronts, subtrees of these, and large ones. Factors do not depend on it; SciPy's OpenBLAS has
        one thread meanwhile. -1 for all cores; by default that of `set_workers`, which is 1.

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
    ImportError
        If `solver` is not installed, whether or not a block will be left to it.

    See Also
    --------
    splu : Analysis and factorisation in one.

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
    how = matching, pivoting, solver, row_names, col_names
    numbers, _, beginning = begin(A, *how, order=order, workers=workers)
    return Analysis(FactorisationPlan(numbers.analysis, *beginning))


def splu(
    A: SparseLike,
    *,
    matching: Any = None,
    pivoting: Pivoting = "auto",
    solver: Solver | MakeExternal = "auto",
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    order: Literal["blocks", "whole"] | ArrayLike = "blocks",
    workers: int | None = None,
) -> BlockTriangularLU:  # a DeviceLU on a GPU: narrow by isinstance
    """Factorise a sparse square matrix.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        As that of `analyse`. A matrix of ``cupyx.scipy.sparse`` is processed on its GPU.
    matching, pivoting, solver, row_names, col_names, order, workers
        As those of `analyse`. The first three are those of `DeviceLU` if `A` is on a GPU, and the
        others are refused: no names are kept there.

    Returns
    -------
    BlockTriangularLU or DeviceLU
        With ``solve``, ``shape``, ``nnz``, ``perm_r`` and ``perm_c``, like SciPy's ``SuperLU``; of
        a matrix on a GPU, with ``solve`` for right-hand sides there.

    Raises
    ------
    TypeError, ValueError, ImportError
        As `analyse` does.
    NotFiniteError
        If a value is not finite; a ValueError, and a RuntimeError as in SciPy.
    SingularMatrixError
        If `A` is singular; a RuntimeError, as in SciPy, that says which rows and columns are to
        blame.
    MemoryError
        If there is no room for the factors, SuperLU's included, which is a RuntimeError in SciPy.

    See Also
    --------
    analyse : For several matrices with one pattern.
    spsolve : For one system.
    DeviceLU : What is done on a GPU.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import splu
    >>> lu = splu(csc_array([[1.0, 2.0, 0.0], [0.0, 4.0, 0.0], [5.0, 0.0, 8.0]]))
    >>> lu.solve(np.array([3.0, 4.0, 13.0]))
    array([1., 1., 1.])
    >>> lu.solve(np.array([6.0, 6.0, 8.0]), trans="T")
    array([1., 1., 1.])
    """
    if type(A) not in LAYOUTS and on_gpu(from_other_library(without_view(A)[0])):
        refuse_on_gpu(row_names, col_names, order)
        from sparsematch._systems.device import DeviceLU

        on_device: Any = DeviceLU._of(from_other_library(A), matching, pivoting, solver)
        return on_device
    begun = begin(
        A, matching, pivoting, solver, row_names, col_names, False, PIVOTS, order, workers
    )
    return BlockTriangularLU._of(BlockFactors.of(begun))


@overload
def spsolve(A: SparseLike, b: ArrayLike, **settings: Unpack[_Settings]) -> NDArray[Any]: ...
@overload
def spsolve(A: SparseLike, b: SparseLike, **settings: Unpack[_Settings]) -> Any: ...


def spsolve(
    A: SparseLike,
    b: Any,
    *,
    matching: Any = None,
    pivoting: Pivoting = "auto",
    solver: Solver | MakeExternal = "auto",
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    singular: Singular = "raise",
    workers: int | None = None,
) -> Any:
    """Solve a sparse linear system, or several with the same matrix.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        In any format; CSC spares a conversion. Entries whose value is zero are left out. If it is
        on a GPU, they are not, and `b` must be a CuPy array.
    b : array_like, sparse array or matrix, shape (n,) or (n, k)
        The right-hand sides.
    matching, pivoting, solver, row_names, col_names, workers
        As those of `analyse`, or of `splu` if `A` is on a GPU.
    singular : {"raise", "nan"}, optional
        What to do with a singular matrix, or one with values that are not finite: raise an error,
        or warn and return NaN, as SciPy does, unless the solution is sparse or on a GPU.

    Returns
    -------
    ndarray or csc_array
        The solution: of shape (n,) if there is one right-hand side, as in SciPy; sparse if `b` is
        sparse and has more than one column.

    Raises
    ------
    TypeError, ValueError
        As `splu` does, or if `b` does not fit.
    SingularMatrixError
        If `A` is singular. SciPy's function warns and returns NaN.

    Warns
    -----
    scipy.sparse.linalg.MatrixRankWarning
        If NaN is returned.

    See Also
    --------
    splu : For several right-hand sides, one after the other.
    sparsematch.linalg.spsolve : Drop-in for SciPy's function.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import spsolve
    >>> spsolve(csc_array([[0.0, 2.0], [4.0, 1.0]]), [2.0, 5.0])
    array([1., 1.])
    """
    check_choice("singular", singular, ("raise", "nan"))
    given: Any = A
    if type(A) not in LAYOUTS and on_gpu(given := from_other_library(A)):
        refuse_on_gpu(row_names, col_names)
        lu = splu(given, matching=matching, pivoting=pivoting, solver=solver)
        return lu.solve(b.ravel() if getattr(b, "ndim", 0) == 2 and b.shape[1] == 1 else b)
    right, is_sparse = (b, False) if type(b) is np.ndarray and b.ndim == 1 else right_hand_sides(b)
    try:
        begun = begin(
            given, matching, pivoting, solver, row_names, col_names, True, PIVOTS, "blocks", workers
        )
        lu = BlockTriangularLU._of(BlockFactors.of(begun))
    except (SingularMatrixError, NotFiniteError):
        if singular == "raise" or is_sparse:
            raise
        return no_solution(right, given.shape[0], given.dtype)
    x = lu.solve(right)
    return csc_array(x) if is_sparse else x


def right_hand_sides(b: Any) -> tuple[NDArray[Any], bool]:
    """Return them as an array, (n,) if there is one, and whether the solution is to be sparse."""
    is_sparse, right = False, b
    if type(b) is not np.ndarray:
        b = from_other_library(b)
        is_sparse = issparse(b)
        right = check_sparse(b, "b").toarray() if is_sparse else np.asarray(b)
    if right.ndim == 2 and right.shape[1] == 1:
        return right.ravel(), False
    return right, is_sparse
