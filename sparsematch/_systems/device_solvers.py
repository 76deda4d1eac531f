"""Factorisations on a GPU by other libraries: one small class each, behind one shape.

Each is made of a CSR matrix of cupyx.scipy.sparse, int32 indices, sorted, no duplicates, float64 or
complex128.
"""

import functools
import importlib.util
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._base.errors import check_choice
from sparsematch._systems.external import Singular, superlu_errors
from sparsematch._types.upstream_warnings import upstream_warnings_raised


class DeviceFactor(Protocol):
    """The factorisation of one matrix on a GPU."""

    def refactorise(self, A: Any) -> None:
        """Factorise a matrix with the same pattern."""

    def solve(self, b: Any, trans: str) -> Any:
        """Solve with A ("N") or its transpose ("T"); `b` has one dimension. Raise Singular."""


class CudssFactor:
    """cuDSS, through nvmath-python: analysed once, the transpose apart if it is needed."""

    # It pivots within small blocks only, and where it has no pivot it takes another number. So its
    # matching of largest product is on, unless what is on the diagonal is to stay there.
    def __init__(self, A: Any, product: bool | None) -> None:
        self._A, self._product = A, product is not False
        self._solvers: dict[str, tuple[Any, Any]] = {}
        self._solver("N")

    def refactorise(self, A: Any) -> None:
        """Factorise a matrix with the same pattern."""
        self._A = A
        for trans, (solver, matrix) in self._solvers.items():
            # in other arrays it would have to be analysed again
            matrix.data[...] = self._turned(trans).data
            solver.factorize()

    def solve(self, b: Any, trans: str) -> Any:
        """Solve; where pivots were none, what comes out solves nothing."""
        solver, _ = self._solver(trans)
        solver.reset_operands(b=b)
        return solver.solve()

    def _turned(self, trans: str) -> Any:
        if trans == "N":
            return self._A
        A = self._A.T.tocsr()
        A.sort_indices()
        return A

    def _solver(self, trans: str) -> tuple[Any, Any]:
        if trans in self._solvers:
            return self._solvers[trans]
        from nvmath.bindings import cudss
        from nvmath.sparse.advanced import DirectSolver

        matrix = self._turned(trans).copy()
        b = namespace(matrix.data).zeros(matrix.shape[0], matrix.dtype)
        solver = DirectSolver(matrix, b, options={"multithreading_lib": _threading_library()})
        weakref.finalize(self, solver.free)
        kinds = cudss.MatchingAlg
        algorithm = kinds.MAX_DIAG_PRODUCT if self._product else kinds.NONE
        solver.plan_config.matching_algorithm = algorithm
        solver.plan()
        solver.factorize()
        self._solvers[trans] = solver, matrix
        return solver, matrix


class CudssBatch:
    """cuDSS for k matrices of one pattern at once, analysed as one: no matching, no transposes."""

    def __init__(self, A: Any, k: int, kind: type) -> None:
        import cupy
        from nvmath.bindings import cudss

        n, kinds = A.shape[0], cudss.DataType
        number = kinds.R_64F if kind is np.float64 else kinds.C_64F
        self._cudss, self._analysed, self._pattern = cudss, False, (A.indptr, A.indices)
        self._values = cupy.empty((k, A.nnz), kind)
        self._x, self._b = cupy.empty((k, n), kind), cupy.empty((k, n), kind)
        handle, config = cudss.create(), cudss.config_create()
        data = cudss.data_create(handle)
        if library := _threading_library():
            cudss.set_threading_layer(handle, library)
        for option, value in (("UBATCH_SIZE", k), ("UBATCH_INDEX", -1)):  # -1: all of them
            given = np.array([value], np.int32)
            cudss.config_set(config, cudss.ConfigParam[option], given.ctypes.data, given.nbytes)
        arrays = *self._pattern, self._values, self._x, self._b
        rows, cols, values, *sides = (array.data.ptr for array in arrays)
        what = cudss.MatrixType.GENERAL, cudss.MatrixViewType.FULL, cudss.IndexBase.ZERO
        types = kinds.R_32I, kinds.R_32I, number
        matrix = cudss.matrix_create_csr(n, n, A.nnz, rows, 0, cols, values, *types, *what)
        layout = cudss.Layout.COL_MAJOR
        dense = [cudss.matrix_create_dn(n, 1, n, side, number, layout) for side in sides]
        self._objects = handle, config, data, matrix, *dense
        weakref.finalize(self, _free, cudss, *self._objects)

    def factorise(self, values: Any) -> None:
        """Factorise matrices with these values, shape (k, nnz)."""
        self._values[...] = values
        if not self._analysed:
            self._run("ANALYSIS")
            self._analysed = True
        self._run("FACTORIZATION")

    def solve(self, b: Any) -> Any:
        """Solve for right-hand sides of shape (k, n); where pivots were none, solves nothing."""
        self._b[...] = b
        self._run("SOLVE")
        return self._x.copy()

    def _run(self, phase: str) -> None:
        handle, *objects = self._objects
        self._cudss.set_stream(handle, namespace(self._x).cuda.get_current_stream().ptr)
        self._cudss.execute(handle, self._cudss.Phase[phase], *objects)


