"""A block factorised by MUMPS, through python-mumps."""

import importlib
import inspect
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import IndexArray
from sparsematch.solvers._external import Singular, Unreliable, Values

#: Errors of MUMPS: singular by its pattern or its numbers; no memory.
_SINGULAR, _NO_MEMORY = (-6, -10), (-7, -13)
_TRANSPOSED = 9  # icntl: 1 solves with the matrix, another number with its transpose
_NONZEROS = 29  # infog: entries of the factors


class MumpsFactor:
    """A block factorised by MUMPS: multifrontal, with threshold pivoting."""

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        n = indptr.size - 1
        self._shape, self._rows = (n, n), rows
        self._columns = np.repeat(np.arange(n, dtype=rows.dtype), np.diff(indptr))
        self._context = _new_context()
        self._analysed = False
        self.refactorise(values)

    def refactorise(self, values: Values) -> None:
        """Factorise new values in the order found first."""
        places = self._rows, self._columns
        try:
            self._context.set_matrix(sp.coo_array((values, places), shape=self._shape))
            self._context.factor(reuse_analysis=self._analysed)
        except RuntimeError as error:  # MUMPSError
            code = getattr(error, "error", None)
            if code in _SINGULAR:
                raise Singular from error
            if code in _NO_MEMORY:
                raise MemoryError("MUMPS has no memory left for the factors") from error
            raise Unreliable(f"MUMPS failed: {error}") from error
        self._analysed = True
        self.nnz = _counted(int(self._context.mumps_instance.infog[_NONZEROS]))

    def solve(self, b: Values, trans: str) -> Values:
        """Solve; MUMPS knows the transpose, and no conjugates."""
        if trans == "H":
            return self.solve(b.conj(), "T").conj()
        instance = self._context.mumps_instance
        instance.icntl[_TRANSPOSED] = 1 if trans == "N" else 2
        kind = self._context.data.dtype
        return np.asarray(self._context.solve(np.asfortranarray(b, kind))).reshape(b.shape)


def _counted(entries: int) -> int:
    """Return a number of entries; MUMPS gives millions, negative, if there are many."""
    return -1_000_000 * entries if entries < 0 else entries


def _new_context() -> Any:
    """Return a context of this process alone, whatever other ranks there are."""
    mumps: Any = importlib.import_module("mumps")
    if "mpi4py.MPI" in sys.modules and "comm" in inspect.signature(mumps.Context).parameters:
        return mumps.Context(comm=sys.modules["mpi4py.MPI"].COMM_SELF)
    return mumps.Context()
