"""The external solvers that go by a name: SuperLU, and those that need a library of their own."""

import importlib
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._types.arrays import IndexArray
from sparsematch._types.errors import pip_install, unknown_choice
from sparsematch.solvers._external import MakeExternal, Singular, SuperLUFactor, Values
from sparsematch.solvers._pardiso import PardisoFactor


class UmfpackFactor:
    """A block factorised by UMFPACK, through scikit-umfpack."""

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        from scikits import umfpack

        n = indptr.size - 1
        self._umfpack = umfpack
        arrays = values, rows.astype(np.int32), indptr.astype(np.int32)
        self._A = sp.csc_matrix(arrays, shape=(n, n))
        family = "zi" if values.dtype.kind == "c" else "di"
        # The condition is for the user to ask; solving does not warn.
        self._context = umfpack.UmfpackContext(family, maxCond=np.inf)
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
        names = {"N": "UMFPACK_A", "T": "UMFPACK_Aat", "H": "UMFPACK_At"}
        code, columns = getattr(self._umfpack, names[trans]), map(np.ascontiguousarray, b.T)
        return np.stack([self._context.solve(code, self._A, b) for b in columns], axis=1)


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


SOLVERS: dict[str, MakeExternal] = {
    "superlu": SuperLUFactor,
    "umfpack": UmfpackFactor,
    "pardiso": PardisoFactor,
    "klu": KluFactor,
}

#: What each needs: a module, and how it is installed.
_NEEDS = {
    "umfpack": (
        "scikits.umfpack",
        "scikit-umfpack 0.4: conda install -c conda-forge scikit-umfpack, or, with SuiteSparse 7, "
        + pip_install("scikit-umfpack"),
    ),
    "pardiso": ("pypardiso", "pypardiso: " + pip_install("pypardiso")),
    "klu": (
        "sksparse.klu",
        "scikit-sparse 0.5: conda install -c conda-forge scikit-sparse, or, with SuiteSparse 7, "
        + pip_install("scikit-sparse"),
    ),
}


def find_solver(name: Any) -> MakeExternal:
    """Look up a solver by name; a class is returned as it is, and ``"auto"`` is SuperLU.

    ImportError if what it needs is not installed.
    """
    if callable(name):
        return name
    if not isinstance(name, str) or name not in ("auto", *SOLVERS):
        raise unknown_choice("solver", name, ("auto", *SOLVERS))
    if name in _NEEDS:
        module, how = _NEEDS[name]
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ImportError(f"solver is {name!r}, which needs {how}") from error
    return SOLVERS["superlu" if name == "auto" else name]


def name_of_solver(make: MakeExternal) -> str:
    """Return the name that `find_solver` knows a solver by; of the user's own, that it has."""
    named = (name for name, known in SOLVERS.items() if known is make)
    return next(named, getattr(make, "__name__", type(make).__name__))