def _free(cudss: Any, handle: int, config: int, data: int, *matrices: int) -> None:
    for matrix in matrices:
        cudss.matrix_destroy(matrix)
    cudss.data_destroy(handle, data)
    cudss.config_destroy(config)
    cudss.destroy(handle)


@functools.cache
def _threading_library() -> str | None:
    """Find the library by which cuDSS plans with several threads; its wheel brings it along."""
    if path := os.environ.get("CUDSS_THREADING_LIB"):
        return path
    found = importlib.util.find_spec("nvidia")
    folders = (found and found.submodule_search_locations) or ()
    files = [file for folder in folders for file in Path(folder).glob("*/lib/libcudss_mtlayer_*")]
    return str(files[0]) if files else None


class CusolverFactor:
    """cuSOLVER's QR, through CuPy: nothing is stored, each right-hand side is a factorisation."""

    def __init__(self, A: Any, product: bool | None) -> None:
        _refuse_product(product, "cuSOLVER's QR, which has no pivots")
        self._A = {"N": A}

    def refactorise(self, A: Any) -> None:
        """Factorise a matrix with the same pattern."""
        self._A = {"N": A}

    def solve(self, b: Any, trans: str) -> Any:
        """Solve."""
        from cupyx.scipy.sparse.linalg import spsolve

        if trans not in self._A:
            self._A[trans] = self._A["N"].T.tocsr()
        try:
            with upstream_warnings_raised(UserWarning, ".*singular"):
                return spsolve(self._A[trans], b)
        except UserWarning:
            raise Singular from None


class HostSuperLUFactor:
    """SciPy's SuperLU in host memory; CuPy solves with a copy of its factors on the GPU."""

    def __init__(self, A: Any, product: bool | None) -> None:
        _refuse_product(product, "SuperLU, which has pivots of its own")
        self.refactorise(A)

    def refactorise(self, A: Any) -> None:
        """Factorise any matrix."""
        from cupyx.scipy.sparse.linalg import splu

        with superlu_errors():
            self._lu = splu(A)

    def solve(self, b: Any, trans: str) -> Any:
        """Solve."""
        return self._lu.solve(b, trans)


def _refuse_product(product: bool | None, solver: str) -> None:
    if product:
        raise ValueError(f"pivoting='product' is for cuDSS, but the solver is {solver}")


MakeOnDevice = Callable[[Any, bool | None], DeviceFactor]

DEVICE_SOLVERS: dict[str, MakeOnDevice] = {
    "cudss": CudssFactor,
    "cusolver": CusolverFactor,
    "superlu": HostSuperLUFactor,
}


def find_device_solver(name: Any) -> MakeOnDevice:
    """Look up a solver; ``"auto"`` is cuDSS where nvmath-python is installed, else cuSOLVER."""
    if name == "auto":
        name = "cudss" if importlib.util.find_spec("nvmath") else "cusolver"
    check_choice("solver", name, ("auto", *DEVICE_SOLVERS))
    return DEVICE_SOLVERS[name]
