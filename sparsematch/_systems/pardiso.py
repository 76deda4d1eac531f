"""A block factorised by MKL's PARDISO, through pypardiso, its solutions checked.

PARDISO replaces a pivot that is too small by another number and goes on; where there were many,
what comes out solves nothing. Where some were, every solution is checked, and refined or refused.
"""

import copy
import functools
import threading
import weakref
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._base.tolerances import GOOD_ERROR
from sparsematch._numerics.backward_error import normwise
from sparsematch._numerics.foreign_calls import interruptible
from sparsematch._numerics.refinement import refine
from sparsematch._systems.external import Memory, Unreliable

#: Backward errors above this, after refinement, are refused.
_BAD = 1e-11
_PERTURBED, _NONZEROS = 14, 18  # iparm of the pivots replaced, and of entries of the factors
_ZERO_PIVOT, _NO_MEMORY = -4, -2  # errors of PARDISO


class PardisoFactor:
    """A block of real numbers factorised by PARDISO; the memory is given back with the object."""

    def __init__(self, indptr: IndexArray, rows: IndexArray, values: Array, memory: Memory) -> None:
        if values.dtype.kind == "c":
            raise Unreliable("pypardiso factorises matrices of real numbers only")
        self._indptr, self._rows = indptr.astype(np.int32), rows.astype(np.int32)
        self._solver, self._alone = copy.copy(_first_solver()), threading.Lock()
        self._solver.pt, self._solver.iparm = self._solver.pt.copy(), self._solver.iparm.copy()
        weakref.finalize(self, self._solver.free_memory, everything=True).atexit = False
        self.nnz = 0
        self.refactorise(values)

    def refactorise(self, values: Array) -> None:
        """Factorise new values; where pivots were replaced, try whether that did harm."""
        n = self._indptr.size - 1
        arrays = values, self._rows, self._indptr
        # The arrays are the block's columns, its transpose's rows: one factorisation serves both.
        self._A = sp.csc_matrix(arrays, shape=(n, n)), sp.csr_matrix(arrays, shape=(n, n))
        interruptible(n**3, self._call, self._solver.factorize, self._A[0])
        self.nnz = max(0, int(self._solver.get_iparm(_NONZEROS)))
        if self.perturbed:
            self._norm = [float(abs(A).sum(axis=1).max()) for A in self._A]
            self.solve(np.random.default_rng(0).choice([-1.0, 1.0], (n, 1)), "N")

    @property
    def perturbed(self) -> int:
        """How many pivots were too small and have been replaced."""
        return int(self._solver.get_iparm(_PERTURBED))

    def solve(self, b: Array, trans: str) -> Array:
        """Solve, and refine what is not exact if pivots were replaced; Unreliable if in vain."""
        A = self._A[trans != "N"]
        x = self._apply(A, b)
        if not self.perturbed:
            return x
        measure = lambda x: (normwise(r := b - A @ x, x, b, self._norm[trans != "N"]), r)
        x, errors, _ = refine(x, measure, functools.partial(self._apply, A), good=GOOD_ERROR)
        if not (errors <= _BAD).all():
            raise Unreliable(
                f"PARDISO has replaced {self.perturbed} pivots that were too small in a block of "
                f"{b.shape[0]} rows, and solves with a backward error of {errors.max():.0e}"
            )
        return x

    def _apply(self, A: Any, b: Array) -> Array:
        b = b.copy(order="F")
        x = interruptible(self.nnz * b.shape[1], self._call, self._solver.solve, A, b)
        return np.asarray(x).reshape(b.shape)

    def _call(self, function: Any, *args: Any) -> Any:
        try:
            with self._alone:  # of a call, too, that Ctrl-C has left behind
                return function(*args)
        except Exception as error:  # PyPardisoError, which has a number only
            code = getattr(error, "value", None)
            if code == _ZERO_PIVOT:
                raise Unreliable("PARDISO met a zero pivot") from error
            if code == _NO_MEMORY:
                raise MemoryError("PARDISO has no memory left for the factors") from error
            raise Unreliable(f"PARDISO failed: {error}") from error


@functools.cache
def _first_solver() -> Any:
    """Return a solver to be copied: to make one searches the file system for the library."""
    from pypardiso import PyPardisoSolver

    return PyPardisoSolver()
