"""The error of a system that has no solution, or too many, with what is to blame."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from scipy.sparse.linalg import MatrixRankWarning

from sparsematch._types.arrays import IndexArray


class IllConditionedWarning(LinAlgWarning, MatrixRankWarning):  # type: ignore[misc]
    """A factorisation or a solution that is not to be relied upon, with the figure that shows it.

    Either a diagonal block is singular to working precision: scaled, its reciprocal condition is
    below 2.2e-16, so that rounding alone may have made it regular. Or a solution still has a
    backward error above 1e-9 after refinement and another factorisation with partial pivoting. It
    is in both families that users of SciPy filter: ``scipy.linalg.LinAlgWarning``, as of
    ``scipy.linalg.solve``, and ``scipy.sparse.linalg.MatrixRankWarning``, as of ``spsolve``.

    Examples
    --------
    >>> import warnings
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import IllConditionedWarning, splu
    >>> A = csc_array([[1.0, 1.0 + 2.0**-52], [1.0, 1.0]])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     lu = splu(A)
    >>> caught[0].category is IllConditionedWarning
    True
    >>> lu.rcond.tolist() < [2.2e-16]
    True
    """


class SingularMatrixError(RuntimeError):
    """A matrix cannot be factorised, and which rows and columns are to blame.

    It is a RuntimeError, as SciPy's "Factor is exactly singular" is.

    Attributes
    ----------
    report : Explanation or None
        Why the matrix is structurally singular, if it is: ``str(report)`` is part of the message.
        Values that are zero count as no entries where that makes the difference. None if only the
        numbers are to blame.
    rows, cols : ndarray
        Of the user's matrix: those of the conflicts in the report, or those of the diagonal block
        that is numerically singular.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import SingularMatrixError, splu
    >>> try:
    ...     splu(csc_array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0]]))
    ... except SingularMatrixError as error:
    ...     message, rows = str(error), sorted(error.rows.tolist())
    >>> message
    'numerically singular: a block of 2 rows and columns (rows 0, 1; columns 0, 1) has no inverse'
    >>> rows
    [0, 1]
    """

    def __init__(
        self,
        message: str,
        rows: IndexArray | None = None,
        cols: IndexArray | None = None,
        report: Any = None,
    ) -> None:
        super().__init__(message)
        self.report = report
        self._rows, self._cols = rows, cols  # None: ask the report when they are asked for

    @property
    def rows(self) -> IndexArray:
        """Rows of the user's matrix that are to blame."""
        return self._blamed(self._rows, 0)

    @property
    def cols(self) -> IndexArray:
        """Columns of the user's matrix that are to blame."""
        return self._blamed(self._cols, 1)

    def _blamed(self, known: IndexArray | None, side: int) -> IndexArray:
        if known is not None:
            return known
        if self.report is None:
            return np.empty(0, np.intp)
        blamed: IndexArray = self.report.overdetermined.conflicts[side]
        return blamed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self._rows, self._cols, self.report)


def structurally_singular(A: Any, note: str = "") -> SingularMatrixError:
    """Describe a matrix whose pattern has no perfect matching."""
    from sparsematch._api.explain import explain_singularity

    report = explain_singularity(A)
    return SingularMatrixError(f"{note}{report}", report=report)


def numerically_singular(A: Any, rows: IndexArray, cols: IndexArray) -> SingularMatrixError:
    """Describe a matrix with a singular diagonal block; zeros among its values may explain it."""
    A = sp.csc_array(A)
    if not A.data.all():
        A = A.copy()
        A.eliminate_zeros()
        error = structurally_singular(A, "not counting entries that are zero:\n")
        if error.report.is_singular:
            return error
    return SingularMatrixError(
        f"numerically singular: {name_block(rows, cols)} has no inverse", rows, cols
    )


def name_block(rows: IndexArray, cols: IndexArray) -> str:
    """Say which rows and columns of the user's matrix a diagonal block has."""
    size = f"{rows.size} row and column" if rows.size == 1 else f"{rows.size} rows and columns"
    return f"a block of {size} (rows {_few(rows)}; columns {_few(cols)})"


def _few(indices: IndexArray) -> str:
    shown = ", ".join(map(str, np.sort(indices)[:10]))
    return shown if indices.size <= 10 else f"{shown} and {indices.size - 10} more"
