"""A block factorised by SuiteSparse's UMFPACK, as the wheels of kvxopt bring it."""

import importlib
from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray
from sparsematch.solvers._external import Singular, Values


class KvxoptFactor:
    """A block as a matrix of kvxopt."""

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        self._kvxopt: Any = importlib.import_module("kvxopt")
        self._solver: Any = importlib.import_module("kvxopt.umfpack")
        n = indptr.size - 1
        columns = np.repeat(np.arange(n), np.diff(indptr))
        places = rows.astype(np.int64, copy=False), columns
        self._A = self._kvxopt.spmatrix(values, *places, (n, n))
        self._symbolic = self._solver.symbolic(self._A)
        self.nnz = 0  # kvxopt does not report it
        self._factorise()

    def refactorise(self, values: Values) -> None:
        """Factorise new values in the order found first."""
        kind = "z" if values.dtype.kind == "c" else "d"
        self._A.V = self._kvxopt.matrix(values, tc=kind)
        self._factorise()

    def _factorise(self) -> None:
        try:
            self._numeric = self._solver.numeric(self._A, self._symbolic)
        except ArithmeticError as error:
            raise Singular from error

    def solve(self, b: Values, trans: str) -> Values:
        """Solve, all right-hand sides at once."""
        x = self._kvxopt.matrix(np.asfortranarray(b))
        self._solver.solve(self._A, self._numeric, x, "C" if trans == "H" else trans)
        return np.array(x).reshape(b.shape)
