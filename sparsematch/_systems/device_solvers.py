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
        import cupy
        from nvmath.bindings import cudss
        from nvmath.sparse.advanced import DirectSolver

        matrix = self._turned(trans).copy()
        b = cupy.zeros(matrix.shape[0], matrix.dtype)
        solver = DirectSolver(matrix, b, options={"multithreading_lib": _threading_library()})
        weakref.finalize(self, solver.free)
        kinds = cudss.MatchingAlg
        solver.plan_config.matching_algorithm = (
            kinds.MAX_DIAG_PRODUCT if self._product else kinds.NONE
        )
        solver.plan()
        solver.factorize()
        self._solvers[trans] = solver, matrix
        return solver, matrix


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
        if product:
            raise ValueError(
                "pivoting='product' is for cuDSS, but the solver is cuSOLVER's QR, which has no "
                "pivots"
            )
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
        if product:
            raise ValueError(
                "pivoting='product' is for cuDSS, but the solver is SuperLU, which has pivots of "
                "its own"
            )
        self.refactorise(A)

    def refactorise(self, A: Any) -> None:
        """Factorise any matrix."""
        from cupyx.scipy.sparse.linalg import splu

        with superlu_errors():
            self._lu = splu(A)

    def solve(self, b: Any, trans: str) -> Any:
        """Solve."""
        return self._lu.solve(b, trans)


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
