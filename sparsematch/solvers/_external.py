"""Factorisations of single blocks by other libraries: one small class each, behind one shape.

An external solver is a class that is made of a block, by columns, and of values for it. It
solves, and takes new values for the same pattern. What it learns of the pattern the first time, it
may leave in `memory` for the next of its kind. If rows and columns come in an order that makes
little fill when pivots stay on the diagonal, `memory` says how many entries the factors then have,
as ``"foreseen"``.
"""

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import IndexArray
from sparsematch._types.errors import unknown_choice

Values = NDArray[Any]


#: Options of SuperLU where pivots are expected to stay on the diagonal.
_ON_THE_DIAGONAL: dict[str, Any] = {"diag_pivot_thresh": 0.1, "options": {"SymmetricMode": True}}


class Singular(Exception):
    """A block has no inverse."""


class ExternalFactor(Protocol):
    """The factorisation of one block.

    Attributes
    ----------
    nnz : int
        Entries of its factors, or 0 if that is not known.
    """

    nnz: int

    def refactorise(self, values: Values) -> None:
        """Factorise new values, in the order of the columns; raise Singular."""

    def solve(self, b: Values, trans: str) -> Values:
        """Solve with A ("N"), its transpose ("T") or conjugate transpose ("H"); `b` is a matrix."""


class SuperLUFactor:
    """A block factorised by SciPy's SuperLU.

    In the order that it comes in, if that suits and the diagonal is large; else ordered by COLAMD
    the first time and as then ever after.
    """

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        self._memory = memory
        self._indptr, self._rows = (
            indptr.astype(np.int32, copy=False),
            rows.astype(np.int32, copy=False),
        )
        self.refactorise(values)

    def refactorise(self, values: Values) -> None:
        """Factorise new values."""
        memory = self._memory
        self._renumbered = False
        steady = operations(LuOps, "numpy").steady_diagonal
        foreseen = memory.get("foreseen")
        if foreseen and steady(self._indptr, self._rows, values):
            self._lu = _superlu(values, self._rows, self._indptr, "NATURAL", **_ON_THE_DIAGONAL)
            if self._lu.nnz > 2 * foreseen:  # pivots have left it all the same
                memory.pop("foreseen", None)  # which another thread may have done
        elif "place" not in memory:
            self._lu = _superlu(values, self._rows, self._indptr, "COLAMD")
            memory["place"] = self._lu.perm_c
        else:
            if "order" not in memory:  # one that is never factorised again need not be renumbered
                memory.update(_renumbered(self._indptr, self._rows, memory["place"]))
            self._lu = _superlu(values[memory["take"]], memory["rows"], memory["indptr"], "NATURAL")
            self._renumbered = True
        self.nnz = int(self._lu.nnz)

    def solve(self, b: Values, trans: str) -> Values:
        """Solve."""
        if not self._renumbered:
            return self._lu.solve(b, trans)
        order = self._memory["order"]
        x = np.empty_like(b)
        x[order] = self._lu.solve(b[order], trans)
        return x

    @property
    def largest_u(self) -> float:
        """The largest entry of U."""
        return float(np.abs(self._lu.U.data).max(initial=0))


def _superlu(
    values: Values, rows: IndexArray, indptr: IndexArray, ordering: str, **options: Any
) -> Any:
    n = indptr.size - 1
    A = sp.csc_array((n, n), dtype=values.dtype)
    A.data, A.indices, A.indptr = values, rows, indptr  # which are right: no checks
    A.has_canonical_format = True
    try:
        return splu(A, permc_spec=ordering, **options)
    except RuntimeError as error:
        if "singular" in str(error):
            raise Singular from error
        raise


def _renumbered(indptr: IndexArray, rows: IndexArray, place: IndexArray) -> dict[str, Any]:
    """Renumber rows and columns alike: the diagonal, preferred for pivots, stays the diagonal."""
    n = indptr.size - 1
    new_cols, new_rows = np.repeat(place, np.diff(indptr)), place[rows]
    take = np.lexsort((new_rows, new_cols))
    starts = np.searchsorted(new_cols[take], np.arange(n + 1)).astype(np.int32)
    return {"order": np.argsort(place), "take": take, "rows": new_rows[take], "indptr": starts}


