"""The error of a system that has no solution, or too many, with what is to blame."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._types.arrays import IndexArray


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
        self, message: str, rows: IndexArray, cols: IndexArray, report: Any = None
    ) -> None:
        super().__init__(message)
        self.rows, self.cols, self.report = rows, cols, report

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild it from all its arguments: by default it would be the message alone."""
        return type(self), (*self.args, self.rows, self.cols, self.report), self.__dict__ or None


def structurally_singular(A: Any, note: str = "") -> SingularMatrixError:
    """Describe a matrix whose pattern has no perfect matching."""
    from sparsematch._api.explain import explain_singularity

    report = explain_singularity(A)
    pieces = report.overdetermined
    nothing = np.empty(0, np.intp)
    rows = np.concatenate([nothing, *(np.asarray(piece.conflict.rows) for piece in pieces)])
    cols = np.concatenate([nothing, *(np.asarray(piece.conflict.cols) for piece in pieces)])
    return SingularMatrixError(f"{note}{report}", rows, cols, report)


def numerically_singular(A: Any, rows: IndexArray, cols: IndexArray) -> SingularMatrixError:
    """Describe a matrix with a singular diagonal block; zeros among its values may explain it."""
    A = sp.csc_array(A)
    if not A.data.all():
        A = A.copy()
        A.eliminate_zeros()
        error = structurally_singular(A, "not counting entries that are zero:\n")
        if error.rows.size:
            return error
    size = f"{rows.size} row and column" if rows.size == 1 else f"{rows.size} rows and columns"
    places = f"rows {_few(rows)}; columns {_few(cols)}"
    return SingularMatrixError(
        f"numerically singular: a block of {size} ({places}) has no inverse", rows, cols
    )


def _few(indices: IndexArray) -> str:
    shown = ", ".join(map(str, np.sort(indices)[:10]))
    return shown if indices.size <= 10 else f"{shown} and {indices.size - 10} more"
