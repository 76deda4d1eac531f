"""The error of a system that has no solution, or too many, with what is to blame."""

from __future__ import annotations  # an Explanation is imported when one is made

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse.linalg import MatrixRankWarning

from sparsematch._base.above import above
from sparsematch._base.arrays import IndexArray, IndexPair
from sparsematch._input.names import BothNames, Names

if TYPE_CHECKING:
    from sparsematch._text.explanation import Explanation

#: How many rows or columns a short message lists, and in how many characters.
_MOST, _WIDEST = 10, 60
#: Said by every use of factors that there are not.
NO_FACTORS = "there is nothing to solve with: the last factorisation failed"
#: What there is instead of a solution, in host memory.
_WAY_OUT = (
    "sparsematch.solvers.lstsq(A, b) finds the x of least norm among those that leave the least "
    "residual."
)


class IllConditionedWarning(LinAlgWarning, MatrixRankWarning):  # type: ignore[misc]
    """A factorisation or a solution that is not to be relied upon, with the figure that shows it.

    Either a diagonal block is singular to working precision: scaled, its reciprocal condition is
    below 1.1e-14, so that rounding alone may have made it regular; or the whole matrix is, for a
    solution. Or one still has a backward error above 1e-12 after refinement and another
    factorisation with partial pivoting. It is in both families that users of SciPy filter:
    ``scipy.linalg.LinAlgWarning``, as of ``scipy.linalg.solve``, and
    ``scipy.sparse.linalg.MatrixRankWarning``, as of ``spsolve``.

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
    >>> lu.rcond.tolist() < [1.1e-14]
    True
    """


class NotFiniteError(ValueError, RuntimeError):
    """Values of a matrix are NaN or infinite: which, by the names of rows and columns.

    A ValueError, and a RuntimeError, too, because SciPy finds such a matrix "exactly singular".

    Attributes
    ----------
    row, col : int
        Where the first is.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import splu
    >>> splu(csc_array([[1.0, float("nan")], [0.0, 1.0]]))
    Traceback (most recent call last):
    ...
    sparsematch._systems.errors.NotFiniteError: A[0, 1] is nan, but values must be finite
    """

    def __init__(self, message: str, row: int, col: int) -> None:
        super().__init__(message, row, col)
        self.row, self.col = row, col

    def __str__(self) -> str:
        return str(self.args[0])


class NamedSystem(NamedTuple):
    """A matrix, and what its rows and columns are called: what an explanation is made of."""

    matrix: Any  #: By columns, ascending and without duplicates; nobody changes it.
    row_names: Names = None
    col_names: Names = None


class SingularMatrixError(RuntimeError, np.linalg.LinAlgError):
    """A matrix cannot be factorised, and which rows and columns are to blame.

    It is a RuntimeError, as SciPy's "Factor is exactly singular" is, and a LinAlgError, as that of
    a dense matrix is. Nothing is looked for until ``report``, ``rows``, ``cols`` or the text is
    read, once: an error that is caught and dropped costs nothing. ``args[0]`` is one line, ``str``
    of the error adds the report, and that `lstsq` solves such systems in the least-squares sense.

    Attributes
    ----------
    report : Explanation or None
        What ``explain_singularity(A, row_names, col_names, numeric=True)`` returns, with the names
        given to the call that raised. None of a matrix on a GPU.
    rows, cols : ndarray
        Of the user's matrix: those of the conflicts in the report if the structure is to blame;
        else the rows of all combinations that vanish, and the columns that are free. Of the
        diagonal block that has no inverse where the report names none.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import SingularMatrixError, splu
    >>> A = csc_array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0]])
    >>> try:
    ...     splu(A, row_names=["mass", "heat", "valve"])
    ... except SingularMatrixError as caught:
    ...     error = caught
    >>> error.args[0][22:]
    'a block of 2 rows and columns (rows mass, heat; columns 0, 1) has no inverse'
    >>> error.rows.tolist(), error.cols.tolist()
    ([0, 1], [0, 1, 2])
    >>> print(error.report.text().splitlines()[0])
    Numerically singular: 3 equations, 3 variables, but rank 2 with these values.
    """

    def __init__(
        self,
        message: str,
        rows: IndexArray | None = None,
        cols: IndexArray | None = None,
        system: NamedSystem | None = None,
    ) -> None:
        super().__init__(message)
        self._block = rows, cols
        self._system = system
        self._report: Explanation | None = None

    @property
    def report(self) -> Explanation | None:
        """Why the matrix is singular, found when it is first read."""
        if self._report is None and self._system is not None:
            numeric = bool(np.isfinite(self._system.matrix.data).all())  # else only the pattern
            with np.errstate(all="ignore"):
                self._report = above("explain_singularity")(*self._system, numeric=numeric)
        return self._report

    @property
    def rows(self) -> IndexArray:
        """Rows of the user's matrix that are to blame."""
        return self._blamed(0)

    @property
    def cols(self) -> IndexArray:
        """Columns of the user's matrix that are to blame."""
        return self._blamed(1)

    def _blamed(self, side: int) -> IndexArray:
        if (report := self._found()) is not None:
            if report.overdetermined:
                return report.overdetermined.conflicts[side]
            numbers = report.numbers
            found = () if numbers is None else (numbers.equations, numbers.variables)[side]
            if found:
                return np.unique(np.concatenate([dependence.indices for dependence in found]))
        known = self._block[side]
        return np.empty(0, np.intp) if known is None else known

    def _found(self) -> Explanation | None:
        """Return the report if it can be made: what explains an error must not raise another."""
        try:
            return self.report
        except Exception:  # no memory, say
            return None

    def __str__(self) -> str:
        message = super().__str__()
        if (report := self._found()) is None:
            return message
        text = str(report)
        parts = [text] if text.startswith(message) else [message, text]
        return "\n\n".join([*parts, _WAY_OUT])


def structurally_singular(system: NamedSystem, rank: int) -> SingularMatrixError:
    """Describe a matrix whose pattern has no perfect matching."""
    n = system.matrix.shape[0]
    count = "1 equation, 1 variable" if n == 1 else f"{n:,} equations, {n:,} variables"
    text = f"Structurally singular: {count}, but rank {rank:,} at most, whatever the values."
    return SingularMatrixError(text, system=system)


def numerically_singular(
    system: NamedSystem, block: IndexPair, fault: str = "has no inverse"
) -> SingularMatrixError:
    """Describe a matrix with a singular diagonal block."""
    name = name_block(block, (system.row_names, system.col_names))
    return SingularMatrixError(f"numerically singular: {name} {fault}", *block, system)


def name_block(block: IndexPair, names: BothNames) -> str:
    """Say which rows and columns of the user's matrix a diagonal block has."""
    n = block[0].size
    size = f"{n} row and column" if n == 1 else f"{n} rows and columns"
    rows, cols = map(_few, block, names)
    return f"a block of {size} (rows {rows}; columns {cols})"


def _few(indices: IndexArray, names: Names) -> str:
    words = [names[i] if names else str(i) for i in np.sort(indices)[:_MOST].tolist()]
    widths = itertools.accumulate(len(word) + 2 for word in words)
    words = words[: max(1, sum(width <= _WIDEST for width in widths))]
    hidden = indices.size - len(words)
    return ", ".join(words) + (f" and {hidden} more" if hidden else "")
