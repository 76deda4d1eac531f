"""One call for every system of a Newton or time-stepping loop, whatever its pattern."""

from __future__ import annotations  # readable names in help()

import functools
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, issparse

from sparsematch._base.errors import check_choice, check_count
from sparsematch._input.foreign import from_other_library
from sparsematch._input.pattern import compress
from sparsematch._systems.errors import NotFiniteError, SingularMatrixError
from sparsematch._systems.external import MakeExternal
from sparsematch._systems.factors import PIVOTS, BlockFactors
from sparsematch._systems.like_scipy import Singular, no_solution
from sparsematch._systems.lu import BlockTriangularLU
from sparsematch._systems.plan import begin
from sparsematch._text.name_lists import count
from sparsematch._types.choices import Pivoting, Solver
from sparsematch._types.sparse_like import SparseLike
from sparsematch.solvers._calls import right_hand_sides


class PatternSolver:
    """Solve systems one after the other: analyse a new pattern, refactorise a known one.

    It can stand wherever ``spsolve`` is called, and needs no analysis to be kept by hand. The index
    arrays of each matrix are compared with those of the patterns that are known; where they are
    equal, nothing is converted, matched or ordered, and the values are read in the order of
    ``A.data``, by rows, columns or coordinates. A matrix that is that of the last call is not
    factorised again.

    Parameters
    ----------
    patterns : int, optional
        How many patterns are known at a time, each with factors: the one unused for longest makes
        room for a new one.
    singular : {"raise", "nan"}, optional
        As that of `spsolve`.
    pivoting, solver, workers
        As those of `analyse`.

    Attributes
    ----------
    lu : BlockTriangularLU or None
        The factorisation of the last matrix.
    n_analyses, n_factorisations : int
        How many patterns have been analysed, and how many matrices factorised.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type or none of the choices.

    See Also
    --------
    analyse : To keep an analysis by hand, and share it between threads.
    spsolve : For one system.

    Notes
    -----
    Threads may call one solver; they wait for each other. Entries that are zero belong to the
    pattern, as they may not be zero in the next matrix. A copy knows no pattern.

    Examples
    --------
    A Newton iteration for ``x**3 + B x = c``:

    >>> import numpy as np
    >>> from scipy.sparse import csr_array, diags_array
    >>> from sparsematch.solvers import PatternSolver
    >>> B, c = csr_array([[4.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 5.0]]), np.ones(3)
    >>> solver, x = PatternSolver(), np.zeros(3)
    >>> for _ in range(5):
    ...     J = csr_array(B + diags_array(3 * x**2))
    ...     x -= solver.solve(J, x**3 + B @ x - c)
    >>> float(abs(x**3 + B @ x - c).max()) < 1e-14
    True
    >>> solver
    PatternSolver(1 pattern known, 1 analysis, 5 factorisations)
    """

    def __init__(
        self,
        *,
        patterns: int = 4,
        singular: Singular = "raise",
        pivoting: Pivoting = "auto",
        solver: Solver | MakeExternal = "auto",
        workers: int | None = None,
    ) -> None:
        check_count("patterns", patterns)
        if not patterns:
            raise ValueError("patterns is 0, but must be at least 1")
        check_choice("singular", singular, ("raise", "nan"))
        self._settings: dict[str, Any] = {"patterns": patterns, "singular": singular}
        self._settings |= {"pivoting": pivoting, "solver": solver, "workers": workers}
        self._known: list[_Known] = []  # the one used last comes first
        self._last: _Known | None = None  # that of the last call, if it has factors
        self._lock = threading.Lock()
        self.n_analyses = self.n_factorisations = 0

    @property
    def lu(self) -> BlockTriangularLU | None:
        """The factorisation of the last matrix; None if its pattern was new, and it has none."""
        return self._last.lu if self._last else None

    def solve(self, A: SparseLike | NDArray[Any], b: ArrayLike | SparseLike) -> Any:
        """Solve a linear system, or several with the same matrix.

        Parameters
        ----------
        A : sparse array or matrix, shape (n, n), or ndarray of shape (nnz,)
            The matrix; or its values alone, in the order of ``A.data``, where its pattern is that
            of the last call, and has been factorised.
        b : array_like, sparse array or matrix, shape (n,) or (n, k)
            The right-hand sides.

        Returns
        -------
        ndarray or csc_array
            The solution, as `spsolve` returns it.

        Raises
        ------
        TypeError, ValueError, SingularMatrixError
            As `spsolve` does.
        """
        matrix: Any = from_other_library(A)
        right, is_sparse = right_hand_sides(b)
        with self._lock:
            try:
                x = self._factorise(matrix).solve(right)
            except (SingularMatrixError, NotFiniteError):
                if is_sparse or self._settings["singular"] == "raise":
                    raise
                n = matrix.shape[0] if issparse(matrix) else self._known[0].lu.shape[0]
                x = no_solution(right, n, matrix.dtype)
        return csc_array(x) if is_sparse else x

    __call__ = solve

    def _factorise(self, A: Any) -> BlockTriangularLU:
        """Return factors of a matrix, new ones or those of a known pattern."""
        is_matrix = issparse(A)
        A = compress(A) if is_matrix else A
        for k, known in enumerate(self._known):
            if known.pattern.is_of(A) if is_matrix else known is self._last:
                self._known.insert(0, self._known.pop(k))
                self._last = known
                nnz = known.pattern.nnz  # SciPy may keep more room than that
                self.n_factorisations += known.update(A.data[:nnz] if is_matrix else A)
                return known.lu
        self._last = None
        pivoting, solver, workers = map(self._settings.get, ("pivoting", "solver", "workers"))
        begun = begin(A, None, pivoting, solver, pivots=PIVOTS, workers=workers)
        known = _Known(BlockTriangularLU._of(BlockFactors.of(begun)), A.data)
        self._last, self._known = known, [known, *self._known[: self._settings["patterns"] - 1]]
        self.n_analyses, self.n_factorisations = self.n_analyses + 1, self.n_factorisations + 1
        return known.lu

    def __reduce__(self) -> Any:
        return functools.partial(PatternSolver, **self._settings), ()

    def __repr__(self) -> str:
        known, done = count(len(self._known), "pattern"), self.n_factorisations
        analyses = "1 analysis" if self.n_analyses == 1 else f"{self.n_analyses} analyses"
        return f"PatternSolver({known} known, {analyses}, {count(done, 'factorisation')})"


class _Known:
    """Factors of one pattern, and the values that they were last made of here."""

    def __init__(self, lu: BlockTriangularLU, values: NDArray[Any]) -> None:
        self.lu = lu
        self.pattern = lu._factors.plan.pattern
        self._remember(values[: self.pattern.nnz])

    def update(self, values: Any) -> bool:
        """Refactorise, unless the factors are those of these values; tell which."""
        # `lu` is public: somebody else may have refactorised it since, or in vain.
        if self._made == self.lu._n_refactorised and not self.lu._factors.failed:
            # of another type, though equal, they have solutions of another type
            same_type = getattr(values, "dtype", None) == self._values.dtype
            if same_type and np.array_equal(values, self._values):
                return False
        self.lu.refactorise(values)
        self._remember(values)
        return True

    def _remember(self, values: Any) -> None:
        self._values, self._made = np.array(values), self.lu._n_refactorised