class UmfpackFactor:
    """A block factorised by UMFPACK, through scikit-umfpack."""

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        from scikits import umfpack

        n = indptr.size - 1
        self._umfpack = umfpack
        self._A = sp.csc_matrix(
            (values, rows.astype(np.int32), indptr.astype(np.int32)), shape=(n, n)
        )
        # The condition is for the user to ask; solving does not warn.
        self._context = umfpack.UmfpackContext(
            "zi" if values.dtype.kind == "c" else "di", maxCond=np.inf
        )
        self._context.symbolic(self._A)
        self.refactorise(values)

    def refactorise(self, values: Values) -> None:
        """Factorise new values."""
        self._A = sp.csc_matrix((values, self._A.indices, self._A.indptr), shape=self._A.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._umfpack.UmfpackWarning)  # of what is raised here
            self._context.numeric(self._A)
        info = self._context.info
        if info[self._umfpack.UMFPACK_RCOND] == 0:
            raise Singular
        self.nnz = int(info[self._umfpack.UMFPACK_LNZ] + info[self._umfpack.UMFPACK_UNZ])

    def solve(self, b: Values, trans: str) -> Values:
        """Solve, a column at a time."""
        code = {
            "N": self._umfpack.UMFPACK_A,
            "T": self._umfpack.UMFPACK_Aat,
            "H": self._umfpack.UMFPACK_At,
        }[trans]
        columns = [
            self._context.solve(code, self._A, np.ascontiguousarray(column)) for column in b.T
        ]
        return np.stack(columns, axis=1)


class PardisoFactor:
    """A block factorised by MKL's PARDISO, through pypardiso; real numbers only.

    The transpose, if it is needed, apart.
    """

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        from pypardiso import PyPardisoSolver

        if values.dtype.kind == "c":
            raise TypeError("pypardiso factorises matrices of real numbers only, not of complex128")
        n = indptr.size - 1
        self._shape, self._indptr, self._rows = (
            (n, n),
            indptr.astype(np.int32),
            rows.astype(np.int32),
        )
        self._solvers = PyPardisoSolver(), PyPardisoSolver()
        self.nnz = 0
        self.refactorise(values)

    def refactorise(self, values: Values) -> None:
        """Factorise new values."""
        transposed = sp.csr_matrix((values, self._rows, self._indptr), shape=self._shape)
        self._A = sp.csr_matrix(transposed.T), transposed
        self._solvers[0].factorize(self._A[0])

    def solve(self, b: Values, trans: str) -> Values:
        """Solve."""
        which = int(trans != "N")
        return np.asarray(self._solvers[which].solve(self._A[which], np.asfortranarray(b))).reshape(
            b.shape
        )


class KluFactor:
    """A block factorised by KLU, through scikit-sparse 0.5.

    Its default tolerance, a thousandth of the largest in the column, costs up to ten digits on real
    matrices.
    """

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        n = indptr.size - 1
        self._shape, self._indptr, self._rows = (n, n), indptr, rows
        self.nnz = 0
        self.refactorise(values)

    def refactorise(self, values: Values) -> None:
        """Factorise new values, with pivots of their own."""
        from sksparse import klu

        A = sp.csc_array((values, self._rows, self._indptr), shape=self._shape)
        with warnings.catch_warnings():
            warnings.simplefilter("error", klu.KLUSingularMatrixWarning)
            try:
                self._lu = klu.klu_factor(A, tol=0.1, btf=False)
            except klu.KLUSingularMatrixWarning:
                raise Singular from None
        self.nnz = int(self._lu.lnz + self._lu.unz)

    def solve(self, b: Values, trans: str) -> Values:
        """Solve; KLU's transposed system has its right-hand sides as rows."""
        if trans == "N":
            return np.asarray(self._lu.solve(b))
        x = self._lu.solve((b.conj() if trans == "H" else b).T, transpose=True).T
        return np.asarray(x.conj() if trans == "H" else x)


MakeExternal = Callable[[IndexArray, IndexArray, Values, dict[str, Any]], ExternalFactor]

SOLVERS: dict[str, MakeExternal] = {
    "superlu": SuperLUFactor,
    "umfpack": UmfpackFactor,
    "pardiso": PardisoFactor,
    "klu": KluFactor,
}


def find_solver(name: Any) -> MakeExternal:
    """Look up a solver by name; a class is returned as it is, and ``"auto"`` is SuperLU."""
    if callable(name):
        return name
    if not isinstance(name, str) or name not in ("auto", *SOLVERS):
        raise unknown_choice("solver", name, ("auto", *SOLVERS))
    return SOLVERS["superlu" if name == "auto" else name]
